"""The speed-up of a choice as a curve."""

from collections.abc import Mapping
from math import log2

from textual_plotext import PlotextPlot

from aag.wording import plural


class SpeedUp(PlotextPlot):
    """How many times as fast the program is on more processors, with the ideal beside it, both axes logarithmic."""

    def __init__(self) -> None:
        super().__init__(id="speed-up")
        self._shown: object = None

    def show(self, times: Mapping[int, float], name: str, here: int) -> None:
        """Draw the curve. `times`: processors -> times as fast; `here`: the number of processors of the screen."""
        if (wanted := (dict(times), name, here)) == self._shown:
            return
        self._shown = wanted
        plot = self.plt
        plot.clear_data()
        plot.title("Speed-up: times as fast as on 1 processor")
        if times:
            at = [log2(procs) for procs in times]
            fewest = min(times)
            plot.plot(at, [log2(procs / fewest) for procs in times], marker=".", color="gray", label="ideal")
            plot.plot(at, [log2(each) for each in times.values()], marker="braille", color="orange", label=name)
            if here in times:
                plot.scatter(
                    [log2(here)], [log2(times[here])], marker="●", color="red", label=plural(here, "processor")
                )
            plot.xticks(at, [str(procs) for procs in times])
            top = max(1, *(round(log2(procs / fewest)) for procs in times))
            plot.yticks(list(range(top + 1)), [str(2**each) for each in range(top + 1)])
            plot.xlabel("processors")
            plot.title(f"Speed-up: times as fast as on {plural(fewest, 'processor')}")
        self.refresh()
