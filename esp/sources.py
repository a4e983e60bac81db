"""Programs as read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError
from aag.ir.units import Form, Program
from aag.source.files import decode
from aag.source.read import read_files
from esp.arguments import costs
from esp.errors import UnreadableFileError, UsageError, reason
from esp.locate import benchmarks_dir, find_program, program_names


class Source(Struct, frozen=True, kw_only=True):
    """A program as read. `bundled`: it is one of those that come with esp. `links`: what procedures that it lacks are
    linked from: files, and libraries (``-lblas``)."""

    program: Program
    bundled: bool = False
    links: tuple[str, ...] = ()


Name = str | PathLike[str]
"""A path, the name of a bundled program, or program text (with a line break in it)."""


def read_source(
    source: Name | Sequence[Name] | Source,
    *,
    form: Form | None = None,
    include: Iterable[Name] = (),
    define: Iterable[str] = (),
    cost: str | Sequence[str] | None = None,
) -> Source:
    """Read a program: a path, the name of one that comes with esp, its text (with a line break in it), or a list of the
    files that make it up. What is read already is returned as it is.

    Args:
        source: the program.
        form: the source form of its files.
        include: folders for INCLUDE and ``#include``, after the folder of the file.
        define: macros of the C preprocessor, as ``NAME`` or ``NAME=VALUE``. With one, all files are preprocessed; else
            those that need it.
        cost: what calls of procedures cost that the source lacks: ``"dgemm(ta,tb,m,n,k)=2*m*n*k flop"``, or several.

    Raises:
        UnreadableFileError: there is no such file, or it cannot be read.
        UsageError: the list is empty.
        TypeError: it is none of these.
        aag.diagnostics.SourceError: it is no program.
    """
    if isinstance(source, Source):
        return with_costs(source, cost)
    if not isinstance(source, str | PathLike | Sequence):
        raise TypeError(f"a program is a path, a name, text, or a list of paths, not {source!r}")
    names = [source] if isinstance(source, str | PathLike) else list(source)
    if not names:
        raise UsageError("there is no program to read.")
    texts: dict[str, str] = {}
    bundled = False
    for name in names:
        if isinstance(name, str) and "\n" in name:
            texts[f"<text {len(texts) + 1}>" if len(names) > 1 else "<text>"] = name
            continue
        path = find_program(str(name))
        ours = path.parent == benchmarks_dir() and path.stem in program_names() and path != Path(name)
        bundled = bundled or (ours and len(names) == 1)
        shown = path.name if ours else str(name)
        texts[shown] = decode(_bytes_of(path), shown)
        if ours:
            include = (*include, path.parent)
    macros = tuple(define)
    try:
        program = read_files(
            [(text, file) for file, text in texts.items()],
            form=form,
            include_dirs=[str(each) for each in include],
            defines=macros,
            defer=True,
        )
    except SourceError as problem:
        raise SourceError([_blaming_macros(each, macros, texts) for each in problem.diagnostics]) from None
    return with_costs(Source(program=program, bundled=bundled), cost)


def _blaming_macros(found: Diagnostic, macros: Sequence[str], texts: Mapping[str, str]) -> Diagnostic:
    """A finding in a line in which a macro has replaced a name says so."""
    lines = texts.get(found.span.file, "").splitlines()
    written = lines[found.span.line - 1] if 0 < found.span.line <= len(lines) else ""
    for macro in macros:
        name, _, value = macro.partition("=")
        word = re.compile(rf"\b{re.escape(name)}\b")
        if word.search(written) and not word.search(found.source_line):
            hint = f"the macro {macro} has replaced {name} here"
            return replace(found, hint=f"{hint}; ‹set {macro}› gives a PARAMETER a value" if value else hint)
    return found


def with_costs(source: Source, cost: str | Sequence[str] | None) -> Source:
    """A program with costs of procedures that it lacks.

    Raises:
        aag.diagnostics.SourceError: one cannot be read.
    """
    found = costs(cost)
    if not found:
        return source
    program = source.program
    return replace(source, program=replace(program, costs=(*program.costs, *found)))


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason(error)}.", where=str(path)) from None
