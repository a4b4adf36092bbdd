"""The version, alone in its file so that a build reads it without importing the package."""

__version__ = "0.3.0.dev0"
