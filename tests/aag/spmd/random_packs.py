"""PACK, UNPACK and the prefix, suffix and scatter functions of HPF_LIBRARY in random programs, in all mappings."""

from math import prod


class Packs:
    """A part of `tests.aag.spmd.programs.Writer`."""

    def packed(self):
        """A statement with one of these functions."""
        return getattr(
            self, self.pick("packing", "packing", "unpacking", "scanning", "scanning", "scattering", "of_packed")
        )()

    def taken(self, extents):
        """A mask of these extents, or None."""
        operand = self.operand(extents)
        return None if operand == "s" else f"{operand} {self.pick('>', '<')} 0.4d0"

    def some(self):
        """Extents of a small part of some array."""
        array = self.random.choice(self.arrays)
        if self.chance(40):
            return array.extents
        dims = self.random.randint(1, array.rank)
        return tuple(self.random.randint(1, min(4, each)) for each in self.random.sample(array.extents, dims))

    def holding(self, count):
        """Arrays of rank 1 that hold so many elements."""
        return [each for each in self.arrays if each.rank == 1 and each.extents[0] >= count]

    def packing(self):
        for _ in range(20):
            extents = self.some()
            array, mask = self.operand(extents), self.taken(extents)
            into = self.holding(prod(extents))
            if not into or mask is None or array == "s":
                continue
            target = self.random.choice(into)
            first, last = target.bounds[0]
            scale = self.pick("", "0.5d0 * ")
            if self.chance(20):
                return [f"{target.name}({first}:{first + prod(extents) - 1}) = {scale}pack({array}, .true.)"]
            if self.chance(50):
                vector = self.random.choice(self.holding(prod(extents)))
                low, high = vector.bounds[0]
                size = min(last - first, high - low)
                part = f"{vector.name}({low}:{low + size})"
                part = part if vector is not target or self.chance(50) else target.name
                section = f"{target.name}({first}:{first + size})"
                section = target.name if part == target.name else section
                return [f"{section} = {scale}pack({array}, {self.pick(mask, mask, '.true.')}, {part})"]
            begin = self.random.randint(first, last - prod(extents) + 1)
            step = ":2" if begin + 2 * prod(extents) - 2 <= last and self.chance(40) else ""
            last = f"{begin} + {'2 * ' if step else ''}(count({mask}) - 1)"
            return [f"{target.name}({begin}:{last}{step}) = pack({array}, {mask})"]
        return self.scalar()

    def unpacking(self):
        for _ in range(20):
            target, extents = self.array_target()
            mask, field = self.taken(extents), self.pick("s", self.operand(extents), target)
            into = self.holding(prod(extents))
            if not into or mask is None:
                continue
            vector = self.random.choice(into)
            text = self.pick(vector.name, f"0.5d0 * {vector.name}")
            return [f"{target} = {self.pick('', '0.5d0 * ')}unpack({text}, {mask}, {field})"]
        return self.scalar()

    def of_packed(self):
        """A reduction of what PACK takes, or of a scan."""
        extents = self.some()
        array, mask = self.operand(extents), self.taken(extents)
        if mask is None or array == "s":
            return self.scalar()
        packed = f"pack({array}, {mask})"
        return [
            self.pick(
                f"s = sum({packed}) / {prod(extents)}",
                f"s = size({packed}) / {prod(extents)}.0d0",
                f"s = max(0.0d0, maxval({packed}))",
                f"s = sum(sum_prefix({array}, dim=1)) / {prod(extents) ** 2}",
            )
        ]

    def scanning(self):
        for _ in range(20):
            target, extents = self.array_target()
            operand, mask = self.operand(extents), self.taken(extents)
            if operand == "s" or mask is None:
                continue
            how = self.pick("prefix", "suffix")
            dim = f", dim={self.random.randint(1, len(extents))}" if self.chance(60) else ""
            masked = f", mask={mask}" if self.chance(30) else ""
            alone = ", exclusive=.true." if self.chance(30) else ""
            count = prod(extents)
            form = self.pick("sum", "sum", "maxval", "minval", "product", "count", "any", "copy")
            value = {
                "sum": f"sum_{how}({operand}{dim}{masked}{alone}) / {count}",
                "maxval": f"max(0.0d0, maxval_{how}({operand}{dim}{masked}{alone}))",
                "minval": f"min(1.0d0, minval_{how}({operand}{dim}{masked}{alone}))",
                "product": f"0.5d0 * product_{how}({operand}{dim}{masked}{alone})",
                "count": f"count_{how}({mask}{dim}{alone}) / {count}.0d0",
                "any": f"merge(0.25d0, 0.5d0, {self.pick('any', 'all', 'parity')}_{how}({mask}{dim}{alone}))",
                "copy": f"0.5d0 * copy_{how}({operand}{dim})",
            }[form]
            return [f"{target} = {value}"]
        return self.scalar()

    def scattering(self):
        for _ in range(20):
            table = self.random.choice(self.tables)
            low = table.fits[0]
            extent = table.bounds[1] - table.bounds[0] + 1
            flat = [each for each in self.arrays if each.bounds == (table.fits,)]
            operand, mask = self.operand((extent,)), self.taken((extent,))
            if not flat or operand == "s" or mask is None:
                continue
            target, base = self.random.choice(flat).name, self.random.choice(flat).name
            place = f"{table.name}" if low == 1 else f"{table.name} - ({low - 1})"
            if self.chance(30):  # several go to one place
                place = f"({place} + 1) / 2"
            masked = f", mask={mask}" if self.chance(40) else ""
            form = self.pick("sum", "sum", "maxval", "minval", "copy")
            return [f"{target} = 0.5d0 * {form}_scatter({operand}, {base}, {place}{masked})"]
        return self.scalar()
