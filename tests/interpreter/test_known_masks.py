"""Masks of arrays that loops fill from constants and indices: how often they hold is what gfortran counts."""

import subprocess
from random import Random

import pytest

import esp

N = 24
KEEP = "t(i) = t(i) * 0.5d0"
COUNT = "found = found + 1"


def program(seed):
    """A program; `KEEP` stands where its last mask holds."""
    chooser = Random(seed)
    pick = chooser.choice

    def value():
        return pick(
            (
                f"{chooser.randrange(3)}",
                f"mod(i*{chooser.randint(1, 5)}, 3)",
                f"{pick('km')}(i)",
                f"{pick('km')}(i{pick(('+1', '+1', '+1', '-1'))})",
                f"mod({pick('km')}(i) + {pick('km')}(i{pick(('', '', '+1'))}), 3)",
            )
        )

    def test():
        return f"{value()} {pick(('==', '/=', '<'))} {pick((value(), '1'))}"

    def assign():
        return f"    {pick('km')}(i) = {value()}"

    lines = [f"  k = {chooser.randrange(3)}", "  forall (i = 1:n) m(i) = mod(i, 3)"]
    for _ in range(chooser.randint(1, 3)):
        body = []
        for _ in range(chooser.randint(1, 3)):
            body += pick(
                (
                    [assign()],
                    [f"    if ({test()}) then", *(assign() for _ in range(chooser.randint(1, 2))), "    end if"],
                    [f"    if ({test()}) then", assign(), "    else", assign(), "    end if"],
                )
            )
        lines += ["  do i = 2, n - 1", *body, "  end do"]
    lines += [
        "  do i = 1, n",
        f"    if ({pick('km')}(i) == {chooser.randrange(3)}) then",
        f"      {KEEP}",
        "    end if",
    ]
    declared = [f"  integer, parameter :: n = {N}", "  real(8) :: t(n)", "  integer :: k(n), m(n), i, found = 0"]
    mapped = ["!hpf$ distribute t(block)", "!hpf$ align (i) with t(i) :: k, m"]
    return "\n".join(
        ["program p", *declared, *mapped, "  t = 1d0", *lines, "  end do", "  print *, {0}", "end program p"]
    )


def counted(texts, folder):
    """What gfortran counts in each program."""
    for at, text in enumerate(texts):
        (folder / f"p{at}.f90").write_text(text.format("found").replace(KEEP, COUNT))
    answers = []
    for at in range(len(texts)):
        subprocess.run(["gfortran", "-O0", "-o", f"p{at}", f"p{at}.f90"], cwd=folder, check=True)
        answers.append(int(subprocess.run([folder / f"p{at}"], capture_output=True, text=True, check=True).stdout))
    return answers


@pytest.mark.parametrize("batch", [0, *(pytest.param(at, marks=pytest.mark.truth) for at in range(1, 15))])
def test_a_mask_holds_as_often_as_gfortran_counts(batch, tmp_path):
    texts = [program(12 * batch + at) for at in range(12)]
    exact = 0
    for text, expected in zip(texts, counted(texts, tmp_path), strict=True):
        found = esp.predict(text.format("t(1)"), procs=4, budget=0)
        last = text[: text.index(KEEP)].count("\n")  # the line of its IF, counted from 1
        if not any(each.span is not None and each.span.line == last for each in found.assumptions):
            exact += 1
            assert found.counts.total("processor.r8.mul") == expected, text
    assert exact >= 1
