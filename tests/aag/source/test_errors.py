"""Every finding of the front end: its whole text, line and column."""

import re
import shutil
from pathlib import Path

import pytest

import aag.source
from aag.diagnostics import SourceError
from aag.source.costs import read_cost
from aag.source.files import decode
from aag.source.read import read_program
from tests.aag.source.reading import read_file

ANOTHER = "(write it in another form, as assignments, IF or loops)"
WITHOUT_LABELS = "(return an INTEGER argument instead, and test it behind the call)"
UNUSED = "(check that the flow does not depend on it)"
SPELT = "(check its spelling)"
CHECK = "(check the parentheses)"
GRID = "(for example !HPF$ PROCESSORS P(2,2))"
ALIGNED = "(for example !HPF$ ALIGN A(I,J) WITH T(I,J))"
SPREAD = "(for example !HPF$ DISTRIBUTE T(BLOCK,*) ONTO P, or DISTRIBUTE (BLOCK,*) ONTO P :: A)"
PLAIN = "(use a variable or an array instead)"
SPELLING = "(check its spelling and its place)"

ERRORS = {
    "empty": (
        "\n",
        [
            (
                "x.f90:1: E102 there is no Fortran statement in this source"
                " (is the file complete, and in the right source form? (‹form free›, ‹form fixed›))"
            )
        ],
    ),
    "INDIRECT, and a module that is missing": (
        "use nowhere\nreal a(8)\ninteger m(8)\n!hpf$ distribute a(indirect(m))\na = 1\nend\n",
        [
            "x.f90:1:5: E135 found no module nowhere (put it before the program, or name its file, too)",
            (
                "x.f90:4:18: E314 DISTRIBUTE a: INDIRECT is not supported"
                " (use BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), GEN_BLOCK(sizes) or *)"
            ),
        ],
    ),
    "no end": (
        "program p\nx = 1\n",
        [
            (
                "x.f90:1:1: E110 END PROGRAM is missing: the source ends inside this PROGRAM"
                " (the last statement is in line 2; is the file complete?)"
            )
        ],
    ),
    "numbers that nothing holds": (
        "k = 9223372036854775808\nx = 'a1d400' // 1d400_8\nk = 9223372036854775807; x = 1d308\nend\n",
        [
            (
                "x.f90:1:5: E115 the whole number 9223372036854775808 does not fit in 64 bits"
                " (integers go up to 9223372036854775807, reals to 1.7976931348623157e308)"
            ),
            (
                "x.f90:2:17: E115 the real number 1d400 is too large for eight bytes"
                " (integers go up to 9223372036854775807, reals to 1.7976931348623157e308)"
            ),
        ],
    ),
    "statement functions of statement functions": (
        "f0(x) = x + 1\n"
        + "".join(f"f{k}(x) = f{k - 1}(x)*f{k - 1}(x)\n" for k in range(1, 21))
        + "y = f20(2.)\nend\n",
        [
            (
                "x.f90:13:10: E116 statement functions expand to more than 29,600 operands here"
                " (make some of them functions with a body)"
            )
        ],
    ),
    "a tower of statement functions": (
        "f0(x) = x\n" + "".join(f"f{k}(x) = f{k - 1}(x) + 1\n" for k in range(1, 200)) + "y = f199(2.)\nend\n",
        [
            (
                "x.f90:151:11: E116 statement functions expand to an expression of more than 150 levels here"
                " (make some of them functions with a body)"
            )
        ],
    ),
    "no end of a loop": (
        "program p\ndo i = 1, 2\n x = 1\nend\n",
        ["x.f90:4:1: E110 END DO is missing before this END (the DO begins in line 2)"],
    ),
    "no end before the next unit": (
        "program p\nx = 1\nsubroutine s\nend\n",
        ["x.f90:3:1: E110 END or CONTAINS is missing before this SUBROUTINE (the PROGRAM begins in line 1)"],
    ),
    "no end before CONTAINS": (
        "program p\nif (x > 1) then\ncontains\nend\n",
        ["x.f90:3:1: E110 END IF is missing before CONTAINS (the IF begins in line 2)"],
    ),
    "a label is missing": (
        "program p\ndo 10 i = 1, 2\nx = 1\nend do\nend\n",
        ["x.f90:4:1: E110 this END DO lacks the label 10 that its DO names (the DO begins in line 2)"],
    ),
    "the wrong end": (
        "program p\n  if (x > 1) then\n  end do\nend\n",
        ["x.f90:3:3: E111 found END DO where END IF is expected (the IF begins in line 2)"],
    ),
    "a branch outside": (
        "program p\n  else\nend\n",
        ["x.f90:2:3: E111 ELSE is outside of IF (the PROGRAM begins in line 1)"],
    ),
    "a case outside": (
        "do i = 1, 2\n case (1)\nend do\nend\n",
        ["x.f90:2:2: E111 CASE is outside of SELECT CASE (the DO begins in line 1)"],
    ),
    "another name": (
        "subroutine s\nend subroutine t\n",
        ["x.f90:2:1: E111 this END names t and ends SUBROUTINE s (the SUBROUTINE begins in line 1)"],
    ),
    "no name": (
        "a: do i = 1, 2\nend do\nend\n",
        ["x.f90:2:1: E111 this END lacks the name a of its DO (the DO begins in line 1)"],
    ),
    "too deep": (
        "program p\nx = " + "(" * 17 + "1" + ")" * 17 + "\nend\n",
        ["x.f90:2:21: E113 parentheses are nested more than 16 deep (split the expression into several statements)"],
    ),
    "too many blocks": (
        "if (x > 1) then\n" * 49 + "end if\n" * 49 + "end\n",
        ["x.f90:49:1: E114 blocks are nested more than 48 deep (move the inner ones into a procedure)"],
    ),
    "kinds that no compiled program can send": (
        "program p\n  real(10) :: a\n  complex*12 :: c\n  integer(3) :: i\nend\n",
        [
            "x.f90:2:3: E133 REAL(10) is not supported (use 4, 8 or 16)",
            "x.f90:3:3: E133 COMPLEX*12 is not supported (use 8, 16 or 32)",
            "x.f90:4:3: E133 INTEGER(3) is not supported (use 1, 2, 4, 8 or 16)",
        ],
    ),
    "a bad declaration": (
        "program p\n  real :: a(8\n  a = 1\nend\n",
        [("x.f90:2:12: E120 this statement cannot be read as Fortran: a ')' is missing (check the parentheses)")],
    ),
    "a declaration too late": (
        "program p\nx = 1\nreal y\nend\n",
        [
            (
                "x.f90:3:1: E120 this declaration comes after an executable statement"
                " (move it in front of the first executable statement)"
            )
        ],
    ),
    "a bad loop": (
        "do i = 1,,2\nend do\nend\n",
        [f"x.f90:1:1: E120 this statement cannot be read as Fortran {SPELLING}"],
    ),
    "not declared": (
        "program p\nimplicit none\nreal alpha\n  alpha = 1 + alhpa\nend\n",
        ["x.f90:4:15: E130 alhpa is not declared (did you mean alpha?)"],
    ),
    "no function": (
        "program p\nimplicit none\nreal x\nx = foo(x)\nend\n",
        ["x.f90:4:5: E130 foo is neither a declared array nor a known function (declare foo)"],
    ),
    "no array": (
        "program p\nb(1:2) = 0\nend\n",
        ["x.f90:2:1: E130 b is used as an array and is not declared as one (declare b)"],
    ),
    "a loop variable": (
        "program p\nimplicit none\n  do ii = 1, 2\n  end do\nend\n",
        ["x.f90:3:6: E130 ii is not declared (declare ii)"],
    ),
    "declared twice in other ways": (
        (
            "real a(8)\ndimension a(8)\nparameter (n=3)\nparameter (n=4)\ncommon /c/ b(2)\nreal, dimension(3) :: b\n"
            "real, dimension(2) :: d(3)\nreal a\nend\n"
        ),
        [
            "x.f90:2:1: E131 the shape of a is declared twice (the first declaration is in line 1)",
            "x.f90:4:1: E131 n is a PARAMETER twice (the first declaration is in line 3)",
            "x.f90:6:1: E131 the shape of b is declared twice (the first declaration is in line 5)",
        ],
    ),
    "labels and units that are defined twice": (
        (
            "program p\ngoto 10\n10 x = 1\ndo 10 i = 1, 2\n10 continue\ncontains\nsubroutine s\n10 continue\nend\n"
            "subroutine s\nend\nend\nfunction f(x)\nend\nmodule f\nend\n"
        ),
        [
            "x.f90:5:4: E117 the label 10 is defined twice (the first is in line 3)",
            "x.f90:10:1: E138 the subroutine s is defined twice (the first s is in line 7)",
            "x.f90:15:1: E138 the module f is defined twice (the first f is in line 13)",
        ],
    ),
    "two procedures of one name in one host": (
        "program p\ncontains\nsubroutine s\nend subroutine\nsubroutine s\nend subroutine\nend\n",
        ["x.f90:5:1: E138 the subroutine s is defined twice (the first s is in line 3)"],
    ),
    "declared twice": (
        "program p\nreal x\ninteger x\nend\n",
        ["x.f90:3:9: E131 x is declared twice (the first declaration is in line 2)"],
    ),
    "unknown names in directives": (
        (
            "program p\nreal alpha(8)\n!HPF$ PROCESSORS q(4)\n!HPF$ DISTRIBUTE beta(BLOCK)\n"
            "!HPF$ DISTRIBUTE (BLOCK) ONTO p :: alpha\n!HPF$ ALIGN gamma(i) WITH alpah(i)\n!HPF$ DYNAMIC delta\n"
            "!HPF$ TEMPLATE t(m)\nend\n"
        ),
        [
            ("x.f90:4:18: E132 DISTRIBUTE: there is no array or template beta (declare the array or template beta)"),
            ("x.f90:5:36: E132 ONTO: there is no processor arrangement p (declare the processor arrangement p)"),
            "x.f90:6:13: E132 ALIGN: there is no array gamma (declare the array gamma)",
            "x.f90:6:27: E132 ALIGN: there is no array or template alpah (did you mean alpha?)",
            ("x.f90:7:15: E132 DYNAMIC: there is no array or template delta (declare the array or template delta)"),
            "x.f90:8:18: E132 TEMPLATE: there is no name m (declare the name m)",
        ],
    ),
    "exit and cycle": (
        """\
program p
a = 1; exit; print *, a
do i = 1, 3; cycle foo; end do
one: do i = 1, 3
do while (x > 1)
if (x > 2) exit on
cycle one
end do
end do one
if (x > 1) then
cycle
end if
if (x > 1) exit one
end
""",
        [
            "x.f90:2:8: E134 EXIT is not inside a loop (remove it, or put it into its loop)",
            "x.f90:3:14: E134 CYCLE foo is not inside a loop named foo (remove it, or put it into its loop)",
            "x.f90:6:1: E134 EXIT on is not inside a loop named on (remove it, or put it into its loop)",
            "x.f90:11:1: E134 CYCLE is not inside a loop (remove it, or put it into its loop)",
            "x.f90:13:1: E134 EXIT one is not inside a loop named one (remove it, or put it into its loop)",
        ],
    ),
    "operands without an operator": (
        """\
program p
double precision :: a(3 4) = [double precision :: 1, 2]
integer, parameter :: n = 1 0
do i = 1, n 2
a(i) = b (i) c + 1
if (a(1) > 2) a(1) = 'x' 'y'
end do
do 10 i = 1, 3
10 print 20, 1., 5.d0_8 (i)
20 format (2x i3 i4)
call s(a (1) b, &
  (c))
contains
subroutine s(x, y)
real, intent (in out) :: x, y
end subroutine
end
""",
        [
            "x.f90:2:23: E123 an operator or a comma is missing between 3 and 4 (a number has no blanks inside)",
            "x.f90:3:27: E123 an operator or a comma is missing between 1 and 0 (a number has no blanks inside)",
            "x.f90:4:11: E123 an operator or a comma is missing between n and 2 (write it)",
            "x.f90:5:12: E123 an operator or a comma is missing between ) and c (write it)",
            "x.f90:6:22: E123 an operator or a comma is missing between 'x' and 'y' (write it)",
            "x.f90:11:12: E123 an operator or a comma is missing between ) and b (write it)",
        ],
    ),
    "types": (
        "real a(8)\na = 'x'\nallocate (a(8))\nend\n",
        [
            (
                "x.f90:2:5: E136 a value of type character cannot be assigned to type real"
                " (correct the expression or a declaration)"
            ),
            "x.f90:3:11: E137 ALLOCATE: a is neither ALLOCATABLE nor a POINTER (declare it as ALLOCATABLE)",
        ],
    ),
    "parentheses of heads": (
        """\
program p
if (a(1) > (2) then
else if (a(1)) > 2) then
end if
where (a(1:3 > 0) &
  b = (2)
do while (a(1) > 3
end do
end
""",
        [
            "x.f90:2:4: E123 this statement cannot be read as Fortran: a ')' is missing (check the parentheses)",
            "x.f90:3:19: E123 this statement cannot be read as Fortran: one ')' too many (check the parentheses)",
            "x.f90:5:7: E123 this statement cannot be read as Fortran: a ')' is missing (check the parentheses)",
            "x.f90:7:10: E123 this statement cannot be read as Fortran: a ')' is missing (check the parentheses)",
        ],
    ),
    "modules of other files": (
        """\
module here
use there, only: k
end module
program p
use here; use Elsewhere
use, intrinsic :: ieee_features
implicit none
!HPF$ DISTRIBUTE a(BLOCK)
x = a(1) + b
end
""",
        [
            "x.f90:2:5: E135 found no module there (put it before the program, or name its file, too)",
            "x.f90:5:15: E135 found no module elsewhere (put it before the program, or name its file, too)",
        ],
    ),
    "names that a module does not have": (
        "module m\ninteger, parameter :: steps = 4\nend module\nuse m, only: step, steps, k => stepps\nx = 1\nend\n",
        [
            "x.f90:4:1: E118 the module m has no name step (did you mean steps?)",
            "x.f90:4:1: E118 the module m has no name stepps (did you mean steps?)",
        ],
    ),
    "another name for a variable": (
        "module m\nreal :: a(8)\nend module\nprogram p\nuse m, b => a\nimplicit none\nb(1) = 1\nend\n",
        ["x.f90:5:1: E119 USE gives the variable a another name, b (write a in place of b)"],
    ),
    "another name for a constant whose own name is taken": (
        "module m\ninteger, parameter :: n = 8\nend module\nprogram p\nuse m, only: k => n\nreal :: n\nn = k\nend\n",
        [
            (
                "x.f90:6:9: E119 USE gives the constant n another name, k, and n is declared here, too"
                " (use another name than n here)"
            )
        ],
    ),
    "calls that do not fit, and inputs that are changed": (
        """\
program p
real a(8), x
call s(a, x + 1)
call s(y=2.0, a=a)
call s(a, x)
call f(x)
call t(-1.5, 2)
contains
subroutine s(a, y)
real, intent(in) :: a(8)
real, intent(out) :: y
integer i
do i = 1, 8
a(i) = 1
end do
y = a(1)
end subroutine
real function f(y)
real y
f = y
end function
subroutine t(n, y)
integer n
real y
n = y
end subroutine
end
""",
        [
            (
                "x.f90:3:11: E136 s changes its argument y, but x + 1 is not a variable"
                " (give a variable for y, which has INTENT(OUT))"
            ),
            (
                "x.f90:4:10: E136 s changes its argument y, but 2.0 is not a variable"
                " (give a variable for y, which has INTENT(OUT))"
            ),
            "x.f90:6:1: E136 f is a function (write x = f(...), or make it a subroutine)",
            (
                "x.f90:7:8: E136 the argument n of t must be integer, but -1.5 is real"
                " (write a value of this type, or correct the declaration)"
            ),
            (
                "x.f90:7:14: E136 the argument y of t must be real, but 2 is integer"
                " (write a value of this type, or correct the declaration)"
            ),
            (
                "x.f90:14:1: E139 a has INTENT(IN) and cannot be changed"
                " (declare it with INTENT(INOUT), or use another variable)"
            ),
        ],
    ),
    "kinds that are not known": (
        "program p\nimplicit none\nreal(dp) :: a, b\nreal(dp) :: c\na = 1\nb = 1\nc = 1\nend\n",
        [
            (
                "x.f90:3:1: E133 the kind dp is not known"
                " (declare it before, for example integer, parameter :: dp = kind(1.0d0))"
            )
        ],
    ),
    "unknown directive": (
        "program p\n!HPF$ DISTIBUTE a(BLOCK)\nend\n",
        ["x.f90:2:7: E140 unknown directive DISTIBUTE (did you mean DISTRIBUTE?)"],
    ),
    "unknown directive far from all": (
        "program p\n!HPF$ XYZZY\nend\n",
        ["x.f90:2:7: E140 unknown directive XYZZY (for example !HPF$ DISTRIBUTE A(BLOCK))"],
    ),
    "directive errors": (
        """\
program p
!HPF$ PROCESSORS 4
!HPF$ TEMPLATE t(8
!HPF$ ALIGN a(i) WIHT t(i)
!HPF$ ALIGN a(i,i) WITH t(i)
!HPF$ ALIGN a(1) WITH t(1)
!HPF$ ALIGN a(i) WITH *
!HPF$ DISTRIBUTE a(BLOK)
!HPF$ DISTRIBUTE a(BLOCK) ONTO
!HPF$ DISTRIBUTE a(BLOCK) ONTO q(1:2)
!HPF$ DISTRIBUTE a(BLOCK) TO q
!HPF$ INDEPENDENT, NEWS(a)
!HPF$ TEMPLATE, DYNAMC :: t
!HPF$ DIMENSION t
!HPF$ ALIGN a(i) WITH t(i+)
!HPF$ 'a'
!HPF$ NO TEMPLATE
end
""",
        [
            f"x.f90:2:18: E141 expected the name of a processor arrangement but found '4' {GRID}",
            "x.f90:3:19: E141 expected ')' but the text ends (for example !HPF$ TEMPLATE T(N,N))",
            "x.f90:4:18: E141 expected 'WITH' and the target of the alignment but found 'WIHT' (did you mean WITH?)",
            f"x.f90:5:17: E141 the dummy index i occurs twice {ALIGNED}",
            f"x.f90:6:15: E141 expected a dummy index, ':' or '*' but found '1' {ALIGNED}",
            f"x.f90:7:24: E141 expected the target of the alignment after '*' {ALIGNED}",
            "x.f90:8:20: E141 expected BLOCK, CYCLIC or '*' but found 'BLOK' (did you mean BLOCK?)",
            f"x.f90:9:31: E141 expected the name of a processor arrangement but the text ends {SPREAD}",
            "x.f90:10:33: E141 ONTO a part of a processor arrangement is not supported (write ONTO Q)",
            f"x.f90:11:27: E141 expected the end of the directive but found 'TO' {SPREAD}",
            "x.f90:12:20: E141 unknown clause NEWS of INDEPENDENT (did you mean NEW?)",
            "x.f90:13:17: E141 unknown attribute DYNAMC (did you mean DYNAMIC?)",
            "x.f90:14:17: E141 DIMENSION needs '::' and names (for example !HPF$ DISTRIBUTE A(BLOCK))",
            f"x.f90:15:27: E141 expected an expression but found ')' {ALIGNED}",
            "x.f90:16:7: E141 expected a directive but found ''a'' (for example !HPF$ DISTRIBUTE A(BLOCK))",
            "x.f90:17:10: E141 expected 'SEQUENCE' but found 'TEMPLATE' (for example !HPF$ DISTRIBUTE A(BLOCK))",
        ],
    ),
    "directives out of place": (
        (
            "program p\nreal a(8)\nwhere (a > 0)\n!HPF$ REDISTRIBUTE a(BLOCK)\nend where\ncontains\n!HPF$ "
            "DYNAMIC a\nend\n"
            "!HPF$ DYNAMIC a\n"
        ),
        [
            "x.f90:4:7: E142 REALIGN and REDISTRIBUTE are not allowed inside WHERE (move the directive)",
            "x.f90:7:7: E142 a mapping directive must be inside a program unit (move the directive)",
            "x.f90:9:7: E142 this directive is behind the end of the program (move the directive)",
        ],
    ),
    "the variable of a loop": (
        "do i = 1, 3\n  i = i + 1\n  if (i > 2) then\n    do i = 1, 2\n    end do\n  end if\nend do\ni = 1\nend\n",
        [
            f"x.f90:{line}: E139 i is the variable of a loop around this statement and cannot be changed"
            " (the loop begins in line 1: use another variable)"
            for line in ("2:3", "4:5")
        ],
    ),
    "a loop variable that is read": (
        "do i = 1, 3\n  read *, i\nend do\nend\n",
        [
            (
                "x.f90:2:3: E139 i is the variable of a loop around this statement and cannot be changed"
                " (the loop begins in line 1: use another variable)"
            )
        ],
    ),
    "an index that a FORALL has twice": (
        (
            "real a(4,4)\nforall (i = 1:4)\n  forall (j = 1:3, i = 1:3) a(i,j) = 2\nend forall\n"
            "forall (i = 1:4, i = 2:3) a(i,i) = 1\ndo i = 1, 4\n  forall (i = 1:4) a(i,i) = 3\nend do\nend\n"
        ),
        [
            f"x.f90:{at}: E139 i is an index of this FORALL already, or of one around it (use another name)"
            for at in ("3:3", "5:1")
        ],
    ),
    "all at once": (
        "program p\nimplicit none\nreal a(8)\n!HPF$ DISTRIBUTE b(BLOCK)\n!HPF$ ALIGN a\na = c\nx = = 1\nend\n",
        [
            ("x.f90:4:18: E132 DISTRIBUTE: there is no array or template b (declare the array or template b)"),
            f"x.f90:5:14: E141 expected 'WITH' and the target of the alignment but the text ends {ALIGNED}",
            "x.f90:6:5: E130 c is not declared (declare c)",
            f"x.f90:7:1: W101 this statement cannot be read as Fortran; it is left out {SPELT}",
        ],
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_errors(problems, what):
    text, expected = ERRORS[what]
    assert problems(text) == expected


WARNINGS = {
    "exit from a block that is not a loop": (
        "do i = 1, 3\nblk: if (x > 1) then\nexit blk\nx = 1\nend if blk\nif (x > 2) exit\nend do\nend\n",
        [f"x.f90:3:1: W102 EXIT from a block is not modelled; this statement is left out {ANOTHER}"],
    ),
    "syntax": (
        "x = (1\ny = 1)\nz = 'a\nw = = 2\n10\nend\n",
        [
            (f"x.f90:1:5: W101 this statement cannot be read as Fortran: a ')' is missing; it is left out {CHECK}"),
            (f"x.f90:2:6: W101 this statement cannot be read as Fortran: one ')' too many; it is left out {CHECK}"),
            (
                "x.f90:3:1: W101 this statement cannot be read as Fortran: the quotation mark ' is not closed; "
                "it is left out (close it in the same line)"
            ),
            f"x.f90:4:1: W101 this statement cannot be read as Fortran; it is left out {SPELT}",
            f"x.f90:5:1: W101 this statement cannot be read as Fortran; it is left out {SPELT}",
        ],
    ),
    "not modelled": (
        "  goto 10\nif (x > 1) then\n10 x = 1\nend if\nend\n",
        [
            "x.f90:1:3: W102 GO TO needs its label in this block or an enclosing one; this statement is left out "
            + ANOTHER
        ],
    ),
    "too long": (
        "x = " + "+".join("y" * 300) + "\nend\n",
        ["x.f90:1:1: W102 an expression is too long or cannot be read; this statement is left out " + ANOTHER],
    ),
    "a directive behind a statement": (
        "real a(8)\n  a = 1 !HPF$ INDEPENDENT\nend\n",
        [
            (
                "x.f90:2:9: W103 an HPF directive after a statement on the same line is a comment"
                " (put the directive on a line of its own)"
            )
        ],
    ),
    "no loop": (
        "!HPF$ INDEPENDENT\nx = 1\n!HPF$ INDEPENDENT\n!HPF$ INDEPENDENT\ndo i = 1, 2\nend do\nend\n",
        [
            "x.f90:1:7: W104 INDEPENDENT has no effect: no DO or FORALL follows it (put it directly before the loop)",
            "x.f90:3:7: W104 INDEPENDENT has no effect: no DO or FORALL follows it (put it directly before the loop)",
        ],
    ),
    "passed over": (
        "real a(8)\n!HPF$ SHADOW a(1)\n!HPF$ ON HOME(a(1)), RESIDENT BEGIN\na(1) = 1\n!HPF$ END ON\nend\n",
        [
            f"x.f90:{line}:7: W105 the prediction ignores the directive {name} (the owners compute, as without it)"
            for line, name in ((2, "SHADOW"), (3, "ON"), (5, "END ON"))
        ],
    ),
    "what is refused by its name": (
        (
            "assign 10 to k\ngoto k\n10 pause 'here'\npause = 1\ncall s(*10, 2); end file 7\nend\n"
            "subroutine s(*, i)\nreturn 1\nentry t(i)\nend\n"
        ),
        [
            f"x.f90:{place}: W102 {what} not modelled; this statement is left out {hint}"
            for place, what, hint in (
                ("1:1", "ASSIGN is", ANOTHER),
                ("2:1", "an assigned GO TO is", ANOTHER),
                ("3:4", "PAUSE is", ANOTHER),
                ("5:1", "the alternate returns of s are", WITHOUT_LABELS),
                ("5:17", "ENDFILE is", ANOTHER),
                ("8:1", "the alternate return 1 is", WITHOUT_LABELS),
                ("9:1", "ENTRY t is", "(make t a procedure of its own: declarations, and the statements behind ENTRY)"),
            )
        ],
    ),
    "REAL loops": (
        "do i = 1, 2.5\nx = i\nend do\nend\n",
        [
            (
                "x.f90:1:1: W113 DO with a REAL index or bound is a deleted feature: its trip count is that of"
                " FORTRAN 77 (use integers)"
            )
        ],
    ),
    "passed over, too": (
        (
            "real a(8)\n!HPF$ DISTRIBUTE (BLOCK), SHADOW(1:1) :: a\n!HPF$ TASK_REGION\n"
            "!HPF$ ONHOME(a(1))\na(1) = 1\n!HPF$ END TASK_REGION\n!HPF$ RESIDENT(a)\na = 2\nend\n"
        ),
        [
            f"x.f90:{line}:7: W105 the prediction ignores the directive {name} (the owners compute, as without it)"
            for line, name in (
                (2, "SHADOW"),
                (3, "TASK_REGION"),
                (4, "ONHOME"),
                (6, "END TASK_REGION"),
                (7, "RESIDENT"),
            )
        ],
    ),
    "an index that one array of a list lacks": (
        "real a(8), k(4)\n!HPF$ TEMPLATE t(8)\n!HPF$ ALIGN a(i), k(*) WITH t(i)\na = k(1)\nend\n",
        [
            (
                "x.f90:3:7: W112 replicating k along t: it lacks an index of the list"
                " (align k in a directive of its own, with * in t)"
            )
        ],
    ),
    "DATA": (
        "real a(8)\nlogical l(2)\ndata l(1) /.true./\ndata a /7*1.0/\nend\n",
        [
            f"x.f90:3:1: W107 the values of DATA do not fit its variables and are not used {UNUSED}",
            f"x.f90:4:1: W107 the values of DATA do not fit its variables and are not used {UNUSED}",
        ],
    ),
    "a component": (
        "type(t) :: p\nx = p%y(3)\nend\n",
        [f"x.f90:2:1: W102 the type t is not defined in this source; this statement is left out {ANOTHER}"],
    ),
    "an operator": (
        "x = a .mine. b\nend\n",
        [f"x.f90:1:1: W109 the reference a .MINE. b is not modelled: what it reads or writes is unknown {PLAIN}"],
    ),
}


@pytest.mark.parametrize("what", WARNINGS)
def test_warnings(warnings, what):
    text, expected = WARNINGS[what]
    assert warnings(text) == expected


SUM = "c\n      x = 1" + " " * 61 + "+ 2\n"


def test_text_beyond_column_72(warnings):
    text = f"c\n      x = 1{' ' * 61}MAIN 10\n      y = 1{' ' * 61}00000020\n      end\n"
    assert warnings(text, "x.f") == [
        (
            "x.f:2:73: W106 2 lines have text beyond column 72, which fixed form ignores"
            " (if it belongs to the program, continue the line or use ‹form fixed132›)"
        )
    ]


def test_a_comment_beyond_column_72_is_no_text(warnings):
    text = f"c\n      x = 1{' ' * 61}! a remark\n      call p('!'){' ' * 56}! it's another\n      end\n"
    assert warnings(text, "x.f") == []


def test_text_beyond_column_72_without_which_there_is_no_program(warnings, read):
    text = "c\n      x = 1 +" + " " * 59 + "2\n      end\n"
    assert warnings(text, "x.f") == [
        (
            "x.f:2:73: W111 reading lines up to column 132: without the text beyond column 72 the program is invalid"
            " (if the text is a remark, use ‹form fixed72›)"
        )
    ]
    assert read(text, "x.f").form == "fixed132"


def test_text_beyond_column_72_that_makes_another_program(problems, read):
    assert problems(f"{SUM}      end\n", "x.f") == [
        (
            "x.f:2:73: E108 the program is valid with and without the text beyond column 72, but differs"
            " (use ‹form fixed132› if it belongs to the program, ‹form fixed72› if not)"
        )
    ]
    values = [read(f"{SUM}      end\n", "x.f", form=form).main.body[0].value for form in ("fixed72", "fixed132")]
    assert [type(each).__name__ for each in values] == ["IntLit", "Binary"]


@pytest.mark.parametrize(
    "text",
    [
        "C     fixed\n      x = 1\n      end\n",
        "      x = 1 +\n     &    2\n100   end\n",
        "      x = 1 +\n     1    2\n100   end\n",
        "CHPF$ PROCESSORS p(4)\n      x = 1\n      end\n",
        "*\n      x = 1\n      end\n",
    ],
)
@pytest.mark.parametrize("file", ["x.hpf", "x.txt", "<stdin>", "x.f90"])
def test_fixed_form_is_known_by_its_text(text, file, warnings, read):
    (found,) = warnings(text, file)
    assert "W110 reading the source in fixed form, because of lines such as this one" in found
    assert ("although .f90 stands for free form" in found) == (file == "x.f90")
    assert read(text, file).form == "fixed72"


@pytest.mark.parametrize(
    "text",
    [
        "c = 1\nend\n",
        "c  = 1\n  end\n",
        "      x = 1 + &\n     &    2\n      end\n",
        "program p\n     10 continue\nend\n",
        "! C is\n      x = 1\n      end\n",
    ],
)
@pytest.mark.parametrize("file", ["x.hpf", "x.f90"])
def test_free_form_is_known_by_its_text(text, file, warnings, read):
    assert warnings(text, file) == []
    assert read(text, file).form == "free"


def test_binary_files():
    with pytest.raises(SourceError) as error:
        decode(b"\x7fELF\n\0\0", "x.f90")
    assert str(error.value) == (
        "x.f90:2: E101 this is a binary file, not Fortran text (give the HPF source (.hpf .f90 .f))"
    )


def test_unknown_extensions(problems):
    assert problems("end\n", "x.txt") == [
        (
            "x.txt:1: E103 neither the extension .txt nor the text shows whether this is free or fixed form"
            " (choose ‹form free› or ‹form fixed›)"
        )
    ]


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("x.c", "int n;\n", "x.c:1: E103 this is C, not Fortran"),
        ("x.hpf", "\n#include <math.h>\n", "x.hpf:2:1: E103 this is C, not Fortran"),
        ("x.f90", "int main(void) {\n}\n", "x.f90:1:1: E103 this is C, not Fortran"),
        ("x.cpp", "#include <vector>\nint main() {}\n", "x.cpp:2:1: E103 this is C++, not Fortran"),
        ("x.py", "import numpy\n", "x.py:1: E103 this is Python, not Fortran"),
        ("README.md", "do what you want\n", "README.md:1: E103 this is Markdown, not Fortran"),
        ("x.html", "<p>\n", "x.html:1: E103 this is HTML, not Fortran"),
        ("x.json", "{}\n", "x.json:1: E103 this is JSON, not Fortran"),
    ],
)
def test_other_languages(problems, file, text, told):
    assert problems(text, file) == [f"{told} (give the Fortran source with HPF directives (.hpf .f90 .f))"]


