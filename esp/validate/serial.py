"""The serial program: the original text, compiled by gfortran, to which HPF directives are comments."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from aag.ir.units import SourceFile
from aag.source.joining import COLUMNS
from esp.errors import PredictionError
from esp.tools import call, tool
from esp.validate.concurrent import with_plain_heads
from esp.validate.given import GivenInput
from esp.validate.inquiry import is_asked, lines_of, text_of, with_use, write_module
from esp.validate.job import Job
from esp.validate.library import MODULE, is_used, module

_BITS = re.compile(r"\bx['\"][0-9a-f]+['\"]|['\"][0-9a-f]+['\"][boxz]\b", re.IGNORECASE)
"""Constants in the spelling of other compilers, which gfortran reads with an option."""
SERIAL_FLAGS = ("-O2", "-w", "-ffp-contract=off")


class Serial:
    """The serial program of a job: compiled when this is made, run when its answer is asked for.

    Raises:
        esp.errors.PredictionError: it does not compile.
    """

    def __init__(self, job: Job, procs: Iterable[int]) -> None:
        program, folder = job.source.program, job.folder / "serial"
        program = replace(program, sources=with_plain_heads(program))
        self._limit_s = job.limit_s
        self._given = job.given
        self._answers: dict[Path, str] = {}
        asked = any(is_asked(each) for each in program.sources)
        texts = with_use(program) if asked else [text_of(each) for each in program.sources]
        files = [with_values(text, job.texts) for text in texts]
        library, links = module(files) if is_used(program) else "", job.source.links
        if asked:
            self._programs = {
                each: compiled(files, program.sources, folder / str(each), procs=each, library=library, links=links)
                for each in procs
            }
        else:
            self._programs = dict.fromkeys(
                procs, compiled(files, program.sources, folder, library=library, links=links)
            )

    def answer(self, procs: int) -> str:
        """What it prints, where it takes `procs` for the number of processors.

        Raises:
            esp.errors.PredictionError: it fails, or needs too long.
        """
        program = self._programs[procs]
        if program not in self._answers:
            self._answers[program] = self.again(procs)
        return self._answers[program]

    def again(self, procs: int) -> str:
        """What another run prints.

        Raises:
            esp.errors.PredictionError: as `answer`.
        """
        return _run(self._programs[procs], self._limit_s, self._given)


def with_values(text: str, values: Mapping[str, str]) -> str:
    """The source text with other values of its PARAMETERs; everything else stays as it was written."""
    lines = []
    for line in lines_of(text):
        changed = line
        if re.search(r"\bparameter\b", line, re.IGNORECASE) and not line.lstrip().startswith("!"):
            for name, value in values.items():
                pattern = rf"(?i)(\b{re.escape(name)}\s*=\s*)((?:[^,!()]|\([^()]*\))+)"
                changed = re.sub(pattern, rf"\g<1>{value}", changed)
        lines.append(changed)
    return "\n".join(lines) + "\n"


def compiled(
    texts: Sequence[str],
    sources: Sequence[SourceFile],
    folder: Path,
    *,
    procs: int | None = None,
    library: str = "",
    links: Sequence[str] = (),
) -> Path:
    """The executable of a serial program: the texts of its files, which are in the form of `sources`. `library`: the
    text of the module HPF_LIBRARY, if it is used. `links`: what else belongs to the program.

    Raises:
        esp.errors.PredictionError: it does not compile.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = [] if procs is None else [write_module(folder, procs)]
    if library:
        names.append(f"{MODULE}.f90")
        (folder / names[-1]).write_text(library)
    flags = ["-ffree-line-length-none"]
    for number, (text, source) in enumerate(zip(texts, sources, strict=True), 1):
        stem = "serial" if len(texts) == 1 else f"serial{number}"
        names.append(f"{stem}.f90" if source.form == "free" else f"{stem}.f")
        (folder / names[-1]).write_text(text)
        if source.form != "free":
            flags += [f"-ffixed-line-length-{COLUMNS[source.form]}", "-fd-lines-as-comments"]
        if _BITS.search(text):
            flags.append("-fallow-invalid-boz")
    words = [tool("gfortran"), *SERIAL_FLAGS, *flags, *names, "-o", "serial", *links]
    call(words, "the serial program does not compile", folder)
    return folder / "serial"


def _run(program: Path, limit_s: float, given: GivenInput) -> str:
    given.put(program.parent)
    try:
        return call([str(program)], "the serial program fails", program.parent, limit_s=limit_s, text=given.text)
    except PredictionError as error:
        error.why = error.why.partition("\nError termination.")[0].rstrip()  # addresses in a stripped program
        if _ENDED.search(error.why):
            error.hint = "Give all that the program reads with --input FILE; --set is for predictions only."
        raise


_ENDED = re.compile(r"file = 'stdin'\)\s*Fortran runtime error: End of file")
"""What gfortran prints where the standard input has too few values."""
