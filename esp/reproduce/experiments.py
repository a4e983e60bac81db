"""The table of experiments: the figures of the paper, what is predicted for each, and what is stated about it."""

from collections.abc import Sequence

from msgspec import Struct

from esp.reproduce import statements as s


class PaperStatement(Struct, frozen=True, kw_only=True):
    """A sentence about an experiment, and what decides whether it holds."""

    text: str
    holds: s.OfTimes | s.OfPhases
    paper: bool = False
    """Whether the paper says so. The others describe the prediction."""


class PhaseRange(Struct, frozen=True):
    """A part of a program, from the first line that begins with `first` to the first one after it with `last`."""

    name: str
    first: str
    last: str


class Experiment(Struct, frozen=True, kw_only=True):
    """A figure: a sweep, or (with `phases`) the profile of a prediction.

    All are for the iPSC/860.
    """

    name: str
    section: str
    """Heading on the page; figures of one heading follow each other."""
    title: str
    programs: tuple[str, ...]
    axes: tuple[tuple[str, str], ...]
    """Option of `esp sweep` -> its values. `set` has the name of a PARAMETER in front: ``n=16:256:x2``."""
    statements: tuple[PaperStatement, ...]
    versus: str = ""
    """The axis against whose first value the figure shows changes."""
    timed: bool = True
    """Whether only the kernel counts (Def 5)."""
    phases: tuple[PhaseRange, ...] = ()
    note: str = ""
    """What else is to be said, above all where the prediction differs from the paper."""

    @property
    def command(self) -> str:
        """The `esp sweep` or `esp run` that makes the same predictions."""
        words = ["esp", "run" if self.phases else "sweep", *self.programs]
        words += [f"--{name.replace('_', '-')} {values}" for name, values in self.axes]
        words += [f"--versus {self.versus}"] if self.versus else []
        return " ".join([*words, *(["--timed"] if self.timed else [])])


def _laplace(number: int, procs: int, statements: Sequence[PaperStatement], note: str = "") -> Experiment:
    return Experiment(
        name=f"fig{number}",
        section="Which distribution: Laplace",
        title=f"Laplace solver, three distributions, {procs} processor{'s' * (procs > 1)}",
        programs=(s.BB, s.BX, s.XB),
        axes=(("set", "n=16:256:x2"), ("procs", str(procs))),
        statements=tuple(statements),
        timed=False,
        note=note,
    )


_ROWS = (
    "In the paper, (BLOCK,*) is the right choice. In this prediction a row costs more than a column, because it is not "
    "contiguous in memory; docs/accuracy.md discusses the difference."
)
_ALIKE = PaperStatement(
    text="With 256 points a side all three distributions are within 4 % of each other.", holds=s.within(0.04, "256")
)
_ORDER = PaperStatement(
    text="From 32 to 128 points a side, (*,BLOCK) is the fastest, (BLOCK,*) the second, and (BLOCK,BLOCK) the slowest "
    "or tied with the slowest.",
    holds=s.columns_before_rows_before_both,
)
_SCALES = PaperStatement(
    text="The larger the problem, the better the speed-up, for every number of processors.", holds=s.larger_scale_better
)
_SATURATES = PaperStatement(
    text="Each further 20 % of load costs more than the 20 % before: the network saturates.",
    holds=s.load_saturates,
    paper=True,
)
_LOADED = PaperStatement(
    text="The larger the system, the larger the change of its execution time.",
    holds=s.load_changes_large_systems_more,
    paper=True,
)
_WIRED = PaperStatement(
    text="The larger the system, the larger the change, up or down.",
    holds=s.bandwidth_changes_large_systems_more,
    paper=True,
)
_LOADS = (("procs", "2,4,8"), ("load", "0%,20%,40%,60%,80%"))
_WIRES = (("set", "n=64"), ("procs", "2,4,8"), ("bandwidth", "x1,x0.25,x0.5,x2,x4"))
_PHASES = "Performance of phases"
_SCALING = "Scalability with problem and system size"
_LOAD = "Network load"
_WIRE = "Interconnect bandwidth"
_LARGER = "Larger systems"

