"""Reads programs from files."""

from pathlib import Path

from aag.source.files import decode
from aag.source.read import read_program


def read_file(path, **options):
    """The program in a file."""
    return read_program(decode(Path(path).read_bytes(), str(path)), str(path), **options)
