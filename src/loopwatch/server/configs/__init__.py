"""What the console's pages of configurations rest on, without the pages.

``trial`` reads a reply as a configuration would, ``samples`` has a dozen to begin with, ``colours`` takes
a document apart for the eye.
"""
