"""A session whose figures are made by hand, so that pictures of the screen change only when the screen does."""

import numpy as np
from msgspec.structs import replace

from esp.api import Prediction, Request, load_machine, lower_source, read_source
from esp.explore.impact import Swing
from esp.explore.scaling import ScaledRun, Scaling, run_of
from esp.inspect.ownership import pictures
from esp.prediction import first
from esp.traces.trace import COMPUTE, OVERHEAD, RECEIVE, SEND, WAIT, Trace, TraceAbout, TracePlace
from esp.tui import state as steps
from esp.tui.answers import answered
from esp.tui.course import course_of
from esp.tui.opening import Opened
from esp.tui.question import (
    WRITTEN,
    Alone,
    Aside,
    ByProcessor,
    ChoiceRow,
    Closer,
    Finished,
    Impact,
    ListedProgram,
    PredictedAnswer,
    Scaled,
    TiesKnown,
)

FACTORS = {WRITTEN: 1.0, "(BLOCK,*) 8": 1.01, "(*,BLOCK) 8": 1.25, "(CYCLIC,*) 8": 6.75}
"""Key of a choice -> its communication, as a multiple of that of the source's own."""

CHOICES = (
    ChoiceRow(key=WRITTEN, shown="(BLOCK,BLOCK)", grid=(4, 2), written=True, rank=-1, origin="as in the source"),
    *(
        ChoiceRow(
            key=key,
            shown=key.split()[0],
            grid=(8,),
            written=False,
            rank=rank,
            formats=(("a", key.split()[0]),),
            asked_grid=(8,),
            directives=("!HPF$ PROCESSORS P(8)", f"!HPF$ DISTRIBUTE A{key.split()[0]} ONTO P"),
        )
        for rank, key in enumerate(list(FACTORS)[1:])
    ),
)


