"""An ALLOCATABLE array in random programs: allocated again and again with other bounds, in loops and branches."""

NAME = "v"
INSIDE = ("assignment", "forall", "do", "where", "reduction", "scalar")


class Allocated:
    """The ALLOCATABLE array of `tests.aag.spmd.programs.Writer`."""

    def allocatable(self):
        """Choose its rank and map it."""
        self.allocated_rank = self.pick(1, 1, 2)
        grids = [(name, shape) for name, shape in self.grids.items() if len(shape) <= self.allocated_rank]
        if not grids or self.chance(10):
            return
        name, shape = self.random.choice(grids)
        dims = self.random.sample(range(self.allocated_rank), len(shape))
        formats = [
            self.pick("block", "block", "cyclic", "cyclic(2)", "block(9)") if dim in dims else "*"
            for dim in range(self.allocated_rank)
        ]
        self.directives.append(f"distribute {NAME}({', '.join(formats)}) onto {name}")

    def allocated_declarations(self):
        if not self.allocated_rank:
            return []
        colons = ", ".join(":" for _ in range(self.allocated_rank))
        return [f"  double precision, allocatable, dimension({colons}) :: {NAME}"]

    def allocated(self):
        """Allocate it, work with it and the other arrays, and free it at once or before it is allocated again."""
        if any(each.name == NAME for each in self.arrays):
            return self.scalar()
        array = type(self.arrays[0])(
            NAME, tuple(self.bound(9 // self.allocated_rank) for _ in range(self.allocated_rank))
        )
        shape = ", ".join(str(upper) if lower == 1 else f"{lower}:{upper}" for lower, upper in array.bounds)
        first = self.pick("0.25d0", "0.5d0 * s", self.reference([]))
        self.arrays.append(array)
        inside = [line for _ in range(self.pick(1, 2, 3)) for line in self.statement(INSIDE)]
        into = [f"s = 0.25d0 * s + 0.25d0 * maxval({NAME}) + 0.001d0 * (size({NAME}) + lbound({NAME}, 1))"]
        self.arrays.pop()
        return [
            f"if (allocated({NAME})) deallocate ({NAME})",
            f"allocate ({NAME}({shape}))",
            f"{NAME} = {first}",
            *inside,
            *into,
            *self.pick([], [f"deallocate ({NAME})"], [f"deallocate ({NAME})"]),
        ]
