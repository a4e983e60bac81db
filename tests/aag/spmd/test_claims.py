"""INDEPENDENT, NEW and REDUCTION are checked: what is false is an error, what data decide is trusted and noted."""

import pytest

from aag.diagnostics import SourceError
from aag.pipeline import Options, Overrides, lower, read_program
from aag.spmd.nodes import walk

HEAD = """program p
  implicit none
  integer, parameter :: n = 12
  real(8) :: a(n), b(n), c(n,n), d(n), s, t
  integer :: i, j, k, ix(n)
!HPF$ DISTRIBUTE (BLOCK) :: A, B
!HPF$ DISTRIBUTE (*,BLOCK) :: C
"""

FALSE = {
    "a recurrence": (
        """!HPF$ INDEPENDENT
  do i = 2, n
    a(i) = a(i-1)*0.5d0 + 1
  end do""",
        "the loop over i is not INDEPENDENT: i=3 reads a(2), which i=2 assigns",
    ),
    "an element that an iteration reads before another assigns it": (
        """!HPF$ INDEPENDENT
  do i = 1, n - 1
    a(i) = a(i+1)
  end do""",
        "the loop over i is not INDEPENDENT: i=1 reads a(2), which i=2 assigns",
    ),
    "two iterations that assign one element": (
        """!HPF$ INDEPENDENT
  do i = 1, n
    a(i/2 + 1) = b(i)
  end do""",
        "the loop over i is not INDEPENDENT: i=2 and i=3 both assign a(2)",
    ),
    "a triangle whose row feeds the next": (
        """!HPF$ INDEPENDENT(i)
  do j = 1, n
    do i = j + 1, n
      c(i,j) = c(i-1,j) + 1
    end do
  end do""",
        "the loop over i is not INDEPENDENT: i=3 reads c(2,1), which i=2 assigns",
    ),
    "in a loop that runs for some iterations of the one around": (
        """  do j = 1, n
!HPF$ INDEPENDENT
    do i = 12 - j, 1, -1
      a(i) = a(i+1) + 1
    end do
  end do""",
        "the loop over i is not INDEPENDENT: i=1 reads a(2), which i=2 assigns",
    ),
    "a REDUCTION variable that is added to and multiplied": (
        """!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, n
    s = s + a(i)
    b(i) = 1
    s = s*2
  end do""",
        "s is not a REDUCTION variable: line 12 combines it in another way",
    ),
    "a REDUCTION variable that is taken away from something": (
        """!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, n
    s = a(i) - s
  end do""",
        "s is not a REDUCTION variable: line 10 uses it for more than an update such as s = s + ...",
    ),
    "a NEW variable that has no value yet": (
        """!HPF$ INDEPENDENT, NEW(t)
  do i = 1, n
    a(i) = t
    t = b(i)
  end do""",
        "t is NEW, but an iteration reads it (line 10) before assigning it",
    ),
    "a scalar from iteration to iteration": (
        """!HPF$ INDEPENDENT
  do i = 1, n
    a(i) = t
    t = b(i)
  end do""",
        "the loop over i is not INDEPENDENT: each iteration reads t (line 10), which the one before assigns",
    ),
    "an array that is not distributed": (
        "!HPF$ INDEPENDENT\n  do i = 2, n\n    d(i) = d(i-1)\n  end do",
        "the loop over i is not INDEPENDENT: i=3 reads d(2), which i=2 assigns",
    ),
    "a sum of what the iterations before assign": (
        "!HPF$ INDEPENDENT\n  do i = 2, n\n    b(i) = sum(b(1:i-1))\n  end do",
        "the loop over i is not INDEPENDENT: i=3 reads b(2), which i=2 assigns",
    ),
    "a reduction of all elements": (
        "!HPF$ INDEPENDENT\n  do i = 1, n\n    b(i) = maxval(b) + i\n  end do",
        "the loop over i is not INDEPENDENT: i=2 reads b(1), which i=1 assigns",
    ),
    "the mask of a reduction": (
        "!HPF$ INDEPENDENT\n  do i = 1, n - 1\n    b(i) = sum(a(1:i), mask=b(2:i+1) > 3)\n  end do",
        "the loop over i is not INDEPENDENT: i=3 reads b(2), which i=2 assigns",
    ),
    "a product with earlier columns": (
        "!HPF$ INDEPENDENT\n  do i = 2, n\n    c(:,i) = matmul(c(:,1:i-1), b(1:i-1))\n  end do",
        "the loop over i is not INDEPENDENT: i=3 reads c(1,2), which i=2 assigns",
    ),
    "a FORALL that reads what another index assigns": (
        "!HPF$ INDEPENDENT\n  forall (i = 2:n) a(i) = a(i-1)",
        "the FORALL over i is not INDEPENDENT: i=3 reads a(2), which i=2 assigns",
    ),
    "the second index of a FORALL": (
        "!HPF$ INDEPENDENT\n  forall (i = 2:n, j = 2:n) c(i,j) = c(i,j-1)",
        "the FORALL over j is not INDEPENDENT: j=3 reads c(2,2), which j=2 assigns",
    ),
    "two assignments of a FORALL": (
        "!HPF$ INDEPENDENT\n  forall (i = 2:n)\n    a(i) = 1\n    b(i) = a(i-1)\n  end forall",
        "the FORALL over i is not INDEPENDENT: i=3 reads a(2), which i=2 assigns",
    ),
    "a FORALL in a triangle": (
        "do i = 1, n\n  do k = i, n\n!HPF$ INDEPENDENT\n  forall (j = i:n) c(k,j) = c(k,n)\n  end do\nend do",
        "the FORALL over j is not INDEPENDENT: j=1 reads c(1,12), which j=12 assigns",
    ),
    "a REDUCTION variable that is read": (
        """!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, n
    s = s + b(i)
    a(i) = s
  end do""",
        "s is not a REDUCTION variable: line 11 uses it for more than an update such as s = s + ...",
    ),
}

