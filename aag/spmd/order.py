"""The order of the loops of a parallel construct: what the compiler of the machine makes of it.

FORALL and array syntax leave the order open. A compiler may put the index of the first subscript innermost, where
elements lie side by side, and it may test a mask in the loops whose indices it depends on, which then go outside.
"""

from msgspec.structs import replace

from aag.ir.visitors import names_in
from aag.spmd.nests import ordered
from aag.spmd.nodes import Nest, Reference
from aag.spmd.program import Options


def in_order(nest: Nest, home: Reference, options: Options) -> Nest:
    """The nest with its loops in the order in which they run; `home` is where it stores."""
    nest = ordered(nest, home, interchange=options.on("interchange"))
    return masks_outside(nest) if options.on("masks") and not nest.outer else nest


def masks_outside(nest: Nest) -> Nest:
    """The nest with the loops outside whose indices its mask depends on, each group in the order that it had.

    Loops whose bounds depend on others stay where they are, and so do those of a mask that depends on all or none.
    """
    names = {index.name for index in nest.indices}
    bound = [names_in(index.lower, index.upper) & names for index in nest.indices]
    tested = names_in(nest.mask) & names
    if any(bound) or not tested or nest.copies:
        return nest
    loops = sorted(nest.indices, key=lambda index: index.name not in tested)
    return replace(nest, indices=tuple(loops))


def mask_level(nest: Nest) -> int:
    """The loop, counted from 1, in which the mask is known: that of the innermost index that it depends on."""
    names = names_in(nest.mask)
    return max((at for at, index in enumerate(nest.indices, start=1) if index.name in names), default=0)
