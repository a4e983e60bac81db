"""Photographs of the screen as text, at three sizes; `ESP_UPDATE_GOLDEN=1` takes them anew, for a `git diff`."""

import asyncio
import os
from pathlib import Path

import pytest

SCREENS = Path(__file__).parent / "screens"
SIZES = ((80, 24), (120, 40), (200, 50))
SCENES = {
    "source": (),
    "graph": ("2", "p"),
    "timeline": ("3", "n", "n"),
    "compare": ("4",),
    "what-matters": ("5",),
    "calls": ("6",),
    "scaling": ("7",),
    "what-if": ("1", "w", "right", "right", "right", "right", "down", "right", "b", "right"),
}
"""Name -> the keys that lead there from the scene before."""


@pytest.mark.sampled
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_screens(size, made, driving, monkeypatch):
    monkeypatch.setattr("esp.tui.engine.Engine", made.engine())

    async def all_scenes():
        found = {}
        async with driving.running(made.opened(), size) as (app, pilot):
            for name, keys in SCENES.items():
                await driving.press(app, pilot, *keys)
                found[name] = driving.picture(app)
        return found

    wrong = []
    for name, text in asyncio.run(all_scenes()).items():
        rows = text.splitlines()
        assert len(rows) == size[1]
        assert max(map(len, rows)) <= size[0]
        path = SCREENS / f"{name}-{size[0]}x{size[1]}.txt"
        if os.environ.get("ESP_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        if text != path.read_text(encoding="utf-8"):
            wrong.append(f"{path.name}\n{text}")
    assert not wrong, "\n".join(wrong)
