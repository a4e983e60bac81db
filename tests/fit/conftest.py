"""Runs the command in this process, as the tests of the command do."""

from tests.cli.conftest import esp, streams

__all__ = ["esp", "streams"]
