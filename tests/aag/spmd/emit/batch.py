"""Many node programs in one executable and one start of MPI, and their serial programs in another executable.

A node program stays as it is emitted but for its first and last line: it becomes a subroutine. The linker lets its
MPI_Init and MPI_Finalize end here, so that MPI starts before the first and ends after the last.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from msgspec import Struct

from aag.pipeline import read_program
from aag.spmd.emit.emission import Emission
from esp.api import Source
from esp.errors import PredictionError
from esp.tools import call, tool
from esp.validate.answer import difference
from esp.validate.concurrent import with_plain_heads
from esp.validate.counts import Counts, counted, predicted
from esp.validate.inquiry import text_of
from esp.validate.library import MODULE, module
from esp.validate.native import RANKS
from esp.validate.serial import SERIAL_FLAGS
from tests.aag.spmd.emit.native import FLAGS, Native, emitted, lowered, mpif90, serial_text

WRAPPED = "-Wl,--wrap=mpi_init_,--wrap=mpi_finalize_"

STOPPED = re.compile(r"(?<=call esp_finish\(\)\n)\s*stop$", re.MULTILINE)

AROUND = """\
subroutine stand_in_for_init(error) bind(c, name='__wrap_mpi_init_')
  integer, intent(out) :: error
  error = 0
end subroutine

subroutine stand_in_for_finalize(error) bind(c, name='__wrap_mpi_finalize_')
  use mpi
  integer, intent(out) :: error
  call MPI_Barrier(MPI_COMM_WORLD, error)
end subroutine

program batch
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  interface
    subroutine really_init(error) bind(c, name='__real_mpi_init_')
      integer, intent(out) :: error
    end subroutine
    subroutine really_finalize(error) bind(c, name='__real_mpi_finalize_')
      integer, intent(out) :: error
    end subroutine
    integer(c_int) function setenv(name, value, again) bind(c)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: again
    end function
  end interface
  integer :: error, rank, first
  character(len=12) :: digits
  call really_init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_environment_variable('FIRST_OF_BATCH', digits, status=error)
  first = 0
  if (error == 0) read (digits, *) first
{calls}
  call really_finalize(error)
