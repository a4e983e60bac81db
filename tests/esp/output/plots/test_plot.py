"""Pictures of one prediction: a timeline and a matrix that have the times and bytes of the trace, and a roofline."""

import numpy as np
import pytest

import esp
from esp import api
from esp.cli.main import main
from esp.errors import PredictionError
from esp.output.plots import balance, timeline
from esp.prediction import first
from esp.traces.record import predicted_trace
from tests.esp.output.plots.looking import assert_readable, curve_names

SHIFT = """\
program shift
  integer, parameter :: n = 64
  real(8) :: a(n), b(n)
!hpf$ distribute a(block)
!hpf$ align b(i) with a(i)
  b = 1.0d0
  forall (i = 2:n) a(i) = b(i-1)
end program shift
"""

ADD = """\
program add
  integer, parameter :: n = 4096
  real(8) :: a(n), b(n), c(n)
!hpf$ distribute a(block)
!hpf$ align (i) with a(i) :: b, c
  a = b + c
end program add
"""


def _trace(program, procs, **options):
    source, system = api.read_source(program), api.load_machine("ipsc860")
    request = api.requested(procs, **options)
    return predicted_trace(api.lower_source(source, system, request), system, request)[0]


@pytest.fixture
def command(capsys):
    """`command("plot", ...)` -> exit code, standard output, standard error."""

    def run(*words):
        code = main(list(words))
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def gauss():
    return _trace("gauss", 4, n=12)


def test_the_matrix_of_a_shift():
    """Each processor but the last sends one element of 8 bytes to the next one."""
    found = timeline.matrix(_trace(SHIFT, 4))
    assert found.tolist() == [[0, 8, 0, 0], [0, 0, 8, 0], [0, 0, 0, 8], [0, 0, 0, 0]]


def test_the_matrix_is_drawn(gauss):
    found = timeline.traffic(gauss)
    drawn = np.ma.filled(found.axes[0].collections[0].get_array(), 0)
    assert drawn.tolist() == timeline.matrix(gauss).tolist()
    assert drawn.sum() == esp.predict("gauss", procs=4, n=12).bytes
    assert_readable(found)


def test_a_program_without_messages_has_no_matrix():
    with pytest.raises(PredictionError, match="no processor sends a message"):
        timeline.traffic(_trace("pi", 1))


def test_a_timeline_has_the_events_of_the_trace(gauss):
    found = timeline.timeline(gauss)
    drawn = sorted(
        (round(float(y.mean())), float(x.min()), float(x.max()))
        for pieces in found.axes[0].collections
        if type(pieces).__name__ != "LineCollection"
        for x, y in (path.vertices.T for path in pieces.get_paths())
    )
    events = zip(gauss.rank.tolist(), gauss.begin.tolist(), gauss.end.tolist(), strict=True)
    expected = sorted(each for each in events if each[2] > each[1])
    assert np.array(drawn) == pytest.approx(np.array(expected), abs=1e-12)
    (lines,) = [each for each in found.axes[0].collections if type(each).__name__ == "LineCollection"]
    assert len(lines.get_segments()) == esp.predict("gauss", procs=4, n=12).messages
    assert_readable(found)


def test_a_part_of_a_timeline(gauss):
    middle = float(gauss.end.max()) / 2
    found = timeline.timeline(gauss, start_s=middle / 2, stop_s=middle)
    assert found.axes[0].get_xlim() == (middle / 2, middle)
    assert_readable(found)
    with pytest.raises(PredictionError, match="nothing happens"):
        timeline.timeline(gauss, start_s=3 * middle, stop_s=4 * middle)


@pytest.mark.parametrize("procs", [8, 70])
def test_shares_stand_for_many_events(procs, monkeypatch):
    monkeypatch.setattr(timeline, "_MOST_EVENTS", 10)
    found = timeline.timeline(_trace("gauss", procs, n=20))
    assert (f"{min(procs, 64)} of them shown" in found.axes[0].get_title(loc="left")) == (procs > 64)
    assert_readable(found)


