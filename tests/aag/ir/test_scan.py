"""Quotes and parentheses in Fortran text."""

from aag.ir.scan import scanned


def test_parentheses_in_quotes_do_not_count():
    found = list(scanned("""f('(', ")")"""))
    assert [depth for _, _, depth, _ in found] == [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]
    assert "".join(quote or "." for _, _, _, quote in found) == """..''...\"\".."""


def test_a_scan_starts_anywhere():
    assert list(scanned("(a)", 1)) == [(1, "a", 0, ""), (2, ")", -1, "")]
