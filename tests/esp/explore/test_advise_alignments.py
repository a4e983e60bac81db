"""Alignments that a program suggests, and what an alignment instead of the source's does."""

import pytest

import esp
from esp import api
from esp.explore.advise import advise_source, candidates_of, request_for
from esp.explore.advise_alignments import alignments_of
from esp.explore.choices import distributed_by

TRANSPOSED = """\
program turned
  integer, parameter :: n = 48
  double precision :: a(n,n), b(n,n), x(n), y(n+10), z(n)
  integer :: i, j, it
!HPF$ DISTRIBUTE (BLOCK,*) :: A, B
!HPF$ DISTRIBUTE (BLOCK) :: Y, Z
  forall (i=1:n, j=1:n) b(i,j) = i + 2*j
  forall (i=1:n) x(i) = i
  forall (i=1:n+10) y(i) = 3*i
  do it = 1, 3
    forall (i=1:n, j=1:n) a(i,j) = b(j,i) * x(j)
    forall (i=1:n) z(i) = y(i+10)
  end do
  print *, sum(a), sum(z)
end program
"""


def suggested(text, **options):
    source, system = api.read_source(text), api.load_machine("ipsc860")
    request = api.requested(4, **options)
    found, left_out = alignments_of(source, system, request, distributed_by(source, system, request))
    assert found[0].aligned == (), "the source's own comes first"
    return {each.shown for each in found[1:]}, left_out


def program(declarations, statement):
    return f"program p\n  integer, parameter :: n = 16\n{declarations}\n  {statement}\nend program\n"


A = "  real :: a(n,n), b(n,n), x(n)\n  integer :: i, j\n!HPF$ DISTRIBUTE A(BLOCK,BLOCK)\n"
ALIGNED = A + "!HPF$ ALIGN B(I,J) WITH A(I,J)\n"
LINE = "  real :: x(n), y(n+8)\n  integer :: i\n!HPF$ DISTRIBUTE (BLOCK) :: X, Y\n"


@pytest.mark.parametrize(
    ("declarations", "statement", "expected"),
    [
        (ALIGNED, "forall (i=1:n, j=1:n) a(i,j) = b(i,j)", set()),
        (ALIGNED, "forall (i=1:n, j=1:n) a(i,j) = b(j,i)", {"B(I,J) WITH A(J,I)"}),
        (ALIGNED, "a = transpose(b)", {"B(I,J) WITH A(J,I)"}),
        (ALIGNED, "forall (i=1:n, j=1:n) b(i,j) = a(j,i)", {"B(I,J) WITH A(J,I)"}),
        (ALIGNED, "forall (i=2:n, j=1:n) a(i,j) = b(i-1,j)", set()),  # does not fit inside a
        (A, "forall (i=1:n, j=1:n) a(i,j) = b(i,j)", {"B(I,J) WITH A(I,J)"}),
        (A, "forall (i=1:n, j=1:n) a(i,j) = x(j)", {"X(I) WITH A(*,I)"}),
        (A, "a(:,3) = x", {"X(I) WITH A(I,*)"}),
        (LINE, "forall (i=1:n) x(i) = y(i+5)", {"X(I) WITH Y(I+5)"}),
        (LINE, "x(1:n) = y(4:n+3)", {"X(I) WITH Y(I+3)"}),
        (LINE, "forall (i=1:n) y(5+i) = x(i)", {"X(I) WITH Y(I+5)"}),
        (LINE, "forall (i=1:n) x(i) = y(i+9-1)", set()),  # no single constant
        (LINE, "forall (i=1:n/2) x(i) = y(2*i)", set()),
    ],
)
def test_what_references_suggest(declarations, statement, expected):
    assert suggested(program(declarations, statement)) == (expected, 0)


def test_references_are_followed_through_other_arrays():
    text = program(
        "  real :: a(n,n), b(n,n), c(n,n)\n  integer :: i, j\n!HPF$ DISTRIBUTE (BLOCK,*) :: A, B, C",
        "forall (i=1:n, j=1:n) a(i,j) = b(j,i)\n  c = b",
    )
    both = {"B(I,J) WITH A(J,I)", "C(I,J) WITH A(J,I)"}
    assert suggested(text) == (both | {"B(I,J) WITH A(J,I), C(I,J) WITH A(J,I)"}, 0)


def test_what_moves_at_run_time_is_left_alone():
    text = program(
        A.replace("DISTRIBUTE A", "DYNAMIC B\n!HPF$ DISTRIBUTE A"),
        "forall (i=1:n, j=1:n) a(i,j) = b(j,i)\n!HPF$ REALIGN B(I,J) WITH A(J,I)",
    )
    assert suggested(text) == (set(), 0)


def test_many_are_cut_and_counted():
    names = "abcdef"
    text = program(
        f"  real :: r(n,n), {', '.join(f'{each}(n,n)' for each in names)}\n  integer :: i, j\n"
        f"!HPF$ DISTRIBUTE (BLOCK,*) :: R, {', '.join(names)}",
        "\n  ".join(f"forall (i=1:n, j=1:n) {each}(i,j) = r(j,i)" for each in names),
    )
    shown, left_out = suggested(text)
    assert len(shown) == 15
    assert left_out == 2**6 - 16


def test_an_alignment_replaces_that_of_the_source():
    source, system = api.read_source(TRANSPOSED), api.load_machine("ipsc860")
    request = api.requested(4)
    turned = [
        each
        for each in candidates_of(source, system, request, [4])[0]
        if each.alignment == "B(I,J) WITH A(J,I)" and each.choice.shown.startswith("A(BLOCK,*)")
    ]
    layouts = api.map_source(source, system, request_for(turned[0], request))
    assert layouts.arrays["b"].axes[0].dim == 1
    assert layouts.arrays["a"].axes[0].dim == 0


@pytest.mark.truth
def test_the_best_alignment_is_found_and_can_be_pasted():
    found = esp.advise(TRANSPOSED, procs=4, n=24)
    best = found.best
    assert "B(I,J) WITH A(J,I)" in best.candidate.alignment
    assert best.time_s < 0.9 * found.written.time_s
    kept = [line for line in TRANSPOSED.splitlines() if not line.startswith("!HPF$")]
    pasted = "\n".join([*kept[:4], *best.candidate.directives, *kept[4:]]) + "\n"
    assert esp.predict(pasted, procs=None, n=24).time_s == best.time_s


@pytest.mark.parametrize("text", ["lfk01", pytest.param(TRANSPOSED, marks=pytest.mark.truth)])
def test_with_alignments_too_the_advice_is_the_exhaustive_optimum(text):
    source, system = api.read_source(text), api.load_machine("ipsc860")
    request = api.requested(n=32)
    candidates, left_out = candidates_of(source, system, request, [4])
    assert not left_out
    assert any(each.aligned for each in candidates)
    times = []
    for at, each in enumerate(candidates):
        times.append((api.predict_source(source, system, request_for(each, request)).time_s, at))
    found = advise_source(source, system, request, [4], top=1)
    assert (found.best.time_s, candidates.index(found.best.candidate)) == min(times)


def test_off_leaves_alignments_alone():
    assert not any(each.candidate.aligned for each in esp.advise(TRANSPOSED, procs=4, align=False).ranked)