EXPERIMENTS: tuple[Experiment, ...] = (
    _laplace(
        10,
        1,
        [
            PaperStatement(
                text="On one processor the three distributions take the same time, within 1 %.", holds=s.within(0.01)
            )
        ],
    ),
    _laplace(11, 2, [_ALIKE], _ROWS),
    _laplace(12, 4, [_ORDER, _ALIKE], _ROWS),
    _laplace(13, 8, [_ORDER, _ALIKE], _ROWS),
    Experiment(
        name="fig15",
        section=_PHASES,
        title="N-body, profile of its phases",
        programs=("nbody.hpf",),
        axes=(("set", "n=256"), ("procs", "4")),
        timed=False,
        phases=(
            PhaseRange("phase 1", "tx = cshift(tx, 1)", "gz = gz - f * dz"),
            PhaseRange("phase 2", "gx = cshift(gx, -1)", "gz = cshift(gz, -1)"),
        ),
        statements=(
            PaperStatement(
                text="Both phases communicate alike: a shift of an array takes the same time in both, within 1 %.",
                holds=s.shifts_alike,
                paper=True,
            ),
            PaperStatement(
                text="Phase 1 computes for longer, because it computes the forces.",
                holds=s.first_computes_more,
                paper=True,
            ),
        ),
        note="Seven arrays travel in phase 1, three return in phase 2, so communication is compared for each array.",
    ),
    Experiment(
        name="fig17",
        section=_PHASES,
        title="Stock options, profile of its phases",
        programs=("finance.hpf",),
        axes=(("set", "n=256"), ("procs", "4")),
        timed=False,
        phases=(
            PhaseRange("phase 1", "up = eoshift", "forall (i = 1:n) s(i)"),
            PhaseRange("phase 2", "worth =", "forall (i = 1:n) call_price(i)"),
        ),
        statements=(
            PaperStatement(text="Phase 2 needs no communication.", holds=s.second_sends_nothing, paper=True),
            PaperStatement(
                text="Phase 1 takes at least 90 % of both phases, and more than half of it is for messages.",
                holds=s.first_is_most,
            ),
        ),
    ),
    Experiment(
        name="fig18",
        section=_SCALING,
        title="PI, scalability",
        programs=("pi.hpf",),
        axes=(("set", "n=128:4096:x2"), ("procs", "1,2,4,8")),
        statements=(
            _SCALES,
            PaperStatement(
                text="With 4096 points, 8 processors are at least 6 times as fast as one.",
                holds=s.speed_up_between(6, 8, procs="8", n="4096"),
            ),
            PaperStatement(
                text="With 128 points, 8 processors are not even twice as fast as one.",
                holds=s.speed_up_between(0, 2, procs="8", n="128"),
            ),
        ),
    ),
    Experiment(
        name="fig19",
        section=_SCALING,
        title="N-body, scalability",
        programs=("nbody.hpf",),
        axes=(("set", "n=16:4096:x4"), ("procs", "1,2,4,8")),
        statements=(
            _SCALES,
            PaperStatement(
                text="With 4096 bodies, 8 processors are at least 7 times as fast as one.",
                holds=s.speed_up_between(7, 8, procs="8", n="4096"),
            ),
            PaperStatement(text="With 16 bodies, one processor is the fastest.", holds=s.fastest_alone("16")),
        ),
    ),
    Experiment(
        name="fig20",
        section=_SCALING,
        title="Stock options, scalability",
        programs=("finance.hpf",),
        axes=(("set", "n=32:512:x2"), ("procs", "1,2,4,8")),
        statements=(
            _SCALES,
            PaperStatement(
                text="With 512 prices, 8 processors are 1.3 to 1.6 times as fast as one.",
                holds=s.speed_up_between(1.3, 1.6, procs="8", n="512"),
            ),
            PaperStatement(
                text="With 128 prices or fewer, one processor is the fastest.", holds=s.fastest_alone("32", "64", "128")
            ),
        ),
    ),
    Experiment(
        name="fig21",
        section="Processor speed",
        title="PI on faster and slower processors",
        programs=("pi.hpf",),
        axes=(("procs", "1,2,4,8"), ("processor_speed", "x1,x0.5,x2,x4")),
        versus="processor_speed",
        statements=(
            PaperStatement(
                text="A faster processor never makes the program slower, and twice the speed never halves its time on "
                "more than one processor: messages take as long as before.",
                holds=s.faster_processors_help_less_than_proportionally,
            ),
            PaperStatement(
                text="The larger the system, the less a faster processor helps.",
                holds=s.faster_processors_help_large_systems_less,
            ),
        ),
    ),
    Experiment(
        name="fig22",
        section=_LOAD,
        title="Laplace solver under network load",
        programs=(s.BB,),
        axes=(("set", "n=64"), *_LOADS),
        statements=(_SATURATES,),
    ),
    Experiment(
        name="fig23",
        section=_LOAD,
        title="Laplace solver under network load, change",
        programs=(s.BB,),
        axes=(("set", "n=64"), *_LOADS),
        versus="load",
        statements=(_SATURATES, _LOADED),
    ),
    Experiment(
        name="fig23-pi",
        section=_LOAD,
        title="PI under network load, change",
        programs=("pi.hpf",),
        axes=_LOADS,
        versus="load",
        statements=(_SATURATES, _LOADED),
        note="PI sends one number for each processor and stage. It shows the same effect on a smaller scale.",
    ),
    Experiment(
        name="fig24",
        section=_WIRE,
        title="Laplace solver, other bandwidths",
        programs=(s.BB,),
        axes=_WIRES,
        statements=(
            PaperStatement(
                text="Less bandwidth costs time, and more bandwidth saves time, on every system.",
                holds=s.bandwidth_changes_as_expected,
            ),
        ),
    ),
    Experiment(
        name="fig25",
        section=_WIRE,
        title="Laplace solver, other bandwidths, change",
        programs=(s.BB,),
        axes=_WIRES,
        versus="bandwidth",
        statements=(_WIRED,),
    ),
    Experiment(
        name="fig26",
        section=_LARGER,
        title="Stock options on up to 32 processors",
        programs=("finance.hpf",),
        axes=(("set", "n=32:512:x2"), ("procs", "1:32:x2")),
        statements=(
            PaperStatement(
                text="Larger systems pay off only for larger problems: the more prices, the more processors are the "
                "fastest.",
                holds=s.best_system_grows,
                paper=True,
            ),
        ),
    ),
    Experiment(
        name="fig27",
        section=_LARGER,
        title="PI on up to 32 processors",
        programs=("pi.hpf",),
        axes=(("set", "n=128:4096:x2"), ("procs", "1:32:x2")),
        statements=(
            PaperStatement(
                text="With 4096 points each doubling up to 32 processors makes the program faster.",
                holds=s.every_doubling_helps("4096"),
                paper=True,
            ),
            PaperStatement(
                text="With 128 points more than 4 processors make it slower.", holds=s.slower_beyond("4", "128")
            ),
        ),
    ),
)
"""In the order of the paper."""


