"""Changing the mapping between parts: the best way through, what moving costs, and whether it pays."""

import json
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import esp
from esp import api
from esp.explore.advise_phases import _cheapest, _moves, _Unit, moving_s
from esp.output.advise_data import advice_json

PARTS = """\
program two
  integer, parameter :: n = 64
  integer, parameter :: k = 40
  double precision :: a(n,n), b(n,n)
  integer :: i, j, it
!HPF$ TEMPLATE T(N,N)
!HPF$ DISTRIBUTE T(BLOCK,*)
!HPF$ ALIGN A(I,J) WITH T(I,J)
!HPF$ ALIGN B(I,J) WITH T(I,J)
  forall (i=1:n, j=1:n) a(i,j) = i + j
  forall (i=1:n, j=1:n) b(i,j) = 1.0d0 / (i + j)
  do it = 1, k
    do j = 2, n
      forall (i=1:n) a(i,j) = a(i,j) - b(i,j) * a(i,j-1)
    end do
  end do
  do it = 1, k
    do i = 2, n
      forall (j=1:n) a(i,j) = a(i,j) - b(i,j) * a(i-1,j)
    end do
  end do
  print *, sum(a)
end program
"""

BY_HAND = (
    PARTS.replace("a(n,n), b(n,n)", "a(n,n), b(n,n), c(n,n), d(n,n)")
    .replace("!HPF$ TEMPLATE T(N,N)\n!HPF$ DISTRIBUTE T(BLOCK,*)\n", "!HPF$ DISTRIBUTE (BLOCK,*) :: A, B\n")
    .replace("!HPF$ ALIGN A(I,J) WITH T(I,J)\n!HPF$ ALIGN B(I,J) WITH T(I,J)\n", "!HPF$ DISTRIBUTE (*,BLOCK) :: C, D\n")
    .replace("  do it = 1, k\n    do i", "  c = a\n  d = b\n  do it = 1, k\n    do i")
    .replace("a(i,j) = a(i,j) - b(i,j) * a(i-1,j)", "c(i,j) = c(i,j) - d(i,j) * c(i-1,j)")
    .replace("sum(a)", "sum(c)")
)
"""The same, where the second half works on copies that are distributed otherwise."""

seconds = st.floats(0, 10)


@st.composite
def ways(draw):
    count = draw(st.integers(1, 3))
    times = st.tuples(*[seconds] * count)
    units = []
    for _ in range(draw(st.integers(1, 3))):
        inside = tuple(_Unit(first=0, last=0, times_s=draw(times)) for _ in range(draw(st.sampled_from([0, 0, 2, 3]))))
        total = tuple(map(sum, zip(*(each.times_s for each in inside), strict=True))) if inside else draw(times)
        units.append(_Unit(first=0, last=0, times_s=total, inside=inside, trips=draw(st.integers(1, 4))))
    cost = [[0.0 if a == b else draw(seconds) for b in range(count)] for a in range(count)]
    return units, cost, draw(st.integers(0, count - 1))


def total(units, cost, path):
    """Moves executed one after the other, trip by trip."""
    steps, taken, rest = [], 0.0, list(path)
    for unit in units:
        if not unit.inside:
            steps.append(rest[0])
            taken += unit.times_s[rest.pop(0)]
            continue
        inner = [rest.pop(0) for _ in unit.inside]
        taken += sum(part.times_s[at] for part, at in zip(unit.inside, inner, strict=True))
        steps += [*inner * unit.trips, inner[0]]  # it ends as it began
    moved = [cost[a][b] for a, b in pairwise(steps) if a != b]
    return taken, len(moved), sum(moved)


@given(ways())
def test_the_best_way_is_that_of_trying_all(given):
    units, cost, home = given
    found_s, path = _cheapest(units, cost, home, 1.0)
    leaves = sum(max(1, len(unit.inside)) for unit in units)
    tried = [total(units, cost, each) for each in product(range(len(cost)), repeat=leaves)]
    assert found_s == pytest.approx(min(taken + moved for taken, _, moved in tried))
    taken, moves, move_s = total(units, cost, path)
    assert taken + move_s == pytest.approx(found_s)
    assert _moves(units, path, cost) == (moves, pytest.approx(move_s))


