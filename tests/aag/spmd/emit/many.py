"""Many random programs at a time: emitted, compiled into one executable, run, and compared with gfortran; what they
send is compared with the prediction."""

from msgspec import Struct

from aag.diagnostics import SourceError, UnresolvedError
from aag.pipeline import Options, read_program
from aag.spmd.emit import NotEmitted, emit
from esp.api import Request, Source
from esp.validate.counts import counted, predicted
from interpreter.errors import InterpretationError
from tests.aag.spmd.emit.batch import run_each, run_serially
from tests.aag.spmd.emit.native import default_machine, lowered


class Case(Struct, frozen=True):
    """One program on some processors, some optimisations switched off."""

    text: str
    procs: int
    disabled: frozenset = frozenset()
    note: object = None


class Verdict(Struct, frozen=True):
    """What became of a case: empty `fault` where the answer is the right one."""

    case: Case
    fault: str = ""
    expected: str = ""
    found: str = ""


def judge(native, cases, *, limit_s=120):
    """Compare each case with the serial program; all have the same number of processors."""
    run_serially(native, [each.text for each in cases])
    expected = [native.expected(each.text) for each in cases]
    ready, found = [], {}
    for number, case in enumerate(cases):
        try:
            source = read_program(case.text, "nest.hpf")
            program = lowered(source, case.procs, options=Options(disabled=case.disabled))
            emit(program, poisons=True)
            ready.append((number, program, sent(source, case)))
        except (SourceError, NotEmitted) as problem:
            found[number] = Verdict(case, f"refused: {problem}", expected[number])
        except Exception as problem:  # noqa: BLE001 (a bug in esp is a finding, not the end of the sweep)
            found[number] = Verdict(case, f"bug: {type(problem).__name__}: {problem}", expected[number])
    ran = run_each(native, [program for _, program, _ in ready], cases[0].procs, limit_s) if ready else []
    for at, ((number, _, foreseen), said) in enumerate(zip(ready, ran, strict=True)):
        fault, answer = ("", said) if not isinstance(said, Exception) else (f"fails: {said}", "")
        if not fault and answer.split() != expected[number].split() and values(answer) != values(expected[number]):
            fault = "answers otherwise"
        if not fault and foreseen is not None:
            fault = others(foreseen, counted(native.folder / "batch" / f"counters{at}"))
        found[number] = Verdict(cases[number], fault, expected[number], answer)
    return [found[number] for number in range(len(cases))]


def sent(source, case):
    """What a prediction says that a program sends; None where data decide what values a prediction needs."""
    try:
        return predicted(Source(program=source), default_machine(), Request(procs=case.procs, off=case.disabled))
    except (InterpretationError, UnresolvedError):
        return None


def others(foreseen, counts):
    """The lines that send something else than is predicted, but for those that run as often as data decide."""
    known = foreseen.counts
    lines = {key[1] for key in counts.keys() | known.keys() if counts.get(key) != known.get(key)}
    lines -= foreseen.undecided | {each.span.line for each in foreseen.told if each.span is not None}
    return f"sends otherwise than is predicted: lines {sorted(lines)}" if lines else ""


def values(answer):
    """What is printed, as numbers: 5.0 and 5 are the same."""
    return [float(each) for each in answer.split()]
