"""Webhooks: our own, which is signed, and presets in the shapes of Discord, Teams and PagerDuty."""
