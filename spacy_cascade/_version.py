"""The version and the newest Python: a build reads this file without importing the package."""

__version__ = "0.3.0.dev0"

NEWEST_PYTHON = (3, 14)
"""The newest for which numba had a release when this version was made."""
