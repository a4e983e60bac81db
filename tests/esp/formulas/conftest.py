"""Runs the command in this process, as the tests of the command do."""

from tests.esp.cli.conftest import esp, streams

__all__ = ["esp", "streams"]