def test_shares_by_hand():
    """Row 0 calculates from 0 to 3 and waits to 4; row 1 communicates from 1 to 2."""
    events = (np.array([0, 0, 1]), np.array([0, 2, 1]), np.array([0.0, 3.0, 1.0]), np.array([3.0, 4.0, 2.0]))
    found = timeline.shares(events, 2, np.array([0.0, 2.0, 4.0]))
    assert found[0].tolist() == [[1, 0.5], [0, 0], [0, 0.5], [0, 0]]
    assert found[1].tolist() == [[0, 0], [0.5, 0], [0, 0], [0, 0]]


def test_the_balance_of_an_addition():
    prediction = esp.predict(ADD, procs=4)
    (line,) = balance.balances(prediction)
    (time_s,) = (first(each.parts.time_s) for each in prediction.lines if each.line == 6)
    assert line.flops_per_s == pytest.approx(4096 / 4 / time_s)
    assert line.per_message_byte is None
    # Three arrays of 4096 numbers of 8 bytes, too large to stay in the cache of 8 kB: at least two are read.
    assert 4096 / (4 * 8 * 4096) < line.per_memory_byte <= 4096 / (2 * 8 * 4096)


def test_roofs_are_the_figures_of_the_machine():
    prediction = esp.predict("laplace", procs=8, n=64)
    roofs = balance.roofs(prediction)
    figures = prediction.counts.figures
    assert roofs.flops == pytest.approx(1 / min(figures[f"processor.{op}"].seconds[0] for op in balance.ARITHMETIC))
    twice = balance.roofs(esp.predict("laplace", procs=8, n=64, bandwidth="x2", processor_speed="x2"))
    assert twice.flops == pytest.approx(2 * roofs.flops)
    assert twice.message_bytes == pytest.approx(2 * roofs.message_bytes)
    assert twice.memory_bytes == pytest.approx(roofs.memory_bytes)


@pytest.mark.parametrize("program", ["laplace", pytest.param("gauss", marks=pytest.mark.truth), "lfk09"])
def test_a_balance_is_drawn(program):
    prediction = esp.predict(program, procs=4)
    found = balance.figure(prediction)
    lines = [each for each in balance.balances(prediction) if each.per_memory_byte or each.per_message_byte]
    axes = found.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert sorted(curve_names(found)) == sorted(each.name for each in lines)
    heights = {float(line.get_ydata()[0]) for line in axes.get_lines()}
    assert {each.flops_per_s for each in lines} <= heights
    assert_readable(found)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("timeline pi", 2, "a picture needs a file"),
        ("timeline pi -o x.gif", 2, "'x.gif' is not the name of a picture"),
        ("timeline pi -o x.svg --from soon", 2, "--from"),
        ("balance pi -o x.svg --to 1ms", 2, "balance is about the whole program"),
        ("messages pi --procs 1 -o x.svg", 1, "no processor sends a message"),
        ("messages pi --procs 1,2 -o x.svg", 2, "a picture takes one processor count"),
    ],
)
def test_what_esp_plot_refuses(words, code, told, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, out, err = command("plot", *words.split())
    assert (found, out) == (code, "")
    assert told in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_trace_is_drawn_as_its_prediction(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("trace", "gauss", "--procs", "2", "--set", "n=8", "-o", "a.trace")[0] == 0
    assert command("plot", "messages", "a.trace", "-o", "a.svg")[0] == 0
    assert command("plot", "messages", "gauss", "--procs", "2", "--set", "n=8", "-o", "b.svg")[0] == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_every_command_of_the_page_is_an_example_of_the_help(command, root, monkeypatch):
    page = (root / "docs" / "plots.md").read_text(encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = command("plot", "--help")
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > 80] == []
    commands = [line.strip() for line in page.splitlines() if line.startswith("    esp plot")]
    assert len(commands) == 4
    assert all(each.replace(" -o balance.pdf", "") in out for each in commands)
