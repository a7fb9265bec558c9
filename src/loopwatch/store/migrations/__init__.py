"""The schema's history, one module a step. ``schema`` runs it; nothing else imports it."""