def test_include_lines_of_cpp_are_not_c(problems):
    assert "E104" in problems("#include <sizes>\nend\n", "x.f90")[0]


def test_missing_include_files(problems):
    assert problems("include 'a.h'\nend\n", "sub/x.f90", include_dirs=["inc"]) == [
        ("sub/x.f90:1:10: E104 the file a.h to include is not found (searched in sub, inc)")
    ]


def test_files_that_include_themselves(tmp_path):
    path = tmp_path / "x.f90"
    path.write_text("x = 1\ninclude 'x.f90'\nend\n")
    with pytest.raises(SourceError) as error:
        read_file(path)
    assert str(error.value) == (
        f"{path}:2:10: E105 INCLUDE is nested more than 16 deep; does x.f90 include itself?"
        " (a file must not include itself, directly or through others)"
    )


def test_cpp_that_is_missing(problems, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert problems("end\n", "x.F90") == [
        (
            "x.F90:0: E106 the extension .F90 needs the C preprocessor, but cpp is not installed"
            " (install cpp, or rename the file if it needs no preprocessing (.f90, .f))"
        )
    ]


def test_cpp_that_fails(problems):
    assert problems("x = 1\n#if\n#endif\nend\n", "x.F90") == [
        "x.F90:2: E107 the C preprocessor failed: #if with no expression"
    ]


def test_more_than_twenty_syntax_errors(problems):
    found = problems("x = = 1\n" * 21 + "end\n")
    assert len(found) == 22
    assert found[-1] == (
        "x.f90:21:1: E121 more than 20 statements cannot be read as Fortran"
        " (is the source form right? (‹form free›, ‹form fixed›))"
    )
    assert all("W101" in each for each in found[:-1])


def test_twenty_syntax_errors_are_isolated(read):
    program = read("y = 1\n" + "x = = 1\n" * 20 + "end\n")
    assert len(program.main.body) == 21
    assert not program.complete


def test_statements_that_get_lost_are_noticed(monkeypatch, problems):
    """The self-check of the front end, provoked by a parser that drops a statement."""
    import aag.source.stages as road

    def forgetful(rows, cuts, source):
        tree, rows, found = parse_rows(rows, cuts, source)
        del next(part for part in tree.content[0].content if type(part).__name__ == "Execution_Part").content[1]
        return tree, rows, found

    parse_rows = road.parse_rows
    monkeypatch.setattr(road, "parse_rows", forgetful)
    assert problems("x = 1\n  y = 2\nz = 3\nend\n") == [
        ("x.f90:2:3: E122 the parser dropped this statement (rewrite the construct around it in a simpler way)")
    ]


def test_free_form_that_is_read_as_fixed_form():
    text = "      program p\n      x = 1 0\n  y = 2\nz = 3\n      end\n"
    with pytest.raises(SourceError) as caught:
        read_program(text, "x.f", form="fixed")
    assert [str(each) for each in caught.value.diagnostics] == [
        (
            "x.f:3:1: E109 columns 1 to 5 of fixed form are for labels, but hold y = (begin the statement in column 7;"
            " the source looks like free form; if it is, use ‹form free›)"
        )
    ]


def test_deferred_errors_are_in_the_answer():
    text = "program p\nimplicit none\n!HPF$ DISTRIBUTE a(BLOCK)\n!HPF$ DISTIBUTE a\nx = 1\nend\n"
    found = [each.code for each in read_program(text, "x.f90", defer=True).diagnostics]
    assert found == ["E140", "E130"]  # the mapping knows about a


def test_nothing_that_depends_on_an_unknown_module_is_reported():
    text = "program p\nuse elsewhere, only: t, n\ntype(t) :: x\nreal :: a(n)\na = x%b\nend\n"
    with pytest.raises(SourceError) as caught:
        read_program(text, "x.f90", defer=True)
    assert [each.code for each in caught.value.diagnostics] == ["E135"]


@pytest.mark.parametrize(
    "module",
    ["hpf_library", "hpf_local_library", "iso_fortran_env", "iso_c_binding", "ieee_arithmetic", "ieee_exceptions"],
)
def test_intrinsic_modules(read, module):
    assert read(f"program p\nuse {module}\nx = 1\nend\n").diagnostics == ()


def test_a_comment_that_reads_as_a_directive(read):
    program = read("real a(8)\n!HFP$ DISTRIBUTE a(BLOCK)\na = 1\nend\n")
    assert [str(each) for each in program.diagnostics] == [
        (
            "x.f90:2:1: W108 this comment reads as a directive, but does not begin with !HPF$, so it has no effect"
            " (write !HPF$ if it is one)"
        )
    ]


CONCURRENT = "program p\nimplicit none\nreal :: a(8), s, t\nreal, allocatable :: w(:)\ninteger :: i, j\n{}\nend do\n"
AN_EXAMPLE = "(for example LOCAL(x) SHARED(a) REDUCE(+: s))"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "do concurrent (i = 1:8) locl(t)\na(i) = 1",
            ["6:25: E680 unknown locality LOCL of DO CONCURRENT (did you mean LOCAL?)"],
        ),
        ("do concurrent (i = 1:8) local t\na(i) = 1", [f"6:31: E680 expected '(' but found 't' {AN_EXAMPLE}"]),
        (
            "do concurrent (i = 1:8) reduce(foo: t)\na(i) = 1",
            [
                (
                    "6:32: E680 expected an operation of REDUCE but found 'foo'"
                    " (the operations are +, *, .AND., .OR., .EQV., .NEQV., MAX, MIN, IAND, IOR, IEOR)"
                )
            ],
        ),
        (
            "do concurrent (i = 1:8, j = i:8)\na(i) = 1",
            [
                (
                    "6:1: E680 the bounds of j use i, an index of the same DO CONCURRENT"
                    " (compare with i in the mask, or write a DO CONCURRENT inside the other)"
                )
            ],
        ),
        (
            "do concurrent (i = 1:8)\nif (a(i) > 1) exit",
            [
                (
                    "7:1: E680 EXIT leaves a DO CONCURRENT, whose iterations come in any order"
                    " (use CYCLE or IF, or write DO in place of DO CONCURRENT)"
                )
            ],
        ),
        (
            "do concurrent (i = 1:8)\ncall random_number(a(i))",
            [
                (
                    "7:1: E680 random_number is called in a DO CONCURRENT and is not PURE"
                    " (call it outside of the loop, or write DO)"
                )
            ],
        ),
        (
            "do concurrent (i = 1:8) local(t, i) shared(t)\na(i) = 1",
            [
                "6:34: E681 i is an index of the DO CONCURRENT, which needs no locality (remove i)",
                "6:44: E681 t has two localities (name it once)",
            ],
        ),
        (
            "do concurrent (i = 1:8) local(w)\na(i) = 1",
            ["6:31: E681 w is an ALLOCATABLE variable, which cannot be LOCAL (copy it to another variable)"],
        ),
        (
            "do concurrent (i = 1:8) default(none) local(t)\nt = s\na(i) = t",
            ["6:25: E681 DEFAULT(NONE) needs a locality of a, s (add SHARED(a, s))"],
        ),
        (
            "do concurrent (i = 1:8) reduce(*: s) reduce(max: t)\ns = s + a(i)\na(i) = t",
            [
                (
                    "7:1: E682 REDUCE(*: s) does not fit this statement: it changes s in another way"
                    " (each use must be an update such as s = s * ...)"
                ),
                (
                    "8:1: E682 REDUCE(MAX: t) does not fit this statement: it reads t"
                    " (each use must be an update such as t = max(t, ...))"
                ),
            ],
        ),
    ],
)
def test_do_concurrent(problems, text, found):
    assert problems(CONCURRENT.format(text) + "end\n") == [f"x.f90:{each}" for each in found]


