"""Entry of `python -m allo`: the `allo` command."""

import sys

from .cli import main

sys.exit(main())
