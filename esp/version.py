"""The version of esp."""

__version__ = "0.1.0"
