"""What lists of nodes and statements contain, for the machine of these tests."""

from aag.ir import expressions as e
from aag.ir.visitors import names_in
from aag.spmd import nodes


def conditional(body):
    """Whether a node list decides what it runs."""
    deciding = nodes.IfNode | nodes.WhileNode | nodes.Leave
    return any(isinstance(each, deciding) or conditional(getattr(each, "body", ())) for each in body)


def written_in(body):
    """Arrays that a node list may write."""
    found = set()
    for node in body:
        assigns = [*getattr(node, "assigns", ()), *(each for level in getattr(node, "outer", ()) for each in level)]
        found |= {assign.target.name for assign in assigns if isinstance(assign.target, e.Element)}
        found |= written_in(getattr(node, "body", ()))
        for branch in getattr(node, "branches", ()):
            found |= written_in(branch.body)
    return found


def reductions_by_hand(statements):
    """Lines of statements such as ``s = a + s``: their reduction starts from the old value."""
    found = set()
    for each in statements:
        target, value = getattr(each, "target", None), getattr(each, "value", None)
        if isinstance(target, e.Var) and target.name in names_in(value):
            found.add(each.span.line)
        for branch in getattr(each, "branches", ()):
            found |= reductions_by_hand(branch.body)
        found |= reductions_by_hand(getattr(each, "body", ()))
    return found
