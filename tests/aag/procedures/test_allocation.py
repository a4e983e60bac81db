"""ALLOCATED becomes a variable that ALLOCATE and DEALLOCATE assign."""

from aag.ir.printer import print_statement
from aag.ir.statements import Enter
from aag.pipeline import main_unit, read_program

HEAD = "program p\n  real, allocatable :: a(:), b(:)\n  integer :: n\n  n = 4\n"


def body(text, procedures=""):
    unit = main_unit(read_program(f"{HEAD}{text}end program\n{procedures}", "p.f90"))
    return [print_statement(each) for each in unit.body if not isinstance(each, Enter)][1:]


def test_only_arrays_that_are_asked_for_have_a_variable():
    found = body("allocate (a(n), b(n))\nif (allocated(a)) n = 5\ndeallocate (a, b)\n")
    assert found == [
        "allocate(a(n), b(n))",
        "allocated$a = .true.",
        "if (allocated$a) then\n  n = 5\nend if",
        "deallocate(a, b)",
        "allocated$a = .false.",
    ]


def test_an_assignment_allocates_a_whole_array():
    assert body("a = (/ 1.0, 2.0 /)\nprint *, allocated(a)\n")[1:] == ["allocated$a = .true.", "print *, allocated$a"]


def test_local_arrays_are_not_allocated_when_a_procedure_begins():
    local = "real, allocatable :: w(:)\nreal, allocatable, save :: k(:)\n"
    inside = "if (.not. allocated(w)) allocate (w(n))\nif (.not. allocated(k)) allocate (k(n))\n"
    found = body("call s(n)\n", f"subroutine s(n)\n{local}{inside}end subroutine\n")
    assert found[0] == "allocated$w = .false."
    assert "allocated$k = .false." not in found


def test_arrays_of_intent_out_are_not_allocated_when_a_procedure_begins():
    head = "subroutine s(x, y)\nreal, allocatable, intent(out) :: x(:)\nreal, allocatable, intent(inout) :: y(:)\n"
    found = body("call s(a, b)\n", f"{head}print *, allocated(x), allocated(y)\nend subroutine\n")
    assert found == ["allocated$a = .false.", "print *, allocated$a, allocated$b"]


def test_it_stays_where_a_procedure_without_source_may_change_it():
    assert body("call other(a)\nprint *, allocated(a)\n")[1:] == ["print *, allocated(a)"]
