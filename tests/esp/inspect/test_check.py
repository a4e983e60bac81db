"""`esp check`: every limit is tried just above and just below what `esp run --json` says."""

import json

import pytest

PROGRAM, PROCS = "laplace", 8


@pytest.fixture
def budget(tmp_path):
    """Writes a budget; the answer is its name."""

    def write(text):
        path = tmp_path / "budget.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def said(esp, procs="8"):
    return json.loads(esp("run", PROGRAM, "--procs", procs, "--json")[1])


def values(run):
    """What can be limited -> predicted value and unit, by the JSON of `esp run`."""
    total = run["time_s"]
    found = {
        "time": (total, " s"),
        "timed": (run["timed_s"], " s"),
        "load": (run["load_s"], " s"),
        "io": (run["io_s"], " s"),
        "imbalance": (run["imbalance"], ""),
        "memory": (run["memory_bytes"] + run["memory_copies_bytes"], " B"),
        "messages": (run["messages"], ""),
        "bytes": (run["bytes"], " B"),
        "estimated": (100 * run["estimated_share"], " %"),
    }
    for name in ("computation", "communication", "waiting", "overhead"):
        found[name] = (run[f"{name}_s"], " s")
        found[f"{name}:share"] = (100 * run[f"{name}_s"] / total, " %")
    return found


def test_every_limit_is_kept_just_above_and_broken_just_below(esp, budget):
    for name, (value, unit) in values(said(esp)).items():
        what = name.partition(":")[0]
        step = 1 if isinstance(value, int) else 1e-6 * value
        for limit, kept in ((value + step, True), (value - step, False)):
            text = f"format: 1\nlimits:\n  {what}: {limit!r}{unit}\n"
            code, out, err = esp("check", PROGRAM, "--procs", "8", "--budget", budget(text), "--quiet")
            assert code == (0 if kept else 3), (name, limit)
            if kept:
                assert (out, err) == ("", "")
            else:
                assert out.splitlines()[0].split(" ")[0].endswith("budget.yaml:3:" + str(5 + len(what)) + ":")
                assert "1 of 1 limits is not kept" in err


@pytest.mark.parametrize("line", ["36", "forall (i = 2:n-1"])
def test_limits_of_a_line(line, esp, budget):
    (run,) = (each for each in said(esp)["lines"] if each["line"] == 36)
    for what in ("time", "computation", "communication", "waiting", "overhead"):
        value = run[f"{what}_s"]
        for limit, code in ((1.000001 * value, 0), (0.999999 * value, 3)):
            text = f"format: 1\nlines:\n  {line}: {{{what}: {limit!r} s}}\n"
            assert esp("check", PROGRAM, "--procs", "8", "--budget", budget(text), "-q")[0] == code
    for limit, code in ((run["messages"], 0), (run["messages"] - 1, 3)):
        text = f"format: 1\nlines: {{{line}: {{messages: {limit}}}}}\n"
        if "(" not in line:
            assert esp("check", PROGRAM, "--procs", "8", "--budget", budget(text), "-q")[0] == code


def test_speed_up_is_against_one_processor_also_where_the_budget_does_not_name_it(esp, budget):
    runs = json.loads(esp("run", PROGRAM, "--procs", "1,4", "--json")[1])["runs"]
    for quantity, key in (("speed-up", "speed_up"), ("efficiency", "efficiency")):
        for shift, code in ((0.999, 0), (1.001, 3)):
            path = budget(f"format: 1\nprocs:\n  4: {{{quantity}: {shift * runs[1][key]!r}}}\n")
            assert esp("check", PROGRAM, "--budget", path, "-q")[0] == code
            assert esp("check", PROGRAM, "--procs", "4", "--budget", path, "-q")[0] == code


def test_a_budget_that_limits_nothing_of_what_is_predicted_is_no_check(esp, budget):
    code, out, err = esp("check", PROGRAM, "--procs", "2,4", "--budget", budget("format: 1\nprocs: {8: {time: 1 s}}\n"))
    assert (code, out) == (2, "")
    assert "has no limits for 2, 4 processors" in " ".join(err.split())


def test_speed_up_and_efficiency_are_at_least(esp, budget):
    """Numbers of the budget are predicted where the command names none."""
    runs = json.loads(esp("run", PROGRAM, "--procs", "1,4", "--json")[1])["runs"]
    ratio, efficiency = runs[1]["speed_up"], runs[1]["efficiency"]
    for shift, code in ((0.999999, 0), (1.000001, 3)):
        text = f"format: 1\nprocs:\n  1: {{time: 1 min}}\n  4: {{speed-up: {shift * ratio!r}}}\n"
        text = text.replace("1 min", "60 s")
        assert esp("check", PROGRAM, "--budget", budget(text), "-q")[0] == code
        text = f"format: 1\nprocs:\n  1: {{time: 60 s}}\n  4: {{efficiency: {shift * efficiency!r}}}\n"
        assert esp("check", PROGRAM, "--budget", budget(text), "-q")[0] == code


