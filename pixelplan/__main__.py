"""`python -m pixelplan`."""

import sys

from pixelplan.cli import main

sys.exit(main())
