"""``python -m loopwatch`` runs the command line."""

from loopwatch.cli.main import main

if __name__ == "__main__":
    main()