def test_json_holds_every_check(esp, budget):
    text = "format: 1\nlimits: {time: 1 s}\nlines:\n  36: {time: 99 %}\n"
    code, out, _ = esp("check", PROGRAM, "--procs", "4,8", "--budget", budget(text), "--json")
    told = json.loads(out)
    assert code == 3
    assert told["kept"] is False
    assert [(c["what"], c["line"], c["processors"], c["kept"], c["budget_line"]) for c in told["checks"]] == [
        ("time", None, 4, False, 2),
        ("time", 36, 4, True, 4),
        ("time", None, 8, False, 2),
        ("time", 36, 8, True, 4),
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("format: 1\nlimits: {tme: 1 s}\n", ":2:10:", "B103 a program has no 'tme' to limit"),
        ("format: 1\nlimit: {time: 1 s}\n", ":2:1:", "B103 unknown section 'limit' in a budget"),
        ("limits: {time: 1 s}\n", ":1:1:", "B104 the key 'format' is missing"),
        ("format: 2\nlimits: {time: 1 s}\n", ":1:9:", "B104 this version of esp reads budgets of format 1"),
        ("format: 1\n", ":1:1:", "B105 this budget limits nothing"),
        ("format: 1\nlimits: 3 s\n", ":2:9:", "B106 expected limits"),
        ("format: 1\nlimits: {time: [1 s]}\n", ":2:16:", "B106 expected one value"),
        ("format: 1\nprocs:\n  many: {time: 1 s}\n", ":3:3:", "B107 'many' is not a processor count"),
        ("format: 1\nlimits:\n  time: 3\n", ":3:9:", "B108 '3' lacks its unit: expected a time"),
        ("format: 1\nlimits:\n  time: 3 kB\n", ":3:9:", "B108 '3 kB' is a size, expected a time"),
        ("format: 1\nlimits:\n  time: -3 s\n", ":3:9:", "B108 '-3 s' is below 0"),
        ("format: 1\nlimits:\n  messages: 2.5\n", ":3:13:", "B108 '2.5' is not a whole number"),
        ("format: 1\nlines:\n  36: {memory: 3 KB}\n", ":3:8:", "B103 a line has no 'memory' to limit"),
        ("format: 1\nlines:\n  999: {time: 3 s}\n", ":3:15:", "B109 laplace.hpf has lines 1 to 47"),
        ("format: 1\nlines:\n  2: {time: 3 s}\n", ":3:13:", "B109 line 2 has no time of its own"),
        ("format: 1\nlines:\n  nowhere: {time: 3 s}\n", ":3:19:", "B109 no line of laplace.hpf holds 'nowhere'"),
        ("format: 1\nlines:\n  forall: {time: 3 s}\n", ":3:18:", "B109 'forall' is in several lines: "),
        ("format: 1\nformat: 1\n", ":2:1:", "B102 the key 'format' appears twice"),
        ("format: [1\n", ":2:1:", "B102 this is not YAML"),
        ("- a\n", ":1:1:", "B102 a budget is a mapping of keys"),
    ],
)
def test_faults_of_a_budget_have_their_place(text, place, message, esp, budget):
    code, out, err = esp("check", PROGRAM, "--procs", "4", "--budget", budget(text), "-q")
    assert (code, out) == (2, "")
    assert place in err.split(" ")[0] + " "
    assert message in " ".join(err.split())


def test_all_faults_are_told_at_once(esp, budget):
    err = esp("check", PROGRAM, "--budget", budget("format: 1\nlimits: {tme: 1 s, time: 3}\nx: 1\n"))[2]
    assert err.endswith("3 errors\n")


def test_a_timed_region_must_be_there(esp, budget):
    code, _, err = esp(
        "check",
        "-",
        "--budget",
        budget("format: 1\nlimits: {timed: 1 s}\n"),
        stdin="program p\n  real :: x\n  x = 1.0\nend program p\n",
    )
    assert code == 2
    assert "does not read the clock twice" in " ".join(err.split())


def test_an_incomplete_prediction_checks_no_limit(esp, budget):
    text = "program p\n  real :: y\n  call stranger(y)\n  y = 1.0\nend program p\n"
    code, out, err = esp("check", "-", "--budget", budget("format: 1\nlimits: {time: 1 s}\n"), stdin=text)
    assert (code, out) == (1, "")
    assert "found no subroutine stranger (line 3)" in " ".join(err.split())
    assert esp("check", "-", "--budget", budget("format: 1\nlimits: {speed-up: 2}\n"), stdin=text)[0] == 1
    assert esp("check", "-", "--budget", budget("format: 1\nlimits: {time: 1 ns}\n"), stdin=text)[0] == 1


def test_no_budget_and_no_option(esp):
    code, _, err = esp("check", PROGRAM, "--budget", "nowhere.yaml")
    assert (code, err) == (2, "esp: nowhere.yaml: budget file not found. `esp check --help` shows one.\n")
    assert esp("check", PROGRAM)[0] == 2
