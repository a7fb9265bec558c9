"""Asking about what you already have: replies, captures and labelled corpora on disk."""
