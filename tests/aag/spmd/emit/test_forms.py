"""Small programs with what the benchmarks lack, and what the text of a node program looks like."""

from pathlib import Path

import pytest

from aag.pipeline import read_program
from aag.spmd.emit import Nodes, NotEmitted, emit
from esp import api
from esp.api import Request
from esp.building import emitted
from esp.validate.answer import difference
from esp.validate.counts import predicted
from esp.validate.given import GivenInput
from sag.scenario import Scenario
from sag.schema import COLLECTIVES
from tests.aag.spmd.emit.batch import check_batch, run_batch, run_emissions
from tests.aag.spmd.emit.native import check, lowered
from tests.aag.spmd.emit.test_benchmarks import source, values

FOLDER = Path(__file__).parent / "programs"


NAMES = """
    names types turns copies ours output clashes lasting after storage kinds shifts left_early logicals twice products
    inquiries guarded coupled skipped workspace procedures module_procedures mapped_dummies calls_in_loops remapped
    restored strides remapping_calls functions_anywhere dimensions three_deep two_mappings equal_names
    gathered scattered sparse two_turns columns particles components complex_pairs nested_types derived_dummies
    types_remapped types_inside beside literal_kinds texts common_sizes sums_of_sums left_private pivots
    sums_into_arrays deposits histograms replicated_targets
    generics array_functions renamed inner_procedures
    allocations
    sequences long_functions aligned_parts kept_masks long_literals
    two_products pivot_search infinite slanted short_sums skipped_values
""".split()
KERNELS = "beside matmul shallow life heat_sub qr fft_transpose".split()

FUNCTION = "integer function {0}(of)\ninteger :: of(:)\n{0} = of(1)\nend function {0}"
CALLED = f"x = {{0}}((/ (a(x), x = 1, 9, 2) /))\ncontains\n{FUNCTION}"
"""The body of such a function cannot stand where it is called: its argument is an expression of unknown shape."""

UNKNOWN = (
    "names.hpf",
    "left_private.hpf",
    "pivots.hpf",
    "pivot_search.hpf",
    "guarded.hpf",
    "skipped.hpf",
    "procedures.hpf",
    "remapped.hpf",
)
"""Programs whose data decide their flow."""


MORE = ((1, 0), (1, 1), (3, 0), (3, 1), (4, 0), (5, 0), (5, 1), (6, 0))


@pytest.mark.slow
@pytest.mark.parametrize(("procs", "first"), [(2, 0), *(pytest.param(*each, marks=pytest.mark.truth) for each in MORE)])
def test_programs(procs, first, native, system):
    names = [*(NAMES[first::2] if procs % 2 else KERNELS), *(["functions"] if procs != 5 else [])]
    read = [read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf") for name in names]
    requests = [(each, Request(procs=procs)) for each in read]
    check_batch(native, system, requests, answer_only=UNKNOWN)


def test_general_blocks(native, system):
    program = read_program((FOLDER / "general_blocks.hpf").read_text(), "general_blocks.hpf")
    check(native, program, system, 3)


@pytest.mark.parametrize("procs", [1, *(pytest.param(each, marks=pytest.mark.truth) for each in (2, 3)), 6])
def test_input_goes_where_it_belongs(procs, native, system):
    program = read_program((FOLDER / "input.hpf").read_text(), "input.hpf")
    given = GivenInput((FOLDER / "input.txt").read_text())
    check(native, program, system, procs, values={"count": 4, "late": 5}, given=given)


def assert_same(expected, answer):
    assert difference(expected, answer) == ""


def test_source_lines_stand_beside_what_became_of_them():
    program = source("laplace")
    text = emit(lowered(program, 4, values("laplace", 12))).files["laplace.f90"]
    for number, line in enumerate(program.lines[26:45], start=27):
        if line.strip() and not line.strip().startswith(("!", "end", "b(i, j)")):
            assert f"! {number:4}  {line.strip()}" in text


def test_storage_is_the_own_part_and_its_overlap_area():
    text = emit(lowered(source("laplace"), 4, values("laplace", 12))).files["laplace.f90"]
    assert "call esp_store(map_a, 1, 1, 1)" in text
    assert "call esp_store(map_b, 1, 0, 0)" in text


def test_multipliers_of_gauss_go_to_a_buffer_and_the_matrix_is_packed():
    text = emit(lowered(source("gauss"), 4, values("gauss", 12))).files["gauss.f90"]
    assert "a(i, a_at2(j)) = a(i, a_at2(j)) - a_far1(i, k) * a(k, a_at2(j))" in text
    assert "call esp_pack(map_a, 1, a_at2)" in text


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("read (*, *, end=9) x", "END="),
        ("read (*, nml=some)", "NAMELIST"),
        ("call other(x)", "other"),
        ("call random_number(a)", "RANDOM_NUMBER"),
        ("a = grade_up(a)", "GRADE_UP"),
        ("print *, (sum(a(1:i)), i = 1, 2)", "SUM of what an implied DO selects"),
        (CALLED.format("total"), "total"),
    ],
)
def test_what_cannot_be_written_is_refused(statement, reason):
    (found,) = refusals(statement)
    assert reason in found.message
    assert found.span.line == 5
    assert found.span.column
    assert found.source_line == statement.partition("\n")[0]


