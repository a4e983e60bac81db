"""The page of `esp report` for everybody: structure, names of pictures, contrast, and a script that is not needed."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from esp.output.report_style import DARK, HOTTEST, LIGHT, SCRIPT, STYLE

TEXT = ("ink", "soft", "link", "warning")
MARKS = ("computation", "communication", "waiting", "overhead")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The page of the Laplace solver on 4 processors."""
    from esp.cli.main import main

    path = tmp_path_factory.mktemp("report") / "laplace.html"
    assert main(["report", "laplace", "--procs", "4", "--scaling", "1,4", "--size", "none", "-q", "-o", str(path)]) == 0
    return ET.parse(path).getroot()


def channels(colour):
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def contrast(one, other):
    """The contrast ratio of WCAG 2.1 of two colours of three channels each."""

    def luminance(colour):
        parts = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_the_contrast_is_that_of_wcag():
    assert contrast(channels("#000000"), channels("#ffffff")) == pytest.approx(21)
    assert contrast(channels("#777777"), channels("#ffffff")) == pytest.approx(4.48, abs=0.005)  # the known near miss


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_marks_have_contrast(colours):
    paper = channels(colours["paper"])
    for name in TEXT:
        for ground in ("paper", "tint"):
            assert contrast(channels(colours[name]), channels(colours[ground])) >= 4.5, (name, ground)
    for name in MARKS:
        assert contrast(channels(colours[name]), paper) >= 3, name
    hot = [HOTTEST * one + (1 - HOTTEST) * other for one, other in zip(channels(colours["heat"]), paper, strict=True)]
    assert contrast(channels(colours["ink"]), hot) >= 4.5


def test_both_sets_of_colours_are_the_same_names_and_all_are_set():
    assert LIGHT.keys() == DARK.keys()
    used = set(re.findall(r"var\(--([a-z]+)", STYLE))
    assert used - {"warm"} <= LIGHT.keys()
    written = set(re.findall(r"#[0-9a-f]{3,6}\b", STYLE))
    assert written <= {*LIGHT.values(), *DARK.values()}
    assert "rgba({}, {}, {}, var(--warm))".format(*(round(255 * each) for each in channels(LIGHT["heat"]))) in STYLE


def test_every_table_has_a_caption_and_its_headings_a_scope(tree):
    tables = list(tree.iter("table"))
    assert len(tables) > 5
    for table in tables:
        assert "".join(table.find("caption").itertext()).strip()
        heads = list(table.find("thead").iter("th"))
        assert all(each.get("scope") == "col" and "".join(each.itertext()).strip() for each in heads)
        for row in table.find("tbody"):
            assert [each.get("scope") for each in row.iter("th")] == ["row"]
            assert len(row) == len(heads)


def test_every_picture_has_a_text(tree):
    pictures = [*tree.iter("svg"), *(each for each in tree.iter("div") if "bar" in (each.get("class") or "").split())]
    assert len(pictures) > 10
    for each in pictures:
        assert each.get("role") == "img"
        assert each.get("aria-label").strip()


def test_headings_follow_each_other(tree):
    levels = [int(each.tag[1]) for each in tree.iter() if re.fullmatch(r"h\d", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_script_only_sorts(tree):
    """Nothing of the page is hidden or made by it."""
    (script,) = tree.iter("script")
    assert script.attrib == {}
    assert script.text == SCRIPT
    assert not re.search(r"[<&]", SCRIPT)
    assert not re.search(r"fetch|XMLHttp|import|eval|innerHTML|location", SCRIPT)
    assert "display: none" not in re.sub(r"@media.*", "", STYLE, flags=re.DOTALL)


def test_cells_with_units_have_a_key_to_sort_by(tree):
    """``900 us`` is less than ``1.2 ms``."""
    (found,) = [each for each in tree.iter("section") if each.get("id") == "profile"]
    keys = [float(row[1].get("data-key")) for row in found.find(".//tbody")]
    assert len(keys) > 3
    assert keys == sorted(keys, reverse=True)