TRUE = {
    "other elements": "!HPF$ INDEPENDENT\n  do i = 1, n/2\n    a(2*i) = a(2*i-1)\n  end do",
    "a bound that the reduction changes": (
        "j = 2\n!HPF$ INDEPENDENT, REDUCTION(j)\n  do i = 5, j, -1\n    j = j - 1\n  end do"
    ),
    "one iteration": "!HPF$ INDEPENDENT\n  do i = 2, 2\n    a(i) = a(i-1)\n  end do",
    "no iteration": "!HPF$ INDEPENDENT\n  do i = 5, 4\n    a(i) = a(i-1)\n  end do",
    "a condition keeps them apart": "!HPF$ INDEPENDENT\n  do i = 2, n\n    if (i == 7) a(i) = a(i-1)\n  end do",
    "never reached": "if (s > 0) then\n!HPF$ INDEPENDENT\n  do i = 2, n\n    a(i) = a(i-1)\n  end do\nend if",
    "after the way out": "if (s > 0) stop\n!HPF$ INDEPENDENT\n  do i = 2, n\n    a(i) = a(i-1)\n  end do",
    "a triangle": "!HPF$ INDEPENDENT\n  do i = 2, n\n    do j = 1, i - 1\n      c(j,i) = c(i,j)\n    end do\n  end do",
    "a way out before the iterations that meet": (
        "do j = 1, n\n!HPF$ INDEPENDENT\n  do i = 1, j\n    a(2) = b(i)\n  end do\n  if (j == 1) stop\nend do"
    ),
    "a sum of other elements": "!HPF$ INDEPENDENT\n  do i = 1, n/2\n    b(2*i) = sum(b(1:2*i-1:2))\n  end do",
    "a condition with a sum": "!HPF$ INDEPENDENT\n  do i = 2, n\n    if (sum(b(1:i-1)) > 4) b(i) = 1\n  end do",
    "a FORALL that reads its own element": "!HPF$ INDEPENDENT\n  forall (i = 2:n) a(i) = a(i)*b(i-1)",
    "a FORALL of sections": "!HPF$ INDEPENDENT\n  forall (i = 2:n) c(i,2:n) = c(i,1:n-1)",
    "a FORALL on one side of the diagonal": "!HPF$ INDEPENDENT\n  forall (i = 1:n, j = 1:n, i > j) c(i,j) = c(j,i)",
    "a FORALL with a mask of data": "!HPF$ INDEPENDENT\n  forall (i = 2:n, b(i) > 3) a(i) = a(i-1)",
    "another index of a FORALL": "!HPF$ INDEPENDENT(j)\n  forall (i = 2:n, j = 1:n) c(i,j) = c(i-1,j)",
    "data decide": "!HPF$ INDEPENDENT\n  do i = 2, n\n    if (b(i) > 0) a(i) = a(i-1)\n  end do",
}