class Made:
    """What the tests ask for: predictions, states, answers."""

    def __init__(self, build):
        self.build = build
        self.pictures = None

    def prediction(self, communication=1.0, computation=1.0, grid=(4, 2)):
        lines = [
            replace(
                each,
                parts=replace(
                    each.parts,
                    communication_s=each.parts.communication_s * communication,
                    computation_s=each.parts.computation_s * computation,
                ),
            )
            for each in self.build.LINES
        ]
        shown = self.build.prediction(tuple(lines), grid=grid)
        names = (name for name in shown.__struct_fields__ if name in Prediction.__struct_fields__)
        return Prediction(**{name: getattr(shown, name) for name in names})

    def opened(self):
        """A program that is open, with nothing asked yet."""
        request = Request(procs=8)
        state = steps.opened("laplace.hpf", tuple(self.build.SOURCE), "ipsc860", 8, request, bundled=True)
        return Opened(source=None, system=None, request=request, state=state)

    def answers(self, question):
        """What an engine would say: less bandwidth or more load only stretches communication."""
        stretch, speed = self.stretched(question.settings)
        yield ListedProgram(
            number=question.number, choices=CHOICES, wanted=question.wanted, left_out=3, sized_by=("n",)
        )
        for each in sorted(CHOICES, key=lambda choice: choice.key != question.wanted):
            outcome = self.prediction(FACTORS[each.key] * stretch, 1 / speed, each.grid)
            yield PredictedAnswer(number=question.number, key=each.key, outcome=outcome)
            if each.key == question.wanted and (question.processors or question.course):
                yield Closer(
                    number=question.number,
                    key=each.key,
                    processors=self.by_processor() if question.processors else None,
                    course=course_of(self.trace()) if question.course else None,
                )
            if each.key == question.wanted and question.alone:
                yield Alone(number=question.number, key=each.key, times_s=self.alone(question, each))
            if each.key == question.wanted and question.impact:
                yield self.impact(question, each.key, first(outcome.time_s))
            if each.key == question.wanted and question.scaling:
                yield self.scaled(question, each.key)
        yield Finished(number=question.number)
        if question.aside:
            yield Closer(number=question.number, key=question.wanted, course=course_of(self.trace()))
            yield self.aside(question)
        yield TiesKnown(number=question.number)

    def aside(self, question):
        """The layout of the bundled program, and a speed-up of 1, 1.6, 2.6, ... on 1, 2, 4, ... processors."""
        if self.pictures is None:
            stages = lower_source(read_source("laplace_bb"), load_machine("ipsc860"), Request(procs=8))
            layouts = stages.node_program.layouts
            self.pictures = pictures(layouts, tuple(layouts.arrays))
        times = {2**power: 1.6**-power for power in range(7)}
        return Aside(number=question.number, key=question.wanted, pictures=self.pictures, times_s=times)

    def stretched(self, settings):
        """By how much communication is longer, and computation faster."""
        stretch = 1.0
        if settings.bandwidth is not None:
            stretch /= float(settings.bandwidth[1:])
        if settings.load is not None:
            stretch /= 1 - float(settings.load[:-1]) / 100
        return stretch, 1.0 if settings.processor_speed is None else float(settings.processor_speed[1:])

    def alone(self, question, choice):
        """The time with one slider moved at a time."""
        times = {}
        for name, settings in question.alone:
            stretch, speed = self.stretched(settings)
            times[name] = first(self.prediction(FACTORS[choice.key] * stretch, 1 / speed, choice.grid).time_s)
        return times

    def impact(self, question, key, base_s):
        """Round shares of the time."""
        swings = (
            Swing(name="processor speed", less="x0.5", less_s=1.7 * base_s, more="x2", more_s=0.65 * base_s),
            Swing(name="bandwidth", less="x0.5", less_s=1.2 * base_s, more="x2", more_s=0.9 * base_s),
            Swing(name="processors", less="4", less_s=None, more="16", more_s=0.96 * base_s),
            Swing(name="load", less="0%", less_s=None, more="30%", more_s=1.03 * base_s),
        )
        shares = {"operations": 0.55, "misses": 0.3, "bytes": 0.148, "copies": 0.002}
        return Impact(number=question.number, key=key, base_s=base_s, swings=swings, shares=shares)

    def scaled(self, question, key):
        """A speed-up of 1, 1.6, 2.6, ..., and sizes that are doubled twice, then never enough."""
        runs: list[ScaledRun] = []
        for procs, size in ((8, 256), (16, 512), (32, 1024)):
            runs.append(run_of(runs, procs, size, 12.0 * size**2, 0.1 * size**2 / 8e3 / procs, fits=True))
        found = Scaling(
            file="laplace.hpf",
            system="ipsc860",
            parameter="n",
            current=256,
            speed=runs[0].speed,
            work="this program on one processor",
            rate=None,
            tol=None,
            runs=tuple(runs),
            missing=(64,),
            most=131_072,
        )
        times = {2**power: 1.6**-power for power in range(7)}
        return Scaled(number=question.number, key=key, times_s=times, found=found)

    def by_processor(self):
        """Each AAU of the prediction on 8 processors, the last one with half as much communication again."""
        parts = {}
        for aau in self.build.AAUS:
            own = aau.parts
            means = (own.computation_s, own.communication_s, own.overhead_s, own.waiting_s)
            parts[aau.id] = np.repeat(np.array(means), 8, axis=1)
            parts[aau.id][1, 7] *= 1.5
        return ByProcessor(parts=parts, procs=8)

    def trace(self):
        """Ten rounds on 8 processors: compute 20 ms, send to the next, wait, receive from the one before."""
        rows = []
        for rank in range(8):
            now = 0.0
            for _ in range(10):
                late = 0.002 * rank
                for kind, duration, partner, size in (
                    (COMPUTE, 0.02 + late, -1, 0),
                    (OVERHEAD, 0.001, -1, 0),
                    (SEND, 0.001, (rank + 1) % 8, 1024),
                    (WAIT, 0.015 - late, -1, 0),
                    (RECEIVE, 0.003, (rank - 1) % 8, 1024),
                ):
                    rows.append((rank, now, duration, 3, kind, partner, size))
                    now += duration
        columns = list(zip(*rows, strict=True))
        about = TraceAbout(
            writer="test",
            origin="predicted",
            program="laplace",
            file="laplace.hpf",
            system="ipsc860",
            procs=8,
            grid=(4, 2),
            places=(TracePlace(id=3, kind="Comm", line=7, label="overlap shift of a"),),
        )
        return Trace(
            about=about,
            rank=np.array(columns[0]),
            begin=np.array(columns[1]),
            duration=np.array(columns[2]),
            aau=np.array(columns[3]),
            kind=np.array(columns[4], np.int8),
            partner=np.array(columns[5]),
            size_bytes=np.array(columns[6]),
        )

    def answered(self, state=None):
        """The state after all answers to its question."""
        state = steps.asking(self.opened().state if state is None else state)
        for answer in self.answers(steps.question(state)):
            state = answered(state, answer)
        return state

    def engine(self):
        """A class in the place of the real engine, which answers at once."""
        made = self

        class Answering:
            def __init__(self, source, system, request, deliver, patience_s):
                self.deliver = deliver

            def seen(self):
                pass

            def start(self):
                pass

            def stop(self):
                pass

            def ask(self, question):
                for answer in made.answers(question):
                    self.deliver(answer)

        return Answering
