"""REALIGN and REDISTRIBUTE in random programs: in loops and branches, of arrays, templates and what is aligned."""

from dataclasses import replace


class Remaps:
    """The remappings of `tests.aag.spmd.programs.Writer`."""

    @property
    def remapped(self):
        """The arrays with a mapping of their own."""
        return [each for each in self.arrays if each.name not in self.components]

    def prepare(self):
        """Declare what only remappings use: second templates, that all may be remapped, and arrays that are never
        remapped for the results."""
        for array in self.remapped:
            name, shape = self.random.choice(list(self.grids.items()))
            if self.chance(60):
                self.align(array, name, shape, template=f"u_{array.name}", again=True)
        self.directives.append(f"dynamic {', '.join([*(each.name for each in self.remapped), *self.templates])}")
        self.results = [replace(each, name=f"r_{each.name}") for each in self.arrays]

    def remap(self):
        """One remapping, maybe followed by another one of the same name."""
        return [f"!hpf$ {self.remapping()}" for _ in range(self.pick(1, 1, 1, 2))]

    def remapping(self):
        array = self.random.choice(self.remapped)
        others = [each for each in self.remapped if each is not array and each.bounds == array.bounds]
        how = self.random.randrange(100)
        if how < 30 and self.again:
            return self.random.choice(self.again)
        if how < 50 and others:
            return f"realign with {self.random.choice(others).name} :: {array.name}"
        if how < 70 and self.templates:
            name, extents = self.random.choice(list(self.templates.items()))
            return self.redistribute(name, extents)
        return self.redistribute(array.name, array.extents)

    def redistribute(self, name, extents):
        grids = [(grid, shape) for grid, shape in self.grids.items() if len(shape) <= len(extents)]
        if not grids:
            return f"redistribute {name}({', '.join('*' for _ in extents)})"
        grid, shape = self.random.choice(grids)
        return f"redistribute {name}({self.formats(len(extents), shape, extents)}) onto {grid}"