def lowered(body, **options):
    program = read_program(f"{HEAD}{body}\nend program p\n", "p.hpf")
    return lower(program, Overrides(procs=4), 4, Options(**options))


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_an_error_at_the_directive(name):
    body, message = FALSE[name]
    with pytest.raises(SourceError) as caught:
        lowered(body)
    (found,) = caught.value.diagnostics
    line = next(at for at, text in enumerate(f"{HEAD}{body}".splitlines(), 1) if "INDEPENDENT" in text)
    assert (found.code, found.span.line, found.message) == ("E320", line, message)
    assert "trust_directives" in found.hint


UNCERTAIN = {
    "in a WHILE loop": "k = 0\ndo while (k < 3)\n{}\nk = k + 1\nend do",
    "under an IF": "if (s > 0) then\n{}\nend if",
    "behind a STOP": "if (s > 0) stop\n{}",
}


@pytest.mark.parametrize("around", UNCERTAIN)
def test_a_claim_that_is_false_where_the_program_may_get_is_not_followed(around):
    false = "!HPF$ INDEPENDENT\n  do i = 2, n\n    a(i) = a(i-1)*0.5d0\n  end do"
    program = lowered(UNCERTAIN[around].format(false))
    plain = lowered(UNCERTAIN[around].format(false.partition("\n")[2]))
    (note,) = [each.message for each in program.notes if each.code == "W217"]
    assert note == "the loop over i is not INDEPENDENT: i=3 reads a(2), which i=2 assigns; the claim is not followed"
    assert [type(each) for each in walk(program.body)] == [type(each) for each in walk(plain.body)]
    trusting = lowered(UNCERTAIN[around].format(false), trusts_directives=True)
    assert "W217" not in {each.code for each in trusting.notes}


def test_no_loop_of_a_false_claim_is_followed():
    """The claim lists two loops, and is false of both."""
    nest = "do j = 2, n\n  do i = 2, n\n    c(i,j) = c(i-1,j) + c(i,j-1)\n  end do\nend do"
    around = "k = 0\ndo while (k < 3)\n{}\nk = k + 1\nend do"
    claimed, plain = (lowered(around.format(text)) for text in (f"!HPF$ INDEPENDENT(i,j)\n{nest}", nest))
    assert len([each for each in claimed.notes if each.code == "W217"]) == 1
    assert not [each for each in claimed.notes if each.code == "W210"]
    assert [type(each) for each in walk(claimed.body)] == [type(each) for each in walk(plain.body)]


def test_a_condition_may_choose_the_iterations_in_which_a_claim_is_true():
    body = (
        "do j = 1, n\nif (j == 1) then\n!HPF$ INDEPENDENT\n  do i = 1, n\n    a(i) = a(i+1-j)\n  end do\nend if\nend do"
    )
    assert "W217" not in {each.code for each in lowered(body).notes}


CONCURRENT = {
    "an element that another iteration assigns": (
        "do concurrent (i = 1:n-1)\n a(i) = a(i+1)\n end do",
        "the loop over i is no DO CONCURRENT: i=1 reads a(2), which i=2 assigns",
    ),
    "LOCAL that is read first": (
        "do concurrent (i = 1:n) local(t)\n a(i) = t\n t = i\n end do",
        "t is LOCAL, but an iteration reads it (line 9) before assigning it",
    ),
}


@pytest.mark.parametrize("name", CONCURRENT)
def test_a_false_do_concurrent_is_an_error_at_its_head(name):
    body, message = CONCURRENT[name]
    with pytest.raises(SourceError) as caught:
        lowered(body)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line, found.message) == ("E320", 8, message)
    assert found.hint == "write DO, or accept it with ‹trust_directives›"
    assert lowered(body, trusts_directives=True)


