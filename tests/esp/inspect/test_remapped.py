"""Arrays that a program remaps: no output proposes a name that the source does not have."""

import re

import pytest

TURNED = """program turn
  integer, parameter :: n = 16
  real :: a(n, n), b(n, n), c(n, n)
  integer :: i, j
!HPF$ PROCESSORS p(4)
!HPF$ DYNAMIC a, b
!HPF$ DISTRIBUTE a(BLOCK, *) ONTO p
!HPF$ DISTRIBUTE c(*, BLOCK) ONTO p
!HPF$ ALIGN b(i, j) WITH a(i, j)
  a = 1.0
  b = 2.0
  c = 3.0
!HPF$ REALIGN b(i, j) WITH c(i, j)
  b = b + c
  a = a + b
  forall (i = 1:n, j = 1:n) a(i, j) = b(j, i) + c(i, j)
!HPF$ REDISTRIBUTE a(*, CYCLIC) ONTO p
  a(2:n, :) = a(1:n-1, :) + c(2:n, :)
  call work(a)
  print *, sum(a)
contains
  subroutine work(x)
    real :: x(16, 16), y(16, 16)
!HPF$ DISTRIBUTE x(BLOCK, *)
!HPF$ DISTRIBUTE y(*, BLOCK)
    y = x
    x = y + 1.0
  end subroutine work
end program turn
"""

SWEPT = """program adi
  integer, parameter :: n = 16
  real :: u(n, n)
  integer :: i, j, it
!HPF$ PROCESSORS p(4)
!HPF$ DYNAMIC u
!HPF$ DISTRIBUTE u(*, BLOCK) ONTO p
  u = 1.0
  do it = 1, 2
    do j = 1, n
      do i = 2, n
        u(i, j) = u(i, j) + u(i-1, j)
      end do
    end do
!HPF$ REDISTRIBUTE u(BLOCK, *) ONTO p
    do j = 2, n
      do i = 1, n
        u(i, j) = u(i, j) + u(i, j-1)
      end do
    end do
!HPF$ REDISTRIBUTE u(*, BLOCK) ONTO p
  end do
  print *, sum(u)
end program adi
"""

COMMANDS = (
    "layout -",
    "layout - --array zz",
    "query - --array zz",
    "run -",
    "run - --set zz=3",
    "run - --distribute zz=(BLOCK,*)",
    "whatif - --bandwidth x2",
    "compare - --size none",
    "compare - --size none --json",
    "advise - --top 1 --align off",
)


@pytest.mark.sampled
@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize(
    "text", [pytest.param(TURNED, id="turned"), pytest.param(SWEPT, id="swept", marks=pytest.mark.truth)]
)
def test_no_name_is_shown_that_cannot_be_written(text, words, esp):
    first, *rest = words.split()
    _, out, err = esp(first, *rest, "--procs", "4", stdin=text)
    assert re.findall(r"\w+\$\w*", re.sub(r"[!C]HPF\$", "", out + err)) == []


@pytest.mark.parametrize("name", ["adi", "implicit"])
def test_bundled_programs_that_remap_have_only_names_of_the_source(name, esp):
    code, out, _ = esp("layout", name, "--procs", "4")
    assert code == 0
    assert "$" not in out


def test_what_the_program_itself_moves_is_not_misaligned(esp):
    """Only u moves, between two mappings that the program gives it."""
    code, out, _ = esp("layout", "-", "--procs", "4", stdin=SWEPT)
    assert code == 0
    assert "misaligned" not in out
    assert "ALIGN" not in out


def test_what_is_remapped_is_not_to_be_aligned(esp):
    """b lies as c does when it meets a: no ALIGN of a declaration can change that."""
    code, out, _ = esp("layout", "-", "--procs", "4", stdin=TURNED)
    told = " ".join(out.split())
    assert code == 0
    assert "misaligned b(i1, i2) and a(i1, i2) are mapped differently" in told
    assert "see the statements that remap or pass b" in told
    assert not re.search(r"ALIGN b with a(?! transposed)", told)


def test_a_query_finds_all_versions_of_an_array(esp):
    code, out, _ = esp("query", "-", "--array", "b", "--procs", "4", stdin=TURNED)
    assert code == 0
    assert {line.split()[1] for line in out.splitlines() if " Comm " in line} == {"13", "15"}
