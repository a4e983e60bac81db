"""Node programs compiled and run, the serial program beside them."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

from aag.ir.units import SourceFile
from aag.pipeline import Options, Overrides, lower
from aag.spmd.emit import emit
from esp.api import Request, Source, load_machine
from esp.building import compiler_of_mpi, on_network
from esp.tools import call
from esp.validate.answer import difference
from esp.validate.counts import predicted
from esp.validate.given import NOTHING
from esp.validate.native import run
from esp.validate.serial import compiled, with_values
from sag.scenario import export

PLAIN = Path(__file__).parents[2] / "library" / "plain.F90"
FLAGS = ("-O0", "-w", "-ffp-contract=off", "-fcheck=bounds,mem")


class Native:
    """Compiles in one folder; the run-time library is compiled once, and each serial program."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.objects = {}
        self.answers = {}

    def expected(self, text, given=NOTHING):
        """What the serial program prints."""
        if text not in self.answers:
            free = SourceFile(file="serial.f90", form="free", lines=())
            place = self.folder / f"serial{len(self.answers)}"
            program = compiled([text], [free], place, links=[self.plain()])
            given.put(program.parent)
            self.answers[text] = call(
                [str(program)], "the serial program fails", program.parent, limit_s=0.0, text=given.text
            )
        return self.answers[text]

    def build(self, emission):
        """The executable of an emission."""
        place = self.folder / "program"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        main = f"{emission.name}.f90"
        (place / main).write_text(emission.files[main])
        objects = [*self.library(emission).values(), self.plain()]
        mpif90(place, *FLAGS, f"-I{self.folder}", main, *objects, "-o", emission.name)
        return place / emission.name

    def library(self, emission):
        """The run-time library of an emission, compiled: file name -> object."""
        names = sorted(name for name in emission.files if name.startswith("esp_"))
        names.sort(key=lambda name: (name.startswith("esp_moves"), name == "esp_runtime.f90", name))
        return {name: self._compiled(name, emission.files[name]) for name in names}

    def plain(self):
        """The plain BLAS and LAPACK that programs may call, compiled."""
        made = self.folder / "plain.o"
        if not made.exists():
            mpif90(self.folder, *FLAGS, "-c", str(PLAIN), "-o", str(made))
        return str(made)

    def _compiled(self, name, text):
        if self.objects.get(name) != text:
            (self.folder / name).write_text(text)
            mpif90(self.folder, *FLAGS, "-c", name)
            self.objects[name] = text
        return str(self.folder / name.replace(".f90", ".o"))

    def answer(self, node_program, algorithms=None, given=NOTHING, **options):
        """What a node program prints and sends; copies that are stale are NaN."""
        emission = (
            emit(node_program, algorithms, poisons=True, **options) if algorithms else emitted(node_program, **options)
        )
        return run(self.build(emission), emission.procs, given=given)


def emitted(node_program, **options):
    """A node program for the default machine, in which copies that are stale are NaN."""
    algorithms, nodes = on_network(export(default_machine()).network, node_program.layouts)
    return emit(node_program, algorithms, nodes=nodes, poisons=True, **options)


@cache
def default_machine():
    """What `esp run` takes if nobody names a machine."""
    return load_machine("ipsc860")


def mpif90(folder, *words):
    done = subprocess.run([compiler_of_mpi(), *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def lowered(program, procs, values=None, distribute=None, options=None, *, grid=None):
    asked = Overrides(procs=procs, grid=grid, values=values or {}, distribute=distribute or {})
    return lower(program, asked, procs, options)


def check(native, program, system, procs, values=None, distribute=None, disabled=frozenset(), given=NOTHING):
    """Answer and messages of a program on some processors."""
    node_program = lowered(program, procs, values, distribute, Options(disabled=disabled))
    answer, sent = native.answer(node_program, given=given)
    assert difference(native.expected(serial_text(program, values), given), answer) == "", answer
    request = Request(procs=procs, values=values or {}, distribute=distribute or {}, off=disabled)
    assert sent == predicted(Source(program=program), system, request).counts


def serial_text(program, values=None):
    """The source text with these values of its PARAMETERs."""
    return with_values("\n".join(program.lines) + "\n", {name: str(value) for name, value in (values or {}).items()})
