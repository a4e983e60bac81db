"""Fuzzing that is guided by coverage: inputs that reach new code are kept and damaged further.

    make fuzz                                              for a minute; FUZZ_SECONDS says how long
    python -m tests.end_to_end.guided run FOLDER SECONDS   the same, with what it keeps in FOLDER
    python -m tests.end_to_end.guided replay FILE...       runs what was kept
    python -m tests.end_to_end.guided minimise FILE        the fewest lines that fail in the same way

An input is a command line and the program that it reads. `pip install esp-hpf[fuzz]` brings what guides.
"""

import contextlib
import random
import shlex
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from tests.end_to_end import fuzz

CORPUS = Path(__file__).resolve().parent / "corpus"
COMMANDS = (
    "run -",
    "run - --json",
    "run - --csv",
    "run - --annotate",
    "run - --per-processor --csv",
    "show ir -",
    "show layouts -",
    "show node -",
    "show saag -",
    "layout -",
    "layout - --json",
    "graph saag - --format dot",
    "graph aag - --format graphml",
    "graph saag - --format mermaid",
    "graph aag - --format json",
    "graph saag - --format svg",
    "query - --csv",
    "query - --json",
)
PROCS = ("1", "2", "3", "4", "6", "8")
LONGEST = 20_000
"""Characters of an input: beyond it a case is slow and not strange."""
FLOW = (
    "go to 10",
    "10 continue",
    "20 k = k + 1",
    "if (k < 3) go to 10",
    "if (s > 1) go to 20",
    "go to (10, 20, 30), k",
    "if (k - 2) 10, 20, 30",
    "30 end do",
    "40 end if",
    "do 10 i = 1, n",
    "k = ishft(k, 3)",
    "k = k*k",
    "f(x) = x + f(x)",
    "include 'x.inc'",
    "print *, a(k)",
    "read (*, *) a",
    "s = s/0",
)


def spelled(given: fuzz.Case) -> bytes:
    """A case as an input."""
    return (shlex.join(given.words) + "\n" + given.text).encode("utf-8", "surrogatepass")


def understood(data: bytes) -> fuzz.Case:
    """The case that an input spells; what names no command is read by the first one."""
    head, _, text = data.decode("utf-8", "replace").partition("\n")
    try:
        words = tuple(shlex.split(head))
    except ValueError:
        words = ()
    known = any(head.startswith(each) for each in COMMANDS) and not {"-o", "--output", "--system"} & set(words)
    return fuzz.Case(0, text, words if known else tuple(COMMANDS[0].split()))


def damaged(data: bytes, seed: int, longest: int = LONGEST) -> bytes:
    """An input that is a little different."""
    chance = random.Random(seed)
    given = understood(data)
    text, words = given.text, given.words
    if chance.random() < 0.15:
        words = (*chance.choice(COMMANDS).split(), "--procs", chance.choice(PROCS))
        words += tuple(fuzz.options(chance)) if words[0] == "run" and chance.random() < 0.3 else ()
    for _ in range(chance.choice((1, 1, 2, 4))):
        if chance.random() < 0.2:
            lines = text.split("\n")
            lines.insert(chance.randrange(len(lines) + 1), fuzz.at_home(chance, chance.choice(FLOW), text))
            text = "\n".join(lines)
        else:
            text = chance.choice(fuzz.PROGRAM_DAMAGE)(chance, text) or " "
    return spelled(fuzz.Case(0, text[:longest], words))[: longest + 500]


def seeds() -> Iterable[bytes]:
    """What there is to begin with: the programs that come with esp, under every command in turn."""
    for number, (form, text) in enumerate(fuzz.programs()):
        words = tuple(COMMANDS[number % len(COMMANDS)].split())
        yield spelled(fuzz.Case(0, text, (*words, "--form", "fixed") if form == "fixed" else words))


def kind(outcome: fuzz.Outcome) -> str:
    """What two failures have in common that are one: the end of what is wrong, and the place in esp."""
    place = outcome.err.partition("bug in esp, not in your program: ")[2].split(": ", 1)[0]
    return outcome.why.strip().split("\n")[-1][:60] + "|" + " ".join(place.split())


def minimised(data: bytes) -> bytes:
    """The fewest lines that fail in the same way: halves, quarters and so on are left out as long as they can be."""
    given = understood(data)
    wanted = kind(fuzz.run(given))
    lines = given.text.split("\n")
    size = len(lines)
    while size:
        at = 0
        while at < len(lines):
            fewer = [*lines[:at], *lines[at + size :]]
            if kind(fuzz.run(fuzz.Case(0, "\n".join(fewer), given.words))) == wanted:
                lines = fewer
            else:
                at += size
        size //= 2
    return spelled(fuzz.Case(0, "\n".join(lines), given.words))


def search(folder: Path, seconds: int) -> None:
    """Run for so long. New inputs are kept in `folder`, failures in `folder`/failures, the first of each kind."""
    import atheris

    found = folder / "failures"
    for each in (found, CORPUS):
        each.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(seeds()):
        (folder / f"seed{number:03}").write_bytes(each)
    failed: set[str] = set()

    def one(data: bytes) -> None:
        given = understood(data)
        outcome = fuzz.run(given)
        if outcome.why and (same := kind(outcome)) not in failed:
            failed.add(same)
            (found / f"{len(failed):03}").write_bytes(data)
            print(fuzz.told(given, outcome), flush=True)

    def custom(data: bytes, longest: int, seed: int) -> bytes:
        return damaged(data, seed, min(longest, LONGEST))

    words = [
        sys.argv[0],
        str(folder),
        str(CORPUS),
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-timeout=300",
        "-rss_limit_mb=4096",
        f"-artifact_prefix={found}/",
    ]
    atheris.Setup(words, one, custom_mutator=custom)
    atheris.Fuzz()


def _instrumented() -> None:
    """Load esp so that the paths through it are seen."""
    import atheris

    loaded = [name for name in sys.modules if name.split(".")[0] in ("aag", "esp", "interpreter", "sag")]
    for name in loaded:
        del sys.modules[name]
    with atheris.instrument_imports(include=["aag", "esp", "interpreter", "sag"], enable_loader_override=False):
        import esp.api
        import esp.cli.failure
        import esp.cli.graph
        import esp.cli.layout
        import esp.cli.query
        import esp.cli.run
        import esp.cli.show
        import esp.output.csv  # noqa: F401 (loaded to be instrumented)
        from aag.source import stages  # noqa: F401 (as above)
        from esp.cli.main import main
    fuzz.main = main


def command(words: list[str]) -> int:
    """The exit code: 1 where something failed."""
    warnings.simplefilter("error")
    match words:
        case ["run", folder, seconds]:
            _instrumented()
            search(Path(folder), int(seconds))
        case ["minimise", file]:
            sys.stdout.write(minimised(Path(file).read_bytes()).decode("utf-8", "replace"))
        case ["replay", *files]:
            outcomes = [(understood(Path(file).read_bytes()), file) for file in files]
            failures = [(each, file, why) for each, file in outcomes if (why := fuzz.run(each)).why]
            for each, file, outcome in failures:
                print(file, fuzz.told(each, outcome))
            return int(bool(failures))
        case _:
            print(__doc__)
    return 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(command(sys.argv[1:]))
