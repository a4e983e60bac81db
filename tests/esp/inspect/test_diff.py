"""`esp diff`: its sums are those of two predictions, read from their JSON."""

import json

import pytest

from esp.inspect.difference import change


def run(esp, *words):
    return json.loads(esp("run", *words, "--json", "--aau", "all", "-q")[1])


def diff(esp, *words):
    code, out, _ = esp("diff", *words, "--json", "-q")
    assert code == 0
    return json.loads(out)


def walk(tree):
    for each in tree:
        yield each
        yield from walk(each["inside"])


SIDES = [
    (("laplace_bb", "--procs", "8"), ("laplace_bx", "--procs", "8")),
    (("laplace", "--procs", "8"), ("laplace", "--procs", "16", "--bandwidth", "x2")),
    (("redblack", "--procs", "4"), ("gauss", "--procs", "3", "--set", "n=32")),
]


def _own(said, line, total_s):
    """Time of a unit without what is inside it; 0 where there is none on this side."""
    found = {each["time_s"] for each in said["aaus"] if (each["line"], each["total_s"]) == (line, total_s)}
    return found.pop() if found else 0.0


@pytest.mark.parametrize(("a", "b"), SIDES)
def test_the_tree_adds_up(a, b, esp):
    first, second = run(esp, *a), run(esp, *b)
    told = diff(esp, " ".join(a), " ".join(b))
    assert told["by"] == "aaus"
    assert told["change_s"] == second["time_s"] - first["time_s"]
    assert sum(each["change_s"] for each in told["tree"]) == pytest.approx(told["change_s"], rel=1e-9, abs=1e-12)
    for each in walk(told["tree"]):
        assert sum(each["changes_s"].values()) == pytest.approx(each["change_s"], rel=1e-9, abs=1e-12)
        below = sum(inner["change_s"] for inner in each["inside"])
        own = _own(second, each["line_b"], each["time_b_s"]) - _own(first, each["line_a"], each["time_a_s"])
        assert own + below == pytest.approx(each["change_s"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), SIDES)
def test_every_unit_of_both_sides_is_there_once(a, b, esp):
    first, second = run(esp, *a), run(esp, *b)
    pairs = list(walk(diff(esp, " ".join(a), " ".join(b))["tree"]))
    for side, said in (("a", first), ("b", second)):
        mine = sorted((e[f"line_{side}"], e[f"time_{side}_s"]) for e in pairs if e[f"time_{side}_s"] is not None)
        assert mine == sorted((each["line"], each["total_s"]) for each in said["aaus"])


def test_twice_the_bandwidth_moves_communication_only(esp):
    told = diff(esp, "laplace", "laplace --bandwidth x2", "--procs", "8")
    for each in walk(told["tree"]):
        assert each["label_a"] == each["label_b"]
        if each["kind"] in ("IterD", "Seq"):
            assert each["change_s"] == 0
        if each["label_a"] == "overlap_shift a":
            assert each["changes_s"]["communication"] < 0
            assert each["changes_s"]["overhead"] == 0


def test_a_communication_that_became_another_is_one_row(esp):
    """Shifts in one dimension instead of two, at the same place."""
    told = diff(esp, "laplace_bb", "laplace_bx", "--procs", "8")
    (shift,) = (
        each
        for each in walk(told["tree"])
        if each["kind"] == "Comm" and each["messages_a"] and each["messages_b"] and each["label_a"] == "overlap_shift a"
    )
    assert (shift["messages_a"], shift["messages_b"]) == (50 * 20, 50 * 14)


def test_a_saved_prediction_is_a_prediction(esp, tmp_path):
    saved = tmp_path / "old.json"
    for extra, by in ((("--aau", "all"), "aaus"), ((), "lines")):
        assert esp("run", "laplace", "--procs", "8", "--json", *extra, "-q", "-o", str(saved))[0] == 0
        told = diff(esp, str(saved), "laplace --procs 8")
        assert told["by"] == by
        assert {each["change_s"] for each in walk(told["tree"])} == {0}
    assert "take the same time, part by part" in " ".join(esp("diff", str(saved), str(saved))[1].split())


def test_lines_that_went_and_came(esp, tmp_path):
    saved = tmp_path / "old.json"
    esp("run", "laplace", "--procs", "8", "--json", "-q", "-o", str(saved))
    told = diff(esp, str(saved), "laplace_bb", "--procs", "8")
    sides = {each["label_a"]: each["label_b"] for each in told["tree"]}
    assert sides["a = b"] is None
    assert sides["end program laplace"] == "end program laplace_bb"
    total = sum(each["change_s"] for each in told["tree"])
    assert total == pytest.approx(told["change_s"], rel=1e-9)


def test_everything_on_request(esp):
    few = esp("diff", "laplace", "laplace --bandwidth x2", "--procs", "8", "-q")[1]
    every = esp("diff", "laplace", "laplace --bandwidth x2", "--procs", "8", "-q", "--all")[1]
    assert "--all shows them" in " ".join(few.split())
    assert "--all" not in every
    assert every.count("\n") > few.count("\n") + 8


@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_wider_than_the_screen(width, esp, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    out = esp("diff", "laplace", "gauss", "--procs", "4", "--all", "-q")[1]
    assert [row for row in out.splitlines() if len(row) > width] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "this is not JSON. `esp run PROG --json` writes it."),
        ("{}", "this is not a prediction of `esp run --json`."),
        ("[1]", "this is not a prediction of `esp run --json`."),
        ('{"runs": []}', "this file has several predictions. Save each with --procs of one number."),
    ],
)
def test_files_that_are_no_prediction(content, message, esp, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    code, out, err = esp("diff", str(path), "laplace")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.json", "laplace"], "nowhere.json: cannot be read: no such file or directory."),
        (["laplace", "laplace --procs 1,2"], "--procs: each side takes one processor count."),
        (["laplace", "laplace --bandwith x2"], "Did you mean --bandwidth?"),
        (["laplace"], "the following arguments are required: B"),
    ],
)
def test_wrong_use(words, message, esp):
    code, out, err = esp("diff", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_a_distribution_on_one_side_only_tells_the_sides_apart(esp):
    code, out, _ = esp("diff", "laplace_bb", "laplace_bb --distribute TEMP=(BLOCK,*)", "--procs", "4", "-q")
    assert code == 0
    heads = " ".join(out.split("\n\n")[0].split())
    a, b = heads.split(" B laplace_bb")
    assert "--distribute" not in a
    assert "--distribute temp=(BLOCK,*)" in b


@pytest.mark.parametrize(
    ("a_s", "b_s", "told"),
    [(0.1 + 0.2, 0.3, 0.0), (0.3, 0.1 + 0.2, 0.0), (0.3, 0.3003, 0.3003 - 0.3), (0.0, 1e-15, 1e-15), (1.0, 0.0, -1.0)],
)
def test_what_rounding_leaves_is_no_difference(a_s, b_s, told):
    assert change(a_s, b_s) == told


def test_small_changes_that_cancel_leave_nothing(esp, tmp_path):
    """Two lines that trade 0.1 us: their changes add up to rounding."""
    said = run(esp, "laplace", "--procs", "4")
    said["aaus"] = []
    for name, by in (("a", 0.0), ("b", 1e-7)):
        one, two = said["lines"][:2]
        one["time_s"], two["time_s"] = 0.1 + by, 0.3 - by
        (tmp_path / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    code, out, _ = esp("diff", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "-q")
    assert code == 0
    assert ", 0 s together" in " ".join(out.split())
