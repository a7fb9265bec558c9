"""What signing in rests on; the pages are ``console``'s.

``passwords`` hashes them, ``visitors`` signs and reads what browsers keep, ``throttle`` bounds attempts.
"""
