"""The local stack: sets up, starts, watches and stops every process of Sluice on one machine.

Standard library only (Python 3.11): it runs before any virtual environment exists.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this message comes before an import fails on an older one
    sys.exit(f"Sluice needs Python 3.11 or later; {sys.executable} is {sys.version.split()[0]}")
