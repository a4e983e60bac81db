"""Whatever a program, a machine or an option contains: output shows it, obeys its format, and hides nothing."""

import csv
import io
import json
import re
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from aag.visible import escaped
from esp.output.screen import Screen
from esp.visible import inked, visible

EVIL = "\x1b[1;31m\x1b]0;owned\x07\x9b2J\x85\u202eevil\u2066\u200b\u2028\ufeff\ufffe\x0b\x0c\x7f\U000e0041\U00100001"
"""Control, C1, direction, invisible, separator, no character, tag, private."""
SHOWN = (
    r"\u001b[1;31m\u001b]0;owned\u0007\u009b2J\u0085\u202eevil\u2066\u200b\u2028\ufeff"
    r"\ufffe\u000b\u000c\u007f\udb40\udc41"
)

PROGRAM = f"""program evil
  implicit none
  integer, parameter :: n = 16
  double precision :: a(n), b(n) ! {EVIL}
  character(len=80) :: name
  integer :: i, k
!hpf$ distribute (block) :: a, b ! {EVIL}
  name = '{EVIL}'
  do k = 1, 3
    forall (i = 2:n) a(i) = b(i-1) ! {EVIL}
  end do
  if (name == '{EVIL}') a = 0.0d0
  print *, '{EVIL}', sum(a) &
    + 1.0d0 ! {EVIL}
end program evil
"""
WRONG = PROGRAM.replace("end do", f"end do; x{EVIL} = 1", 1)


def hidden(text):
    """Characters of a text that nobody sees."""
    categories = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
    return [each for each in text if each not in "\t\n" and unicodedata.category(each) in categories]


def as_json(text):
    assert json.loads(text)


def as_lines_of_json(text):
    assert all(json.loads(line) for line in text.splitlines())


def as_csv(text):
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows[1:] for cell in row if re.match(r"[=+@]|-\D", cell)]


def as_xml(text):
    ET.fromstring(text)


def as_html(text):
    reader = HTMLParser(convert_charrefs=True)
    reader.feed(text)
    reader.close()


def as_dot(text):
    string = r'"(?:[^"\\\n]|\\.)*"'
    attributes = rf"\[\w+=(?:{string}|\w+)(?:, \w+=(?:{string}|\w+))*\]"
    name = rf"(?:{string}|\w+)"
    first, *lines, last = text.splitlines()
    assert re.fullmatch(r"digraph \w+ \{", first)
    assert last == "}"
    assert not [line for line in lines if not re.fullmatch(rf"  {name}(?: -> {name})?(?: {attributes})?;", line)]


def as_mermaid(text):
    string = r'"(?:[^"#<>&;`\\\n]|#\d+;|<br/>)*"'
    first, *lines = text.splitlines()
    assert first == "flowchart TD"
    form = rf"  \w+(?:\[{string}\]| (?:-->|-\.->|==>)(?:\|{string}\|)? \w+)"
    assert not [line for line in lines if not re.fullmatch(form, line)]


def as_text(text):
    assert text.strip()


FORMS = {
    as_text: """
        run {file} --procs 4
        run {file} --procs 4 --annotate
        run {file} --procs 4 --aau all
        show ir {file} --procs 4
        show layouts {file} --procs 4
        show node {file} --procs 4
        show saag {file} --procs 4
        system show {machine}
        run {file} --procs 4 --system {machine}
        layout {file} --procs 4
        compare {file} --procs 4
        whatif {file} --procs 4 --load 30%
        sweep {file} --procs 1,2,4
        scalability {file} --procs 1,2
        balance {file} --procs 2,4
        explain {file}:10 --procs 4
        query {file} --procs 4
        advise {file} --procs 4
        diff {file} {other} --procs 4
        trace {file} --procs 4
        trace {file} --procs 4 --format picl
        trace {file} --procs 4 --format goal
    """,
    as_json: """
        run {file} --procs 4 --json
        show saag {file} --procs 4 --format json
        graph aag {file} --procs 4 --format json
        graph sag {machine} --format json
        system show {machine} --json
        run {file} --procs 4 --system {machine} --json
        layout {file} --procs 4 --json
        compare {file} --procs 4 --json
        whatif {file} --procs 4 --load 30% --json
        sweep {file} --procs 1,2,4 --json
        explain {file}:10 --procs 4 --json
        advise {file} --procs 4 --json
        diff {file} {other} --procs 4 --json
        trace {file} --procs 4 --format chrome
    """,
    as_csv: """
        run {file} --procs 4 --csv
        run {file} --procs 1,2 --csv
        compare {file} --procs 4 --csv
        whatif {file} --procs 4 --load 30% --csv
        sweep {file} --procs 1,2,4 --csv
        query {file} --procs 4 --csv
    """,
    as_xml: """
        show aag {file} --procs 4 --format graphml
        graph saag {file} --procs 4 --format svg
        graph saag {file} --procs 4 --format graphml
        graph sag {machine} --format svg
        graph sag {machine} --format graphml
        layout {file} --procs 4 -o {svg}
    """,
    as_dot: """
        show aag {file} --procs 4 --format dot
        graph saag {file} --procs 4 --format dot
        graph sag {machine} --format dot
    """,
    as_mermaid: """
        show aag {file} --procs 4 --format mermaid
        graph saag {file} --procs 4 --format mermaid
        graph sag {machine} --format mermaid
    """,
    as_lines_of_json: """
        sweep {file} --procs 1,2,4 --jsonl
    """,
    as_html: """
        report {file} --procs 4
    """,
}
CASES = [(line.strip(), parse) for parse, lines in FORMS.items() for line in lines.strip().splitlines()]