def test_procedures_in_do_concurrent_are_pure(problems):
    text = (
        CONCURRENT.format("do concurrent (i = 1:8)\na(i) = f(a(i))")
        + "contains\nreal function f(x)\nreal :: x\nf = x\n"
    )
    assert problems(text + "end\nend\n") == [
        "x.f90:7:8: E680 f is called in a DO CONCURRENT and is not PURE (declare f PURE, or write DO)"
    ]


def test_every_finding_shows_its_line():
    with pytest.raises(SourceError) as error:
        read_program("program p\n!HPF$ XYZZY\nend\n", "x.f90")
    assert error.value.diagnostics[0].source_line == "!HPF$ XYZZY"


def test_a_cost_without_a_known_unit():
    with pytest.raises(SourceError) as error:
        read_cost("solve = 3*n fluff", ("r8.add",))
    (found,) = map(str, error.value.diagnostics)
    assert found.startswith("‹cost›:1:13: E685 there is no unit 'fluff' (units are flop, add, mul, div, ")


def test_every_code_has_a_test_on_its_text():
    folder = Path(aag.source.__file__).parent
    used = {
        code for path in folder.glob("*.py") for code in re.findall(r'"([EW]\d{3})"', path.read_text(encoding="utf-8"))
    }
    tested = set(re.findall(r"\b([EW]\d{3}) \S", Path(__file__).read_text(encoding="utf-8")))
    assert used - tested == set()
    assert len(used) > 20


def test_trees_of_another_shape_are_set_aside(monkeypatch, read):
    """A parser that answers otherwise than expected costs a statement, not a traceback."""
    from aag.source import expressions, specification

    def odd(self, node):
        return node.no_such_part

    monkeypatch.setitem(expressions._METHODS, "Real_Literal_Constant", odd)
    monkeypatch.setitem(specification._METHODS, "Common_Stmt", odd)
    found = read("common /c/ a\nx = 1\ny = 1.5\nif (x > 1) z = 2.5\nend\n")
    assert [type(each).__name__ for each in found.main.body] == ["Assign", "Opaque", "Opaque"]
    assert [str(each) for each in found.diagnostics] == [
        f"x.f90:1:1: W107 the parser returns an unknown form: this declaration is not used {UNUSED}",
        *(
            f"x.f90:{line}:1: W102 the parser returns an unknown form; this statement is left out {ANOTHER}"
            for line in (3, 4)
        ),
    ]


def test_a_machine_is_no_program_whatever_its_text_looks_like(problems):
    (told,) = problems("format: 1\nname: m  ! as in free form\nx = 1\n", "m.yaml")
    assert told.startswith("m.yaml:1: E103 this is not a program but a YAML file, such as a machine (give the program")
