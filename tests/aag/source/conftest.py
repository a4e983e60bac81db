"""Programs in a few lines: `read` gives the program, `problems` the errors as text."""

import textwrap

import pytest

from aag.diagnostics import SourceError
from aag.source.read import read_program


@pytest.fixture
def read():
    """Program text -> Program."""
    return lambda text, file="x.f90", **options: read_program(textwrap.dedent(text), file, **options)


@pytest.fixture
def body(read):
    """Statements (and declarations before them) -> the statements of the main program."""
    return lambda text, **options: read(f"program p\n{textwrap.dedent(text)}\nend program\n", **options).main.body


@pytest.fixture
def directives(read):
    """Directive lines and declarations -> the mapping directives of the main program."""

    def go(text):
        return read(f"program p\n{textwrap.dedent(text)}\nend program\n", defer=True).main.directives

    return go


@pytest.fixture
def problems(read):
    """Program text -> the errors and warnings that come with its SourceError, as text."""

    def go(text, file="x.f90", **options):
        with pytest.raises(SourceError) as error:
            read(text, file, **options)
        assert all(each.source_line or not each.span.column for each in error.value.diagnostics)
        return [str(each) for each in error.value.diagnostics]

    return go


@pytest.fixture
def warnings(read):
    """Program text -> the warnings of a program that can be read, as text."""
    return lambda text, file="x.f90", **options: [str(each) for each in read(text, file, **options).diagnostics]
