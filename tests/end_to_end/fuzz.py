"""Seeded damage: programs, options and machines that are almost right, and what the command makes of them.

Every case is a function of its seed. A case is run in this process through `main`, with a limit on its processor
time and on its memory, so that a hang or a flood is an error of the case and not of the test run.

    python tests/end_to_end/fuzz.py 0 1000       runs the seeds 0 to 999 and prints the figures
    python tests/end_to_end/fuzz.py show 17      prints one case and its outcome
"""

import contextlib
import dataclasses
import io
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import esp.cli.failure  # noqa: F401 (loaded before the clock of a case runs)
from esp.cli.main import main
from esp.explore import interval
from esp.locate import benchmarks_dir, system_names, systems_dir
from tests.end_to_end.formats import ill_formed

HERE = Path(__file__).resolve().parent
LIMIT_S = 20.0
"""Processor time that a case may take, unless a prediction walks a loop by then: twice what users may wait for, as two
busy threads of one core take longer,"""
STATEMENT_S = 0.02
"""and that it may take more for each line of its text."""
WALKED = 500
"""Iterations that it has walked then, at least: one after the other, not one that takes for ever. One on a million
processors counts for a thousand."""
MANY = re.compile(r"processors.*\d{5}", re.IGNORECASE)
"""A program that asks for very many processors."""
ENDED = 4
"""Or scenarios of its interval, at least, that were walked one by one: each is a prediction by itself, and ended."""
MEMORY_BYTES = 4 * 2**30
"""Address space that a case may take beside what the process has already."""
MOST_OUTPUT = 2_000_000
"""Characters that a case may print."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One command line with its program and, where a machine was damaged, its description."""

    seed: int
    text: str
    words: tuple[str, ...]
    machine: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case. `why`: what is wrong with it; empty where all is well."""

    code: int
    out: str
    err: str
    seconds: float
    why: str = ""


class OutOfTime(BaseException):
    """No `Exception`, so that nothing between here and there takes it for an error of its own. `advances`: whether a
    prediction has walked something by then."""

    def __init__(self, place: str, advances: bool) -> None:
        super().__init__(place)
        self.advances = advances


# --- damage -----------------------------------------------------------------------------------------------------

PIECES = tuple(
    (
        "( ) & ! ' \" end do = , :: ** / ; % : * + - ) ( a i n 0 1 -1 1.0d0 .and. .true. enddo return stop exit cycle "
        "(/ /) => $ @ # \\ \t \0 \f \xe9 \u2028 ((((((( ))))))) 2147483648 99999999999999999999 1e999 0/0"
    ).split(" ")
)

LINES = (
    "!HPF$ INDEPENDENT",
    "!HPF$ PROCESSORS zz(3,5)",
    "!HPF$ DISTRIBUTE a(BLOCK)",
    "!HPF$ DISTRIBUTE (CYCLIC,*) :: a, b",
    "!HPF$ ALIGN a(i) WITH b(i)",
    "!HPF$ ALIGN a(i) WITH a(i)",
    "!HPF$ ALIGN a(i) WITH b(2*i+1)",
    "!HPF$ ALIGN (:,*) WITH temp(:,*) :: a",
    "!HPF$ REDISTRIBUTE a(CYCLIC)",
    "!HPF$ REALIGN a(i) WITH b(i)",
    "!HPF$ DYNAMIC a",
    "!HPF$ TEMPLATE temp(0)",
    "!HPF$ TEMPLATE t(-5:5,n)",
    "!HPF$ SEQUENCE",
    "!HPF$ INHERIT a",
    "!HPF$ NONSENSE",
    "!HPF$",
    "!HPF$ DISTRIBUTE",
    "!HPF$ INDEPENDENT, NEW(i), REDUCTION(s), ON HOME(a(i))",
    "do i = 1, n",
    "do i = n, 1, -1",
    "do",
    "end do",
    "do while (i < n)",
    "do i = 1, 10, 0",
    "do i = 1, 1000000000",
    "do 10 i = 1, n",
    "10 continue",
    "if (a(i) > 0) then",
    "else",
    "end if",
    "if (i == n) exit",
    "cycle",
    "exit",
    "where (a > 0)",
    "end where",
    "forall (i = 1:n)",
    "end forall",
    "forall (i=1:n) a(i) = a(n+1-i)",
    "select case (i)",
    "case (1)",
    "case default",
    "end select",
    "stop",
    "return",
    "end",
    "contains",
    "call foo(a, n)",
    "a = 0",
    "a = b",
    "b = cshift(a, 1)",
    "a = eoshift(b, -1, dim=2)",
    "s = sum(a)",
    "s = maxval(a*b)",
    "s = s + 1",
    "s = dot_product(a, b)",
    "a(i) = a(i-1)",
    "a(idx(i)) = b(i)",
    "a(i) = b(idx(i))",
    "a(1:n:2) = b(n:1:-2)",
    "i = i + 1",
    "n = n * 2",
    "k = mod(k, 0)",
    "x = 1 / 0",
    "x = 10**400",
    "x = 2**(2**20)",
    "print *, a",
    "read *, n",
    "write (*,*) s",
    "integer, parameter :: q = 1 / 0",
    "integer, parameter :: q = r, r = q",
    "real :: a(-3)",
    "real :: a(n, n, n, n, n)",
    "real :: z(2**20, 2**20)",
    "integer :: idx(10)",
    "goto 10",
    "include 'nothing.inc'",
    "use nothing",
    "implicit none",
    "call system_clock(i)",
    "pause",
    "data a /10*0/",
    "equivalence (a, b)",
    "common /blk/ a, b",
    "program again",
    "subroutine foo(a, n)",
    "end subroutine",
    "function f(x)",
    "module m",
    "end module",
    "a = reshape(b, (/1, 2/))",
    "a = transpose(b)",
    "a = spread(b, 1, n)",
    "a = matmul(a, b)",
    "allocate (a(n))",
    "deallocate (a)",
    "a(:) = nosuch(b)",
)

NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "17",
    "1000",
    "100000",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967296",
    "1099511627776",
    "0.5",
    "1.0d308",
    "1d400",
    "2**62",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1" + "0" * 19,
    "1" + "0" * 30,
    "(0.0/0.0)",
)
FORMATS = (
    "BLOCK",
    "CYCLIC",
    "*",
    "BLOCK(3)",
    "BLOCK(1)",
    "CYCLIC(2)",
    "CYCLIC(0)",
    "BLOCK(n)",
    "BLOCK(-1)",
    "BLOK",
    "CYCLIC(i)",
    "",
)
DIRECTIVE = re.compile(r"^\s*[!cC*]hpf\$", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z]\w*")


def character(chance: random.Random, text: str) -> str:
    """One character or piece in, or some out."""
    at = chance.randrange(len(text) + 1)
    match chance.randrange(4):
        case 0:
            return text[:at] + chance.choice(PIECES) + text[at:]
        case 1:
            return text[:at] + text[at + chance.randint(1, 20) :]
        case 2:
            return text[:at] + chr(chance.randrange(1, 256)) + text[at + 1 :]
        case _:
            return text[:at] if chance.random() < 0.3 else text[:at] + text[at + 1 :]


def _swapped(chance: random.Random, text: str, pattern: re.Pattern[str], new: Callable[[list[str]], str]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    one = chance.choice(found)
    return text[: one.start()] + new([each.group() for each in found]) + text[one.end() :]


def token(chance: random.Random, text: str) -> str:
    """A name or number becomes another one."""
    if chance.random() < 0.5:
        return _swapped(chance, text, re.compile(r"\b\d+\b"), lambda _: chance.choice(NUMBERS))
    return _swapped(chance, text, NAME, chance.choice)


def line(chance: random.Random, text: str) -> str:
    """A line goes, comes twice, moves, or a strange one comes."""
    lines = text.split("\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[one]
        case 1:
            lines.insert(one, lines[other])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines.insert(one, at_home(chance, chance.choice(LINES), text))
    return "\n".join(lines)


def at_home(chance: random.Random, strange: str, text: str) -> str:
    """A line whose short names are, mostly, those that the program declares: it gets further then."""
    declared = [name for each in re.findall(r"::(.*)", text) for name in re.findall(r"\b[a-z]\w*(?![\w(]*\w*=)", each)]
    if not declared or chance.random() < 0.2:
        return strange
    new: dict[str, str] = {}
    return re.sub(r"\b(?:[a-z]|idx|temp)\b", lambda m: new.setdefault(m[0], chance.choice(declared)), strange)


def block(chance: random.Random, text: str) -> str:
    """Some lines go, come twice or move."""
    lines = text.split("\n")
    first = chance.randrange(len(lines))
    last = min(len(lines), first + chance.randint(2, 12))
    piece = lines[first:last]
    match chance.randrange(3):
        case 0:
            del lines[first:last]
        case 1:
            lines[last:last] = piece
        case _:
            del lines[first:last]
            at = chance.randrange(len(lines) + 1)
            lines[at:at] = piece
    return "\n".join(lines)


def directive(chance: random.Random, text: str) -> str:
    """A directive with other names, numbers or formats, fewer parentheses, twice, or elsewhere."""
    lines = text.split("\n")
    ours = [number for number, each in enumerate(lines) if DIRECTIVE.match(each)]
    if not ours:
        return line(chance, text)
    at = chance.choice(ours)
    head, body = lines[at][: lines[at].index("$") + 1], lines[at][lines[at].index("$") + 1 :]
    match chance.randrange(8):
        case 0:
            body = _swapped(chance, body, NAME, chance.choice)
        case 1:
            body = _swapped(chance, body, re.compile(r"\d+|\b[nijkNIJK]\b"), lambda _: chance.choice(NUMBERS))
        case 2:
            formats = re.compile(r"BLOCK(\(\w+\))?|CYCLIC(\(\w+\))?|\*", re.IGNORECASE)
            body = _swapped(chance, body, formats, lambda _: chance.choice(FORMATS))
        case 3:
            body = _swapped(chance, body, re.compile(r"[(),:]"), lambda _: chance.choice(("", "(", ")", ",", "::")))
        case 4:
            lines.insert(at, lines[at])
        case 5:
            lines.insert(chance.randrange(len(lines)), lines[at])
        case 6:
            pieces = ("(*,", "(:,", ",*", "(2*", "(-")
            body = _swapped(chance, body, re.compile(r"[(,]"), lambda _: chance.choice(pieces))
        case _:
            names = re.compile(r"PROCESSORS|TEMPLATE|ALIGN|DISTRIBUTE|WITH|ONTO|INDEPENDENT|DYNAMIC", re.IGNORECASE)
            others = ("ALIGN", "DISTRIBUTE", "PROCESSORS", "ONTO", "REALIGN", "X")
            body = _swapped(chance, body, names, lambda _: chance.choice(others))
    if head + body:
        where = next((number for number, each in enumerate(lines) if DIRECTIVE.match(each) and number >= at), at)
        lines[where] = head + body
    return "\n".join(lines)


PROGRAM_DAMAGE = (character, token, token, token, line, line, line, block, directive, directive, directive)

NAMES = ("temp", "t", "a", "b", "x", "nix", "prc", "")
OPTIONS: dict[str, tuple[str, ...]] = {
    "--procs": (
        "1",
        "2",
        "3",
        "5",
        "7",
        "8",
        "16",
        "12",
        "0",
        "-1",
        "x",
        "1,2,4",
        "1,,2",
        "1048576",
        "1048577",
        "65537",
        "8.0",
        "",
    ),
    "--by": ("procedure", "call", "line", "aau", "kind", "x", ""),
    "--grid": ("2x2", "4x2", "8", "1x1x1", "3x3", "0x4", "x", "2x", "1048576", "99999999999x1", "4,2"),
    "--distribute": (
        "{}=(BLOCK,*)",
        "{}=(*,BLOCK)",
        "{}=(CYCLIC)",
        "{}=(BLOCK(2),*)",
        "{}=(CYCLIC(3),CYCLIC)",
        "{}=(",
        "{}",
        "{}=BLOCK",
        "{}=()",
        "{}=(BLOCK)(*)",
        "{}=(BLOCK) ONTO p",
    ),
    "--set": (
        "n=8",
        "n=0",
        "n=-5",
        "n=1000000",
        "n=1e3",
        "n=.true.",
        "k=3",
        "k=1000000000",
        "nix=1",
        "n",
        "=",
        "n='x'",
        "n=2**3",
        "tol=0",
        "n=99999999999999999999",
        "i=1",
    ),
    "--load": ("30%", "100%", "nan", "inf", "-1", "0", "99.99%", "x2", "1e-320", ""),
    "--bandwidth": ("x2", "x0", "x-1", "5MB/s", "nan", "xinf", "x1e308", "x1e-308", "-3", "5 us", "30%"),
    "--latency": ("x0", "x0.5", "40us", "x1e300", "-40us", "xnan", "0s"),
    "--cost": (
        "{}=2*n flop",
        "{}(x, m)=2*m**3/3 flop + 3 us",
        "solve=1 ms",
        "sub(x)=n byte, changes x",
        "{}=n",
        "{}(=1 s",
        "{}=1/0 s",
        "{}=log(-1) flop, changes",
        "{}=merge(1, 2, x) s",
        "=(",
        "",
    ),
    "--processor-speed": ("x1e9", "x2", "80MHz", "x0", "50%", "1e400"),
    "--memory-speed": ("x1e9", "x0.01", "x", "2x", "0"),
    "--overlap": ("0.4", "1", "0", "2", "nan", "-0.1", "40%"),
    "--io": ("on", "off", "maybe"),
    "--opt": (
        "hoist=off",
        "coalesce=off",
        "aggregate=off",
        "redundant=off",
        "fuse=on",
        "x=off",
        "hoist",
        "hoist=maybe",
    ),
    "--system-set": (
        "cube.network.long.startup=120us",
        "cube.network.long.startup=0us",
        "cube=1",
        "nix.nix=1",
        "a=b=c",
        "cube.network.per_hop=-1us",
        "node.processor.clock=0MHz",
        "cube.network.duplex=half",
    ),
    "--system": (*system_names(), "nix", "", "."),
    "--line": ("1", "20", "10-30", "0", "99999", "30-10", "x", "-3"),
    "--aau": ("all", "1", "99999", "x"),
    "--form": ("free", "fixed", "other"),
}
FLAGS = ("--annotate", "--per-processor", "--timed", "--json", "--csv", "-q", "--nix", "--debug=1", "--help")


def options(chance: random.Random) -> list[str]:
    """Some options, many of them wrong."""
    words: list[str] = []
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        if chance.random() < 0.2:
            words.append(chance.choice(FLAGS))
            continue
        option = chance.choice(tuple(OPTIONS))
        value = chance.choice(OPTIONS[option]).replace("{}", chance.choice(NAMES))
        if chance.random() < 0.05:
            value = character(chance, value)
        words += [option, value] if chance.random() < 0.5 else [f"{option}={value}"]
    return words


@cache
def programs() -> tuple[tuple[str, str], ...]:
    """(source form, text) of all programs that come with esp, and of a few that hold what these do not."""
    files = [*sorted(benchmarks_dir().glob("*.hpf")), *sorted((HERE / "sources").iterdir())]
    return tuple(("fixed" if path.suffix == ".f" else "free", path.read_text(encoding="utf-8")) for path in files)


@cache
def machines() -> tuple[str, ...]:
    """The descriptions that come with esp."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(systems_dir().glob("*.yaml")))