def refusals(statement):
    first, _, rest = statement.partition("\n")
    lines = ["program p", "integer :: x, a(9)", "!hpf$ distribute a(block)", "a = 1", first, "print *, x", rest]
    text = "\n".join([*lines, "end program p"]) + "\n"
    with pytest.raises(NotEmitted) as refused:
        emit(lowered(read_program(text, "p.hpf"), 2))
    return refused.value.diagnostics


def test_all_that_cannot_be_written_is_refused_at_once():
    read = "read (*, *, err=9) x"
    statement = f"{read}\nif (x > 1) then\na = grade_up(a)\ncall other(x)\nend if\n{read}\nopen (7, err=9)"
    found = [(each.span.line, each.message.partition(": ")[2]) for each in refusals(statement)]
    assert [line for line, _ in found] == [5, 8, 9, 12]
    assert found[0][1].endswith("READ statements with ERR=, END= or EOR=; also in line 11")
    assert found[3][1] == "OPEN statements with ERR=, END= or EOR="


def test_files_are_opened_by_rank_0(native):
    lines = [
        "program p",
        "real :: a(4)",
        "!hpf$ distribute a(block)",
        "a = 1",
        "open (7, file='told')",
        "write (7, *) sum(a)",
        "rewind (7)",
        "close (7)",
        "end program p",
    ]
    answer, _ = native.answer(lowered(read_program("\n".join(lines) + "\n", "p.hpf"), 2))
    assert answer == ""
    assert (native.folder / "program" / "told").read_text().split() == ["4.00000000"]


def test_no_program_is_called_like_something_else(native):
    names = ["run", "clean", "makefile", "counters", "mpi", "esp_mine"]
    lines = ["real :: a(4)", "!hpf$ distribute a(block)", "a = 1", "print *, '{0}', sum(a)"]
    text = "\n".join(["program {0}", *lines, "end program {0}"]) + "\n"
    programs = [lowered(read_program(text.format(name), "p.hpf"), 2) for name in names]
    for name, emission in zip(names, map(emit, programs), strict=True):
        assert emission.name != name
        assert f"{name}.f90" not in emission.files
    answers = [each.answer.split() for each in run_batch(native, programs, 2)]
    assert answers == [[name, "4.00000000"] for name in names]


def test_a_function_like_an_intrinsic_one_is_refused():
    messages = [found.message for found in refusals(CALLED.format("max"))]
    assert any("the function max has the name of an intrinsic function" in each for each in messages)