class AccuracyRow(Struct, frozen=True, kw_only=True):
    """A row of Table 3: errors in percent of the measured time on an iPSC/860, over sizes and 1, 2, 4, 8 processors."""

    name: str
    program: str
    sizes: tuple[str, ...]
    """PARAMETERs with their sizes, which go up together."""
    least: float
    most: float


def _kernel(name: str, least: float, most: float, sizes: str = "n=128:4096:x2") -> AccuracyRow:
    program = name.lower().replace(" ", "")
    number = program.lstrip("abcdefghijklmnopqrstuvwxyz")
    if program.startswith("lfk"):
        program = f"lfk{int(number):02}"
    return AccuracyRow(name=name, program=f"{program}.hpf", sizes=(sizes,), least=least, most=most)


_SIDES = ("n=16:256:x2", "m=16:256:x2")

TABLE3: tuple[AccuracyRow, ...] = (
    _kernel("LFK 1", 1.3, 10.2),
    _kernel("LFK 2", 2.5, 18.6),
    _kernel("LFK 3", 0.7, 7.2),
    _kernel("LFK 9", 0.3, 13.7),
    _kernel("LFK 14", 0.3, 13.8),
    _kernel("LFK 22", 1.4, 3.9),
    _kernel("PBS 1", 0.05, 7.9),
    AccuracyRow(name="PBS 2", program="pbs2.hpf", sizes=_SIDES, least=0.6, most=6.7),
    AccuracyRow(name="PBS 3", program="pbs3.hpf", sizes=_SIDES, least=0.8, most=9.5),
    _kernel("PBS 4", 0.2, 3.9),
    _kernel("PI", 0.0, 5.9),
    AccuracyRow(name="N-Body", program="nbody.hpf", sizes=("n=16:4096:x4",), least=0.09, most=5.9),
    AccuracyRow(name="Financial", program="finance.hpf", sizes=("n=32:512:x2",), least=1.1, most=4.6),
    AccuracyRow(name="Laplace (Blk-Blk)", program=s.BB, sizes=("n=16:256:x2",), least=0.2, most=4.4),
    AccuracyRow(name="Laplace (Blk-X)", program=s.BX, sizes=("n=16:256:x2",), least=0.6, most=4.9),
    AccuracyRow(name="Laplace (X-Blk)", program=s.XB, sizes=("n=16:256:x2",), least=0.1, most=2.8),
)
"""Table 3 of the paper, in its order."""

TABLE3_PROCS = (1, 2, 4, 8)

TABLE3_WORST = 20.0
"""Percent: what the paper gives as the worst error of all."""

SUN_ZHU = "sun-zhu"
"""Another article: what it prints of scalability (`esp.reproduce.sun_zhu`)."""

NAMES: tuple[str, ...] = ("table3", *(each.name for each in EXPERIMENTS), SUN_ZHU)
"""What can be reproduced."""


def experiment(name: str) -> Experiment:
    """The experiment of a figure."""
    return next(each for each in EXPERIMENTS if each.name == name)
