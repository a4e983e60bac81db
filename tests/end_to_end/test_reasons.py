"""All reasons why a program is not predicted, in one go, each with its line and its own way out."""

import pytest

HEAD = """program p
  {}
  real :: a(8), b(8)
  integer :: m(8), k
!hpf$ distribute a({})
!hpf$ distribute b(block)
  a = 1
  call s(k, *10)
  call even(3)
  call each(b)
  call latter(k)
  call none(b)
  k = factorial(3)
10 continue
  print *, sum(a), sum(b)
end program
"""
REST = """recursive subroutine even(n)
  integer :: n
  if (n > 0) call odd(n - 1)
  return
  entry latter(n)
  n = 1
end subroutine
recursive subroutine odd(n)
  integer :: n
  if (n > 0) call even(n - 1)
end subroutine
recursive integer function factorial(n) result(f)
  integer :: n
  f = 1
  if (n > 1) f = n * factorial(n - 1)
end function
extrinsic(hpf_local) subroutine each(b)
  real :: b(:)
  b = 1
end subroutine
subroutine s(k, *)
  integer :: k
  if (k > 1) return 1
end subroutine
"""
READ = (
    ("8:3: W102 the alternate returns of s are", "return an INTEGER"),
    ("21:3: W102 ENTRY latter is not modelled", "make latter a procedure of its own"),
    ("39:3: W102 the alternate return 1", "return an INTEGER"),
)
CALLS = (
    ("10:3: W202 the body of each is", "write INDEPENDENT loops"),
    ("26:3: W202 the body of even is not interpreted (it is recursive: it calls itself through odd)", "as one loop"),
)
LOWERED = (
    ("11:3: W202 latter is an ENTRY of even", "a procedure of its own"),
    ("12:3: W202 found no subroutine none", "--cost none="),
    ("31:3: W206 the body of the function factorial is not interpreted (it is recursive)", "as a loop"),
)
INDIRECT = (("5:18: E314 DISTRIBUTE a: INDIRECT is not supported", "use BLOCK"),)


@pytest.mark.parametrize(
    ("formats", "use", "expected"),
    [
        ("block", "", (*READ, *CALLS, *LOWERED)),
        ("indirect(m)", "", (*INDIRECT, *READ, *CALLS)),
        ("indirect(m)", "use nowhere", (("2:7: E135 found no module nowhere", "name its file"), *INDIRECT, *READ)),
    ],
)
def test_every_reason_is_listed(formats, use, expected, esp, tmp_path):
    (tmp_path / "x.hpf").write_text(HEAD.format(use, formats) + REST)
    done = esp("run", "x.hpf", "--procs", "2")
    assert done.returncode == 1
    text = " ".join(done.stderr.split())
    for place, hint in expected:
        assert text.count(f"x.hpf:{place}") == 1
        assert hint in text.partition(f"x.hpf:{place}")[2].partition("x.hpf:")[0]