OWN = {
    "an array, where data say so": "if (b(i) > 3) d(1) = b(i)\n if (b(i) > 3) a(i) = d(1)",
    "elements that indices choose": "d(mod(i,2) + 1) = b(i)\n a(i) = d(mod(i,2) + 1)",
    "downwards": "do j = n, 1, -1\n d(j) = b(i)*j\n end do\n a(i) = d(3)",
}


@pytest.mark.parametrize("name", OWN)
def test_iterations_that_define_what_they_read_are_not_taken_apart(name):
    """Fortran 2018, 11.1.7.5: what no locality names may be defined by several iterations, each for itself."""
    claimed, plain = (lowered(f"{head}\n {OWN[name]}\n end do") for head in ("do concurrent (i = 1:n)", "do i = 1, n"))
    assert [type(each) for each in walk(claimed.body)] == [type(each) for each in walk(plain.body)]


def test_what_each_iteration_defines_in_a_loop_with_a_step_is_its_own():
    notes = lowered("do concurrent (i = 1:n)\n do j = 3, n, 3\n d(1) = b(i)*j\n a(i) = d(1)\n end do\n end do").notes
    assert "assuming NEW holds for d: each iteration sets the elements that it reads" in [
        each.message for each in notes
    ]


def test_an_open_do_concurrent_that_is_used_is_noted():
    notes = lowered("do concurrent (i = 2:n)\n if (b(i) > 0) a(i) = a(i-1)\n end do").notes
    assert [each.message for each in notes if each.code == "W210"] == [
        "assuming DO CONCURRENT holds for the loop over i: it depends on data"
    ]


@pytest.mark.parametrize("name", FALSE)
def test_trust_accepts_it(name):
    assert lowered(FALSE[name][0], trusts_directives=True)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_or_open_is_no_error(name):
    assert lowered(TRUE[name])


def test_an_open_claim_that_is_used_is_noted():
    notes = [f"{each.code} {each.message}" for each in lowered(TRUE["data decide"]).notes]
    assert notes == ["W210 assuming INDEPENDENT holds for the loop over i: it depends on data"]


def test_a_new_variable_that_may_be_read_after_its_loop_is_noted():
    loop = "!HPF$ INDEPENDENT, NEW(t)\n  do i = 1, n\n    t = i\n    a(i) = t\n  end do\n"
    notes = [f"{each.code} {each.message}" for each in lowered(f"{loop}  print *, t").notes]
    assert notes == [
        "W210 assuming NEW holds for t: its value may be read after the loop over i, where it is undefined"
    ]
    assert not lowered(f"{loop}  t = 1\n  print *, t").notes


def test_a_work_array_that_iterations_may_not_fill_is_noted():
    loop = "!HPF$ INDEPENDENT, NEW(d, i)\n  do j = 1, n\n  do i = 1, j\n    d(i) = c(i,j)\n  end do\n"
    loop += "  do i = 1, n\n    c(i,j) = d(n+1-i)\n  end do\n  end do"
    notes = [f"{each.code} {each.message}" for each in lowered(loop).notes]
    assert notes == ["W210 assuming NEW holds for d: each iteration sets the elements that it reads"]


def test_a_claim_that_can_be_proved_is_not_noted():
    assert lowered(TRUE["other elements"]).notes == ()


def test_a_false_claim_that_is_trusted_is_noted_as_false():
    body, message = FALSE["a recurrence"]
    notes = [each.message for each in lowered(body, trusts_directives=True).notes if each.code == "W210"]
    assert notes == [
        f"trusting a claim that is false: {message}",
        "assuming INDEPENDENT holds for the loop over i: as ‹trust_directives› says",
    ]


@pytest.mark.parametrize(
    ("home", "told"),
    [("a(i)", []), ("b(i)", []), ("c(1,i)", ["ON HOME(c(1, i)) is not followed: the owners of a run the iterations"])],
)
def test_on_home_that_is_not_followed_is_noted(home, told):
    text = HEAD.replace("DISTRIBUTE (*,BLOCK) :: C", "DISTRIBUTE (*,CYCLIC) :: C")
    loop = f"!HPF$ INDEPENDENT, ON HOME({home})\n  do i = 1, n\n    a(i) = b(i) + 1\n  end do\nend\n"
    notes = lower(read_program(text + loop, "home.hpf"), Overrides(procs=3), 3, Options()).notes
    assert [each.message for each in notes if each.code == "W216"] == told
