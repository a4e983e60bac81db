"""`esp layout`: the pictures are held against owners by the formulas of the HPF standard, written out again here."""

import itertools
import json
import re
import xml.etree.ElementTree as ET

import pytest

SVG = "{http://www.w3.org/2000/svg}"


def owner(kind, block, extent, procs, index):
    """Coordinate of a template index that counts from 1 (HPF 1.1, section 3.3)."""
    if kind == "BLOCK":
        size = block or -(-extent // procs)
        return (index - 1) // size
    return (index - 1) // (block or 1) % procs


def program(formats, extents, grid, *, align=""):
    shape = ",".join(map(str, extents))
    return f"""\
program p
  real :: a({shape})
!HPF$ PROCESSORS q({",".join(map(str, grid))})
!HPF$ DISTRIBUTE a({",".join(formats)}) ONTO q
{align}  a = 1.0
end program p
"""


def parsed(text):
    """Format of one dimension: kind and block."""
    found = re.fullmatch(r"(BLOCK|CYCLIC)(?:\((\d+)\))?", text)
    return found and (found[1], int(found[2] or 0))


CASES = [
    (("BLOCK",), (10,), (4,)),
    (("CYCLIC",), (11,), (4,)),
    (("CYCLIC(3)",), (20,), (3,)),
    (("BLOCK(5)",), (17,), (4,)),
    (("BLOCK", "BLOCK"), (9, 7), (3, 2)),
    (("BLOCK", "*"), (9, 7), (3,)),
    (("*", "CYCLIC(2)"), (5, 9), (4,)),
    (("CYCLIC", "BLOCK"), (6, 8), (2, 3)),
    (("CYCLIC(2)", "*", "BLOCK"), (6, 3, 8), (2, 2)),
    (("BLOCK", "BLOCK", "CYCLIC(2)"), (4, 6, 8), (2, 2, 2)),
]


@pytest.mark.parametrize(("formats", "extents", "grid"), CASES)
def test_every_element_is_in_the_box_of_its_owner(formats, extents, grid, esp):
    procs = 1
    for extent in grid:
        procs *= extent
    code, out, _ = esp("layout", "-", "--procs", str(procs), "--json", stdin=program(formats, extents, grid))
    assert code == 0
    (picture,) = json.loads(out)["arrays"]
    seen = {}
    for plane in picture["planes"]:
        sides = [side["runs"] for side in picture["sides"]]
        for at in itertools.product(*(range(len(runs)) for runs in sides)):
            box = plane["owners"][at[0]][at[1]] if len(at) == 2 else plane["owners"][0][at[0]]
            ranges = {side["dimension"]: runs[i] for side, runs, i in zip(picture["sides"], sides, at, strict=True)}
            ranges |= {each["dimension"]: each for each in plane["fixed"]}
            spans = [range(ranges[dim]["first"], ranges[dim]["last"] + 1) for dim in range(1, len(extents) + 1)]
            for index in itertools.product(*spans):
                assert index not in seen
                seen[index] = box
    assert set(seen) == set(itertools.product(*(range(1, extent + 1) for extent in extents)))
    for index, box in seen.items():
        rank, stride, axis = 0, 1, 0
        for text, extent, where in zip(formats, extents, index, strict=True):
            if text != "*":
                kind, block = parsed(text)
                rank += stride * owner(kind, block, extent, grid[axis], where)
                stride *= grid[axis]
                axis += 1
        assert box == [rank], index


@pytest.mark.parametrize(("formats", "extents", "grid"), [case for case in CASES if len(case[1]) <= 2])
def test_the_text_shows_the_boxes_of_the_json(formats, extents, grid, esp):
    procs = 1
    for extent in grid:
        procs *= extent
    source = program(formats, extents, grid)
    (picture,) = json.loads(esp("layout", "-", "--procs", str(procs), "--json", stdin=source)[1])["arrays"]
    text = esp("layout", "-", "--procs", str(procs), stdin=source)[1]
    drawn, fresh = [], False
    for row in text.splitlines():
        if re.match(r"^ +\+[-+]+$", row):
            fresh = True
        elif fresh and (found := re.match(r"^ *[\d:]* \|(.+)\|$", row)):
            boxes = found[1].split("|")
            assert all(len(set(box)) == 1 for box in boxes), row
            drawn.append([[int(box[0])] for box in boxes])
            fresh = False
    assert drawn == picture["planes"][0]["owners"]


def test_a_replicated_axis_names_all_who_hold_a_copy(esp):
    text = """\
program p
  real :: a(8, 8), b(8)
!HPF$ PROCESSORS q(2,3)
!HPF$ DISTRIBUTE a(BLOCK,BLOCK) ONTO q
!HPF$ ALIGN b(i) WITH a(i,*)
  a = 1.0
  b = 2.0
end program p
"""
    pictures = json.loads(esp("layout", "-", "--procs", "6", "--json", stdin=text)[1])["arrays"]
    (b,) = (each for each in pictures if each["array"] == "b")
    assert b["planes"][0]["owners"] == [[[0, 2, 4], [1, 3, 5]]]
    assert "0,2,4" in esp("layout", "-", "--procs", "6", "--array", "B", stdin=text)[1]


DOUBTFUL = """\
program d
  integer, parameter :: n = 64
  real :: a(n), b(n), c(n), t(n, n), u(n, n), few(3)
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO p
!HPF$ DISTRIBUTE b(CYCLIC) ONTO p
!HPF$ DISTRIBUTE few(CYCLIC) ONTO p
!HPF$ DISTRIBUTE (BLOCK,*) ONTO p :: t, u
  forall (i = 1:n) b(i) = 1.0
  few = 0.0
  forall (i = 1:n, j = 1:n) t(i, j) = 1.0
  forall (i = 1:n) a(i) = b(i)
  forall (i = 1:n, j = 1:n) u(i, j) = t(j, i)
  forall (i = 1:n, j = 1:n) u(i, j) = t(i, j)
  c = b
end program d
"""


def test_doubts_are_told_with_their_lines(esp):
    found = json.loads(esp("layout", "-", "--procs", "4", "--json", stdin=DOUBTFUL)[1])["doubts"]
    assert [(each["kind"], each["arrays"], each["line"]) for each in found] == [
        ("replicated", ["c"], 3),
        ("idle", ["few"], 7),
        ("misaligned", ["b", "a"], 12),
        ("transpose", ["t", "u"], 13),
        ("gathered", ["b"], 15),
    ]


def test_what_is_well_mapped_is_left_alone(esp):
    for name in ("laplace", "laplace_bx", "redblack", "pipeline", "gauss"):
        assert json.loads(esp("layout", name, "--procs", "4", "--json")[1])["doubts"] == []


def test_one_processor_replicates_nothing(esp):
    found = json.loads(esp("layout", "-", "--procs", "1", "--json", stdin=DOUBTFUL.replace("p(4)", "p(1)"))[1])
    assert found["doubts"] == []


def test_svg_boxes_are_in_proportion(esp, tmp_path):
    target = tmp_path / "x.svg"
    source = program(("BLOCK(6)", "BLOCK"), (10, 8), (2, 2))
    assert esp("layout", "-", "--procs", "4", "-o", str(target), stdin=source)[0] == 0
    root = ET.parse(target).getroot()
    boxes = [each for each in root.iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None]
    areas = {box.find(f"{SVG}title").text: float(box.get("width")) * float(box.get("height")) for box in boxes}
    whole = sum(areas.values())
    assert {name: round(80 * area / whole, 2) for name, area in areas.items()} == {
        "processor 0": 24,
        "processor 1": 16,
        "processor 2": 24,
        "processor 3": 16,
    }
    assert "http" not in target.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_colours_only_where_they_are_wanted(esp):
    assert "\x1b[" not in esp("layout", "laplace", "--procs", "4")[1]
    assert "\x1b[30;48;5;" in esp("layout", "laplace", "--procs", "4", "--color", "always")[1]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("procs", [2, 8, 100, 1024])
def test_nothing_is_wider_than_the_screen(width, procs, esp, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = esp("layout", "laplace", "--procs", str(procs))
    assert code == 0
    assert [row for row in out.splitlines() if len(row) > width] == []
    assert len(out.splitlines()) < 60


def test_wrong_use(esp):
    code, out, err = esp("layout", "laplace", "--array", "zz")
    assert (code, out) == (2, "")
    assert err == "esp: --array: the program has no array zz. Its arrays are a, b.\n"
