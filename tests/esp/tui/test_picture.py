"""The picture of the README shows the screen as it is; `ESP_UPDATE_GOLDEN=1` takes it anew."""

import asyncio
import html
import os
import re
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[3] / "docs" / "pictures" / "tui.svg"
SIZE = (120, 34)
KEYS = ("w", "down", "right", "right")
"""Twice the bandwidth."""


def _rows(svg):
    """The characters of a terminal in SVG, by rows: the drawing itself depends on the version of textual."""
    found = {}
    for x, y, text in re.findall(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        found.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    rows = ["".join(text for _, text in sorted(each)) for _, each in sorted(found.items())]
    return ["".join(row.split()) for row in rows if row.strip()]


def test_the_picture_of_the_readme_is_up_to_date(driving, monkeypatch):
    async def photographed():
        async with driving.running(driving.real("laplace", procs=8), SIZE) as (app, pilot):
            await driving.press(app, pilot, *KEYS)
            return app._picture()

    monkeypatch.delenv("NO_COLOR", raising=False)
    svg = asyncio.run(photographed())
    if os.environ.get("ESP_UPDATE_GOLDEN"):
        PICTURE.write_text(svg, encoding="utf-8")
    shown = _rows(PICTURE.read_text(encoding="utf-8"))
    assert shown == _rows(svg)
    assert not re.search(r"url\(|href=", svg.replace("url(#", ""))
    assert any("bandwidth" in row for row in shown)
    assert any("(BLOCK,BLOCK)" in row for row in shown)


def test_the_readme_shows_it(root):
    assert "docs/pictures/tui.svg" in (root / "README.md").read_text(encoding="utf-8")