@pytest.fixture
def files(tmp_path):
    names = {
        name: tmp_path / f"{name}\u202e{end}"
        for name, end in (("file", ".f90"), ("other", ".f90"), ("machine", ".yaml"), ("wrong", ".f90"))
    }
    names["file"].write_text(PROGRAM, encoding="utf-8")
    names["other"].write_text(PROGRAM.replace("b(i-1)", "2 * b(i-1)"), encoding="utf-8")
    names["wrong"].write_text(WRONG, encoding="utf-8")
    names["machine"].write_text('format: 1\nname: evil\nextends: ipsc860\ntitle: "\\e[31m\\u202e\\x9b2J"\n')
    return names


@pytest.mark.sampled
@pytest.mark.parametrize(("words", "parse"), CASES, ids=[words for words, _ in CASES])
def test_every_output(words, parse, files, esp, tmp_path):
    drawing = tmp_path / "drawing.svg"
    code, out, err = esp(*(word.format(**files, svg=drawing) for word in words.split()))
    assert code == 0, err
    out = drawing.read_text(encoding="utf-8") if drawing.exists() else out
    assert not hidden(out)
    assert not hidden(err)
    parse(out)


@pytest.mark.parametrize(
    "words",
    [
        "run {wrong}",
        "run {file} --procs 4 --set evil={evil}",
        "run {missing}",
        "run {file} --{evil}",
        "{evil}",
        "run {file} --procs 4 --distribute a={evil}",
    ],
)
@pytest.mark.parametrize("colour", ["never", "always"])
def test_every_error(words, colour, files, esp):
    evil = "".join(each for each in EVIL if unicodedata.category(each) != "Cc")
    code, out, err = esp(
        *(word.format(**files, evil=evil, missing=f"{evil}.f90") for word in words.split()),
        *(("--color", colour) if words.startswith("run") else ()),
    )
    assert code in (1, 2) or words == "run {wrong}"
    for text in (out, err):
        assert not hidden(re.sub(r"\x1b\[[\d;]*m", "", text))


def test_names_and_options_without_control_characters(files, esp):
    for word in (f"{files['file']}\n", "a\x1b[2J.f90", "--set=n=\x7f"):
        code, out, err = esp("run", word)
        assert (code, out) == (2, "")
        assert "contains a control character" in err
        assert not hidden(err)


def test_escapes_are_those_of_json():
    assert escaped(EVIL) == SHOWN + "\U00100001"
    assert json.loads(f'"{escaped(EVIL)}"') == EVIL
    assert escaped("a\tb\nc äöü 漢字 😀") == "a\tb\nc äöü 漢字 😀"


def test_colours_come_from_esp_alone():
    assert visible(inked("31", "\x1b[32mx")) == "\x1b[31m\\u001b[32mx\x1b[0m"
    assert visible(Screen(colour=True).paint("hot", "x")) == "\x1b[1;31mx\x1b[0m"


def test_such_programs_compile_and_print_the_same(files, esp):
    inner = f"contains\nsubroutine inner()\n  print *, '{EVIL}'\nend subroutine\nend program evil"
    files["file"].write_text(PROGRAM.replace("end program evil", inner), encoding="utf-8")
    code, out, err = esp("validate", str(files["file"]), "--procs", "3")
    assert code == 0, err
    assert out.splitlines()[1].split()[:2] == ["3", "same"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("give ‹procs› or ‹grid 4x2›", "give --procs or --grid 4x2"),
        ("‹set N=4›, ‹processor_speed›: no", "--set N=4, --processor-speed: no"),
        ("a ‹ b", "a ‹ b"),
        ("‹É›‹a.b›‹›", "‹É›‹a.b›‹›"),
    ],
)
def test_parameters_of_diagnostics_are_options(text, shown):
    assert visible(text) == shown


def test_an_option_that_is_broken_at_the_end_of_a_line_is_spelled():
    assert visible("give it (‹set\n  N=VALUE› decides), ‹procs›, ‹set N=4› or ‹ a") == (
        "give it (--set\n  N=VALUE decides), --procs, --set N=4 or ‹ a"
    )