contains
  subroutine begin(number)
    integer, intent(in) :: number
    write (digits, '(i0)') number
    error = setenv('ESP_COUNTERS' // c_null_char, 'counters' // trim(digits) // c_null_char, 1_c_int)
    if (rank == 0) print '(a)', '=== program ' // trim(digits)
    flush (6)
  end subroutine
end program
"""


class Ran(Struct, frozen=True):
    """What one node program printed and sent."""

    answer: str
    counts: Counts


def check_batch(native: Native, system, asked: list, answer_only: tuple = ()) -> None:
    """Answer and messages of pairs of a program and a request, all on as many processors; says which are wrong.

    Of the programs in `answer_only` data decide the messages.
    """
    (procs,) = {request.procs for _, request in asked}
    texts = [serial_text(program, request.values) for program, request in asked]
    run_serially(native, texts)
    lowerings = [
        lowered(program, procs, request.values, request.distribute, grid=request.grid) for program, request in asked
    ]
    wrong = []
    for (program, request), text, ran in zip(asked, texts, run_batch(native, lowerings, procs), strict=True):
        what = f"{program.file} {dict(request.distribute)} on {request.grid or procs}"
        if differs := difference(native.expected(text), ran.answer):
            wrong.append(f"{what}: {differs}")
        if program.file not in answer_only and ran.counts != predicted(Source(program=program), system, request).counts:
            wrong.append(f"{what}: messages differ")
    assert wrong == [], wrong


def run_serially(native: Native, texts: list) -> None:
    """Run serial programs, each a subroutine of one executable, so that `native` has what they print."""
    texts = [each for each in dict.fromkeys(texts) if each not in native.answers]
    if not texts:
        return
    place = native.folder / "serial_batch"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    units = []
    for number, text in enumerate(texts):
        plain = with_plain_loops(text)
        unit = re.sub(r"^(end )?program( \w+)?$", rf"\1subroutine program_{number}", plain, flags=re.MULTILINE)
        units.append(re.sub(r"\bstop$", "return", unit, flags=re.MULTILINE))
    calls = "\n".join(f"print '(a)', '=== program {number}'\ncall program_{number}()" for number in range(len(texts)))
    library = [module(texts)] if any(f"use {MODULE}" in each for each in texts) else []
    (place / "all.f90").write_text("\n".join([*library, *units, f"program every\n{calls}\nend program\n"]))
    flags = [each if each != "-O2" else "-O0" for each in (*SERIAL_FLAGS, "-ffree-line-length-none")]
    words = [tool("gfortran"), *flags, "all.f90", native.plain(), "-o", "all"]
    call(words, "the serial programs do not compile", place)
    said = call([str(place / "all")], "the serial programs fail", place)
    answers = re.split(r"^=== program \d+\n", said, flags=re.MULTILINE)[1:]
    native.answers.update(zip(texts, answers, strict=True))


def with_plain_loops(text: str) -> str:
    """A serial program as compilers of Fortran 2008 read it."""
    if "do concurrent" not in text and "extrinsic" not in text:
        return text
    (source,) = with_plain_heads(read_program(text, "serial.f90"))
    return text_of(source)


def run_batch(native: Native, node_programs: list, procs: int, /, **options) -> list[Ran]:
    """Emit node programs, with these options, and run them on so many processors.

    Raises:
        esp.errors.PredictionError: one of them fails; what was printed before tells which.
    """
    return run_emissions(native, [emitted(each, **options) for each in node_programs], procs)


def run_emissions(native: Native, emissions: list[Emission], procs: int) -> list[Ran]:
    """Compile emissions into one executable and run it.

    Raises:
        esp.errors.PredictionError: as `run_batch`.
    """
    place = built(native, emissions)
    words = [tool("mpirun"), "-np", str(procs), str(place / "batch")]
    printed = call(words, "the batch fails", place, environment=RANKS)
    said = re.split(r"^=== program \d+\n", printed, flags=re.MULTILINE)[1:]
    assert len(said) == len(emissions)
    return [Ran(answer, counted(place / f"counters{number}")) for number, answer in enumerate(said)]


def run_each(native: Native, node_programs: list, procs: int, limit_s: float) -> list[str | PredictionError]:
    """The same, where some of them may fail or wait for ever: then their error stands in place of what they print.

    A program that fails ends the run; the next run begins with the one after it. One that a run has not ended within
    `limit_s` seconds begins the next run, and fails if it is not at its end then either.
    """
    place = built(native, [emitted(each) for each in node_programs])
    words = [tool("mpirun"), "-np", str(procs), str(place / "batch")]
    found: list[str | PredictionError] = []
    while len(found) < len(node_programs):
        first = len(found)
        fault = _run(words, place, {**os.environ, **RANKS, "FIRST_OF_BATCH": str(first)}, limit_s)
        said = re.split(r"^=== program \d+\n", (place / "printed").read_text(), flags=re.MULTILINE)[1:]
        if fault is None:
            assert first + len(said) == len(node_programs)
        elif len(said) > 1 and "not at its end" in str(fault):
            said.pop()
        else:
            said[-1:] = [fault]
        found += said
    return found


def _run(words: list[str], place: Path, environment: dict[str, str], limit_s: float) -> PredictionError | None:
    with (
        (place / "printed").open("w") as out,
        (place / "told").open("w") as told,
        subprocess.Popen(words, cwd=place, stdout=out, stderr=told, env=environment) as running,
    ):
        try:
            failed = running.wait(limit_s)
        except subprocess.TimeoutExpired:
            running.terminate()
            try:
                running.wait(5)
            except subprocess.TimeoutExpired:
                running.kill()
            return PredictionError(f"the program is not at its end after {limit_s:g} s")
    why = "\n".join((place / "told").read_text().splitlines()[:12])
    return PredictionError("the program fails", why=why) if failed else None


def built(native: Native, emissions: list[Emission]) -> Path:
    """The folder with the executable of emissions."""
    place = native.folder / "batch"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    objects = {name: path for each in emissions for name, path in native.library(each).items()}
    units = [_subroutine(each, number) for number, each in enumerate(emissions)]
    one = "  if (first <= {0}) then\n    call begin({0})\n    call program_{0}()\n  end if"
    calls = "\n".join(one.format(number) for number in range(len(units)))
    (place / "batch.f90").write_text("\n".join([*units, AROUND.format(calls=calls)]))
    mpif90(place, *FLAGS, f"-I{native.folder}", WRAPPED, "batch.f90", *objects.values(), native.plain(), "-o", "batch")
    return place


def _subroutine(emission: Emission, number: int) -> str:
    text = emission.files[f"{emission.name}.f90"]
    pattern = re.compile(rf"^((?:end )?)program {emission.name}$", re.MULTILINE)
    changed, times = pattern.subn(rf"\1subroutine program_{number}", text)
    assert times == 2, text
    return STOPPED.sub("return", changed)