def case(seed: int, chance: random.Random | None = None) -> Case:
    """The case of a seed. `chance`: a source of numbers that begins with the same seed."""
    chance = chance or random.Random(seed)
    form, text = chance.choice(programs())
    machine = ""
    kind = chance.random()
    if kind < 0.9:
        for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
            text = chance.choice(PROGRAM_DAMAGE)(chance, text) or " "
    else:
        machine = chance.choice(machines())
        for _ in range(chance.choice((1, 1, 2, 3))):
            machine = chance.choice((character, token, line, block))(chance, machine) or " "
    command = chance.choice((("run",),) * 12 + (("show", "layouts"), ("show", "node"), ("show", "saag")))
    words = [*command, "-"]
    words += ["--form", form] if form == "fixed" else []
    words += ["--procs", chance.choice(("1", "2", "3", "4", "8", "16"))] if chance.random() < 0.5 else []
    if command == ("run",):
        words += options(chance)
    return Case(seed, text, tuple(words), machine)


# --- running ----------------------------------------------------------------------------------------------------


def _ring(number: int, frame: Any) -> None:
    place = "".join(traceback.format_stack(frame, limit=-6)) if frame else ""
    raise OutOfTime(place, _advances(frame))


def _advances(frame: Any) -> bool:
    """Whether the prediction has walked iterations of a loop without a closed form, whose progress is printed and whose
    number has a limit (E506), or scenarios one by one."""
    while frame is not None:
        held = frame.f_locals
        if frame.f_code.co_filename.endswith("period.py") and "run" in held:
            if int(held["run"].books.walked) * max(1, held["run"].procs // 1000) >= WALKED:
                return True
        elif frame.f_code is interval._walk.__code__ and held["apart"] and len(held.get("made", ())) >= ENDED:
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def limits(seconds: float, memory: int) -> Iterator[None]:
    """Processor time and memory of what runs inside."""
    before = signal.signal(signal.SIGPROF, _ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    has = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + memory, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def run(given: Case, limit_s: float | None = None) -> Outcome:
    """Run a case through the function that the command line calls.

    Without a limit of its own a case has `LIMIT_S` and `STATEMENT_S`, and twelve times that where it asks for a million
    processors or so: a loop that has to be walked then works on vectors of a million.
    """
    if limit_s is None:
        limit_s = LIMIT_S + STATEMENT_S * given.text.count("\n")
        limit_s *= 12 if any("1048576" in word for word in given.words) or MANY.search(given.text) else 1
    with tempfile.TemporaryDirectory() as folder:
        words = list(given.words)
        if given.machine:
            path = Path(folder) / "machine.yaml"
            path.write_text(given.machine, encoding="utf-8", errors="replace")
            words += ["--system", str(path)]
        out, err = io.StringIO(), io.StringIO()
        kept = sys.stdin, sys.stdout, sys.stderr
        began = time.process_time()
        code, why = -1, ""
        try:
            sys.stdin, sys.stdout, sys.stderr = io.StringIO(given.text), out, err
            with limits(limit_s, MEMORY_BYTES):
                code = main(words)
        except OutOfTime as late:
            if late.advances:
                return Outcome(0, "", "", limit_s, "")
            why = f"more than {limit_s} s of processor time\n{late}"
        except BaseException:  # noqa: BLE001 (whatever leaves `main` is what is looked for)
            why = traceback.format_exc()
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept
        seconds = time.process_time() - began
    why = why or wrong(code, out.getvalue(), err.getvalue())
    if not why and code == 0 and "--help" not in words:
        why = ill_formed(words, out.getvalue())
    return Outcome(code, out.getvalue(), err.getvalue(), seconds, why)


def wrong(code: int, out: str, err: str) -> str:
    """What is wrong with the end of a command; nothing where all is well."""
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if "Traceback" in err or "bug in esp" in err:
        return "a bug shown to the user"
    if code and not err.strip():
        return "it failed without a word"
    if code and out:
        return "a result beside an error"
    if len(out) + len(err) > MOST_OUTPUT:
        return f"{len(out) + len(err)} characters of output"
    if re.search(r"\b(nan|NaN|inf|Infinity)\b", out):
        return "a time that is not a number"
    return ""


def told(given: Case, outcome: Outcome) -> str:
    """A failure, with all that is needed to see it again."""
    return (
        f"seed {given.seed}: {' '.join(given.words)}\n"
        f"exit {outcome.code} after {outcome.seconds:.1f} s: {outcome.why}\n"
        f"{outcome.err[-1500:]}"
    )


def _figures(seeds: range) -> int:
    codes: Counter[int] = Counter()
    slowest: list[tuple[float, int]] = []
    failed = 0
    for seed in seeds:
        given = case(seed)
        outcome = run(given)
        codes[outcome.code] += 1
        slowest = sorted([*slowest, (round(outcome.seconds, 2), seed)], reverse=True)[:5]
        if outcome.why:
            failed += 1
            print(told(given, outcome), flush=True)
    print(f"{len(seeds)} cases, {failed} failed; exit codes {dict(sorted(codes.items()))}", end="; ")
    print(f"slowest (s, seed) {slowest}")
    return failed


if __name__ == "__main__":
    warnings.simplefilter("error")
    if sys.argv[1] == "show":
        shown = case(int(sys.argv[2]))
        result = run(shown)
        print(shown.text, shown.machine, sep="\n")
        print("words:", *shown.words)
        print(result.out, result.err, result.why, f"exit {result.code}, {result.seconds:.2f} s", sep="\n")
    else:
        sys.exit(min(1, _figures(range(int(sys.argv[1]), int(sys.argv[2])))))