CUBE, MESH = Nodes(box=(2, 2, 2), of=(0, 7, 3, 2, 6)), Nodes(box=(3, 3), of=(8, 7, 6, 3, 0))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("broadcast", "reduction", "concatenation", "gather", "nodes"),
    [
        ("linear", "linear", "ring", "linear", MESH),
        ("binomial", "binomial", "binomial", "auto", None),
        ("auto", "auto", "auto", "auto", CUBE),
        ("auto", "auto", "auto", "auto", MESH),
    ],
)
def test_algorithms_of_collectives_may_be_others(broadcast, reduction, concatenation, gather, nodes, native):
    chosen = {"broadcast": broadcast, "reduction": reduction, "concatenation": concatenation, "gather": gather}
    programs = [read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf") for name in ("copies", "names")]
    emissions = [emit(lowered(each, 5), chosen, nodes=nodes, poisons=True) for each in programs]
    for program, ran in zip(programs, run_emissions(native, emissions, 5), strict=True):
        assert_same(native.expected("\n".join(program.lines) + "\n"), ran.answer)


@pytest.mark.parametrize("procs", [5, 8])
@pytest.mark.parametrize("place", range(max(map(len, COLLECTIVES.values()))))
def test_every_algorithm_of_a_machine_is_that_of_the_library(place, procs, native, system):
    """Messages are those predicted, whatever word a machine file has: each of them in some run."""
    given = {
        f"cube.network.collectives.{kind}.algorithm": words[place % len(words)] for kind, words in COLLECTIVES.items()
    }
    scenario = Scenario(sets=tuple(given.items()))
    files = {str(FOLDER / f"{name}.hpf"): {} for name in ("copies", "names")}
    files |= {f"{name}.hpf": values(name, 12) for name in ("gauss", "laplace", "pi")}
    sources = [api.read_source(file) for file in files]
    requests = [Request(procs=procs, values=each, scenario=scenario) for each in files.values()]
    emissions = [emitted(*each) for each in zip(sources, [system] * len(sources), requests, strict=True)]
    for program, request, ran in zip(sources, requests, run_emissions(native, emissions, procs), strict=True):
        assert ran.counts == predicted(program, system, request).counts, (program.program.file, given)


def test_inspector_of_a_multicast_walks_what_moves_and_not_who_computes_with_it():
    text = emit(lowered(source("gauss"), 4, values("gauss", 12))).files["gauss.f90"]
    assert text.count("exit ! the same for all j") == 1
    text = emit(lowered(source("laplace"), 4, values("laplace", 12))).files["laplace.f90"]
    assert "the same for all" not in text


HIDDEN = """\
program hidden
  integer, parameter :: n = 12
  integer :: a(n), b(n), c(n), d(n), e(n), i
!hpf$ distribute a(block)
  forall (i = 1:n) a(i) = mod(3*i, 7)
  forall (i = 1:n) c(i) = mod(i, 3)
  b = a
  d = b
  forall (i = 2:n) b(i) = near(i)
  print *, b
  d = b
  where (mod(a, 2) == 1) b = near(a)
  print *, b
  e = c
  forall (i = 2:n, above(i) > 0)
    c(i) = -i
    b(i) = c(i)
  end forall
  print *, b, c
contains
  elemental integer function near(k)
    integer, intent(in) :: k
    integer :: q
    near = 0
    do q = k - 1, k
      near = near + {0}(max(1, q))
    end do
  end function
  elemental integer function above(k)
    integer, intent(in) :: k
    above = 0
    if ({1}(k) > 0) above = {1}(k - 1)
  end function
end program
"""


def test_values_are_computed_first_where_functions_read_what_is_assigned(native):
    # gfortran itself overlooks what functions read of their host, so the serial program reads copies.
    program = read_program(HIDDEN.format("b", "c"), "hidden.hpf")
    answer, _ = native.answer(lowered(program, 3))
    assert_same(native.expected(HIDDEN.format("d", "e")), answer)
