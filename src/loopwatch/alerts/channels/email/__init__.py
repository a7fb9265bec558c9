"""E-mail: one letter, with a text and an HTML part, by Resend's HTTP API or by SMTP.

Recipients are the project's; sender and way are the server's (``mailer_from`` reads its environment).
"""
