"""`python -m esp` is the command `esp`."""

import sys

from esp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
