"""The serial program: the original text, compiled by gfortran, to which HPF directives are comments."""

import re
from collections.abc import Mapping
from pathlib import Path

from esp.tools import call, tool
from esp.validate.job import Job

SERIAL_FLAGS = ("-O2", "-w", "-ffp-contract=off", "-ffree-line-length-none", "-ffixed-line-length-none")


def expected_of(job: Job) -> str:
    """What the serial program of a job prints.

    Raises:
        esp.errors.PredictionError: it does not compile or run.
    """
    text = with_values("\n".join(job.source.program.lines) + "\n", job.texts)
    return serial_answer(text, job.folder / "serial", fixed=job.fixed)


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


def serial_answer(text: str, folder: Path, *, fixed: bool = False) -> str:
    """What a serial program prints.

    Raises:
        esp.errors.PredictionError: it does not compile or run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = "serial.f" if fixed else "serial.f90"
    (folder / name).write_text(text)
    call([tool("gfortran"), *SERIAL_FLAGS, name, "-o", "serial"], "the serial program does not compile", folder)
    return call([str(folder / "serial")], "the serial program fails", folder)