def test_moving_costs_what_assigning_to_arrays_of_the_other_mapping_sends():
    system = api.load_machine("ipsc860")
    request = api.requested(8)
    source = api.read_source(PARTS)
    before, after = (
        api.map_source(source, system, api.requested(8, distribute={"t": formats}))
        for formats in ("(BLOCK,*)", "(*,BLOCK)")
    )
    by_hand = esp.predict(BY_HAND, procs=8)
    lines = BY_HAND.splitlines()
    copied = [each for each in by_hand.lines if lines[each.line - 1].strip() in ("c = a", "d = b")]
    parts = [each.parts for each in copied]
    assert len(parts) == 2
    sent_s = sum(each.communication_s + each.overhead_s + each.waiting_s for each in parts)
    assert moving_s(source, system, request, before, after) == pytest.approx(sent_s, rel=0.02)
    assert moving_s(source, system, request, before, before) == 0


def looked(text, **options):
    return esp.advise(text, procs=8, align=False, phases=True, distribute=["(BLOCK,*)", "(*,BLOCK)"], **options)


@pytest.fixture(scope="module")
def two():
    return looked(PARTS)


def test_where_it_pays_it_takes_what_the_program_written_by_hand_takes(two):
    found = looked(PARTS, k=100)
    told = found.phases
    assert told.pays
    assert told.break_even > 1
    assert [found.mappings[each.mapping].choice.shown for each in told.parts] == ["(BLOCK,*)", "(*,BLOCK)"]
    assert told.moves == 1
    by_hand_s = esp.predict(BY_HAND, procs=8, k=100).time_s
    assert by_hand_s < told.one_s
    assert told.parts_s + told.move_s == pytest.approx(by_hand_s, rel=0.05)
    assert "REDISTRIBUTE pays" in str(found)
    assert two.phases.move_s == pytest.approx(told.move_s), "moving does not depend on how long the parts take"


def test_the_break_even_is_where_it_does_not_matter(two):
    told = two.phases
    assert told.one_s == pytest.approx(min(each.time_s for each in two.ranked), rel=1e-12)
    assert told.parts_s + told.break_even * told.move_s == pytest.approx(told.one_s, rel=1e-5)
    assert told.pays == (told.break_even > 1)


def test_inside_a_loop_data_move_in_every_trip():
    text = PARTS.replace("  end do\n  do it = 1, k\n    do i", "    do i")
    found = looked(text)
    assert text.count("do it") == 1
    assert not found.phases.pays
    assert found.phases.break_even < 1
    assert "REDISTRIBUTE does not pay" in str(found)


def test_parts_add_up_to_the_prediction(two):
    assert two.phases.one_s == pytest.approx(two.best.time_s, rel=1e-12)


def test_incomplete_predictions_have_no_parts():
    found = looked(PARTS.replace("  do it = 1, k\n    do i", "  call outside(it)\n  do it = 1, k\n    do i"))
    assert not found.complete
    assert found.phases is None


@pytest.mark.parametrize("kind", ["integer", "logical", "complex(8)", "real"])
def test_arrays_of_all_types_can_move(kind):
    text = f"program p\n  {kind} :: a(16,16)\n!HPF$ DISTRIBUTE A(BLOCK,*)\n  a(1,1) = a(2,2)\nend program\n"
    source, system = api.read_source(text), api.load_machine("ipsc860")
    request = api.requested(4)
    before, after = (
        api.map_source(source, system, api.requested(4, distribute={"a": formats}))
        for formats in ("(BLOCK,*)", "(*,BLOCK)")
    )
    assert moving_s(source, system, request, before, after) > 0


def test_one_statement_has_no_parts():
    text = "program p\n  real :: a(64)\n!HPF$ DISTRIBUTE A(BLOCK)\n  a = 1.0\nend program\n"
    assert esp.advise(text, procs=4, phases=True).phases is None


def test_json_has_it(two):
    said = json.loads(advice_json(two))["phases"]
    assert said["pays"] == two.phases.pays
    assert said["one"]["processors"] == 8
    assert [each["time_s"] for each in said["parts"]] == [each.time_s for each in two.phases.parts]
    assert json.loads(advice_json(esp.advise("pi", procs=2)))["phases"] is None


def test_ctrl_c_while_looking_leaves_the_advice(monkeypatch):
    from esp.explore import advise as search

    seen = []
    make = search.interpret_stages

    def stopping(*arguments, **options):
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return make(*arguments, **options)

    monkeypatch.setattr(search, "interpret_stages", stopping)
    found = esp.advise("laplace", procs=8, n=24, top=1, phases=True)
    assert found.interrupted
    assert found.phases is None
    assert found.ranked
