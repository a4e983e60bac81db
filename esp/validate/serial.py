"""The serial program: the original text, compiled by gfortran, to which HPF directives are comments."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from esp.tools import call, tool
from esp.validate.given import NOTHING, Given
from esp.validate.inquiry import is_asked, with_use, write_module
from esp.validate.job import Job

SERIAL_FLAGS = ("-O2", "-w", "-ffp-contract=off", "-ffree-line-length-none", "-ffixed-line-length-none")


def expected_of(job: Job) -> Callable[[int], str]:
    """Number of processors -> what the serial program of a job prints: the same for all, unless it asks for the number.

    Raises:
        esp.errors.PredictionError: it does not compile or run; also the function returned.
    """
    program, folder = job.source.program, job.folder / "serial"
    text = "\n".join(program.lines) + "\n"
    if is_asked(text, fixed=job.fixed):
        asking = with_values(with_use(text, program), job.texts)
        return lambda procs: serial_answer(asking, folder, fixed=job.fixed, procs=procs, limit_s=job.limit_s,
                                           given=job.given)
    answer = serial_answer(with_values(text, job.texts), folder, fixed=job.fixed, limit_s=job.limit_s, given=job.given)
    return lambda _: answer


def with_values(text: str, values: Mapping[str, str]) -> str:
    """The source text with other values of its PARAMETERs; everything else stays as it was written."""
    lines = []
    for line in text.splitlines():
        changed = line
        if re.search(r"\bparameter\b", line, re.IGNORECASE) and not line.lstrip().startswith("!"):
            for name, value in values.items():
                pattern = rf"(?i)(\b{re.escape(name)}\s*=\s*)((?:[^,!()]|\([^()]*\))+)"
                changed = re.sub(pattern, rf"\g<1>{value}", changed)
        lines.append(changed)
    return "\n".join(lines) + "\n"


def serial_answer(
    text: str, folder: Path, *, fixed: bool = False, procs: int | None = None, limit_s: float = 0.0,
    given: Given = NOTHING,
) -> str:
    """What a serial program prints, which takes `procs` for the number of processors where it asks.

    Raises:
        esp.errors.PredictionError: it does not compile or run, or not within `limit_s` seconds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = "serial.f" if fixed else "serial.f90"
    (folder / name).write_text(text)
    names = [name] if procs is None else [write_module(folder, procs), name]
    call([tool("gfortran"), *SERIAL_FLAGS, *names, "-o", "serial"], "the serial program does not compile", folder)
    given.put(folder)
    return call([str(folder / "serial")], "the serial program fails", folder, limit_s=limit_s, text=given.text)
