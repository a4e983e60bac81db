"""What a reader of a picture sees: its texts and whether they touch."""

from itertools import combinations


def texts(figure):
    """All texts of a figure that are drawn."""
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        found += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            rounding = 1e-9 * (high - low)
            found += [
                label
                for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
                if low - rounding <= place <= high + rounding and axis.get_visible()
            ]
    found += [text for legend in figure.legends for text in legend.get_texts()]
    return [each for each in found if each.get_visible() and each.get_text().strip()]


def touching(figure):
    """Pairs of texts that overlap by more than half a pixel."""
    boxes = [(each.get_text(), each.get_window_extent().padded(-0.5)) for each in texts(figure)]
    return [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]


def beyond(figure):
    """Texts that are cut off at the border of a picture."""
    whole = figure.bbox.padded(1.0)
    boxes = ((each.get_text(), each.get_window_extent()) for each in texts(figure))
    return [
        text for text, box in boxes if box.x0 < whole.x0 or box.y0 < whole.y0 or box.x1 > whole.x1 or box.y1 > whole.y1
    ]


def assert_readable(figure):
    """No text touches another one, is cut off or is smaller than 8 pt."""
    assert touching(figure) == []
    assert beyond(figure) == []
    assert min(each.get_size() for each in texts(figure)) >= 8
    assert figure.get_figwidth() in (3.5, 7.0)


def curve_names(figure):
    """The names at the ends of curves, from top to bottom."""
    named = [each for each in figure.axes[0].texts if each.get_text() and each.get_visible()]
    return [each.get_text() for each in sorted(named, key=lambda each: -each.get_window_extent().y0)]
