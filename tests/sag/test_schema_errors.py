"""Each mistake in a machine file is answered with its line, its column, what is wrong, and the way out."""

import random
from pathlib import Path

import pytest

from sag.errors import MachineError
from sag.load import load_system

SYSTEMS = Path(__file__).resolve().parents[2] / "systems"

SMALL = """\
format: 1
name: small
title: a node with a cache
processors: {default: 4, largest_built: 16}
sources:
  book: a book
system:
  processor: [node]
  memory: [node]
  units:
    node:
      role: node
      processor: void
      memory:
        source: book
        certainty: cited
        cache_size: 8 KB
        line: 32 B
        associativity: 2
        replacement: lru
        write_allocate: no
        read_miss: 0.33 us
        write_miss: 0.08 us
        writeback: 0.23 us
        size: 8 MB
        usable: 6 MB
        page: 4 KB
        pack: 0.1 us/B
        copy: 28 MB/s
"""
LISTED = "write 'read_miss: 10 us' for one value, 'read_miss:' and its keys below for a group"

# the processor is void in the file above, so the first mistake is planted there on purpose by each test
GOOD = SMALL.replace("  processor: [node]\n", "")


def errors_of(text, **options):
    with pytest.raises(MachineError) as caught:
        load_system(text, **options)
    return caught.value


def check_error(text, line, column, code, message, hint):
    error = errors_of(text)
    found = (error.line, error.column, error.code, error.message, error.hint)
    assert found == (line, column, code, message, hint)
    assert error.file == "<text>"
    assert error.source_line == text.splitlines()[line - 1]
    return error


def test_the_file_without_mistakes_loads():
    system = load_system(GOOD)
    assert system.parameters()["node.read_miss"].value == pytest.approx(0.33e-6, rel=1e-15)
    assert system.parameters()["node.copy"].value == pytest.approx(1 / 28e6, rel=1e-15)


MISTAKES = {
    "unknown key": (
        ("read_miss: 0.33", "raed_miss: 0.33"),
        (21, 9, "M103", "unknown key 'raed_miss' in 'memory' of a node", "did you mean 'read_miss'?"),
    ),
    "unknown key of a unit": (
        ("      role: node", "      rool: node"),
        (11, 7, "M103", "unknown key 'rool' in the unit 'node'", "did you mean 'role'?"),
    ),
    "unknown key of the file": (
        ("title: a node", "titel: a node"),
        (3, 1, "M103", "unknown key 'titel' in a machine file", "did you mean 'title'?"),
    ),
    "unknown key of the processors": (
        ("default: 4", "defualt: 4"),
        (4, 14, "M103", "unknown key 'defualt' in 'processors'", "did you mean 'default'?"),
    ),
    "unknown key of a figure": (
        ("writeback: 0.23 us", "writeback: {value: 0.23 us, sorce: book}"),
        (23, 37, "M103", "unknown key 'sorce' in the figure 'writeback'", "did you mean 'source'?"),
    ),
    "missing key": (
        ("        read_miss: 0.33 us\n", ""),
        (13, 7, "M104", "the key 'read_miss' is missing in 'memory' (filling a line)", ""),
    ),
    "missing name": (("name: small\n", ""), (1, 1, "M104", "the key 'name' is missing", "")),
    "missing format": (("format: 1\n", ""), (1, 1, "M104", "the key 'format' is missing", "begin with 'format: 1'")),
    "newer format": (
        ("format: 1", "format: 2"),
        (1, 9, "M107", "format 2 is not known to this version", "this version reads format 1"),
    ),
    "missing processors": (
        ("processors: {default: 4, largest_built: 16}\n", ""),
        (
            *(1, 1, "M104", "the key 'processors.default' is missing"),
            "write 'processors: {default: 8, largest_built: 128}'",
        ),
    ),
    "processors that are no number": (
        ("default: 4", "default: four"),
        (4, 23, "M106", "'four' is not a whole number", "write for example 8"),
    ),
    "no processors": (("default: 4", "default: 0"), (4, 23, "M107", "'default' must be between 1 and 1048576", "")),
    "unit of another dimension": (
        ("read_miss: 0.33 us", "read_miss: 0.33 MB"),
        (*(21, 20, "M106", "'read_miss': '0.33 MB' is a size, expected a time"), "write for example 65 us"),
    ),
    "no unit": (
        ("cache_size: 8 KB", "cache_size: 8192"),
        (16, 21, "M106", "'cache_size': '8192' lacks its unit: expected a size", "write for example 8 KB"),
    ),
    "unknown unit": (
        ("line: 32 B", "line: 32 Bytes"),
        (*(17, 15, "M106", "'line': unknown unit 'Bytes' in '32 Bytes': expected a size"), "write for example 8 KB"),
    ),
    "not a whole number": (
        ("associativity: 2", "associativity: 2.5"),
        (18, 24, "M106", "'associativity': '2.5' is not a whole number", ""),
    ),
    "out of range": (
        ("read_miss: 0.33 us", "read_miss: -0.33 us"),
        (21, 20, "M107", "'read_miss' is -0.33 us; it must be at least 0", ""),
    ),
    "beyond any machine": (
        ("read_miss: 0.33 us", "read_miss: 1e300 us"),
        (21, 20, "M107", "'read_miss' is 1e300 us; it must be at most 1e+18", ""),
    ),
    "word that is not allowed": (
        ("replacement: lru", "replacement: lur"),
        (
            *(19, 22, "M107", "'lur' is not allowed for 'replacement' (which line of a set is evicted)"),
            "did you mean 'lru'?",
        ),
    ),
    "group for a value": (
        ("read_miss: 0.33 us", "read_miss: {fast: 1 us}"),
        (21, 21, "M105", "'read_miss' is one value, not a group", ""),
    ),
    "list for a value": (
        ("read_miss: 0.33 us", "read_miss: [0.33 us]"),
        (21, 20, "M105", "'read_miss' must be one value or a group of them, not a list", LISTED),
    ),
    "nothing for a value": (("read_miss: 0.33 us", "read_miss:"), (21, 19, "M105", "'read_miss' has no value", "")),
    "value for a component": (
        ("processor: void", "processor: viod"),
        (
            *(12, 18, "M105", "'processor' must contain figures, a list of the units that refine it, or 'void'"),
            "write for example 'processor: {clock: 40 MHz}'",
        ),
    ),
    "value for a unit": (
        ("    node:\n", "    disk: 3\n    node:\n"),
        (10, 11, "M105", "the unit 'disk' must be a mapping", "write 'disk:', and its keys below"),
    ),
    "unit that cannot be named so": (
        ("    node:\n", "    no-de:\n"),
        (10, 5, "M107", "'no-de' cannot name a unit", "use letters, digits and _"),
    ),
    "value for the system": (
        ("system:\n", "notes: one\nsystem:\n"),
        (7, 8, "M105", "'notes' must be a list of texts", ""),
    ),
    "duplicate key": (
        ("        line: 32 B\n", "        line: 32 B\n        line: 64 B\n"),
        (18, 9, "M102", "the key 'line' appears twice", "first in line 17"),
    ),
    "alias": (
        ("line: 32 B\n        associativity: 2", "line: &x 32 B\n        associativity: *x"),
        (18, 24, "M102", "YAML aliases (*name) are not used in machine files", "write the value out"),
    ),
    "not YAML": (
        ("title: a node", "title: [a node"),
        (4, 11, "M102", "this is not YAML: did not find expected ',' or ']'", "check this line and the one before"),
    ),
    "no source": (
        ("        source: book\n", ""),
        (
            *(15, 9, "M108", "'cache_size' has no source, here or above"),
            "add source: ... to the figure, or to its component for all its figures",
        ),
    ),
    "unknown source": (
        ("        source: book\n", "        source: boook\n"),
        (14, 17, "M108", "'boook' is not one of the sources of this file", "did you mean 'book'?"),
    ),
    "no certainty": (
        ("        certainty: cited\n", ""),
        (
            *(15, 9, "M108", "'cache_size' has no certainty, here or above"),
            "add certainty: ... to the figure, or to its component for all its figures",
        ),
    ),
    "no source and no certainty": (
        ("        source: book\n        certainty: cited\n", ""),
        (
            *(14, 9, "M108", "'cache_size' has no source and no certainty, here or above"),
            "add source: ... and certainty: ... to the figure, or to its component for all its figures",
        ),
    ),
    "unknown certainty": (
        ("certainty: cited", "certainty: vague"),
        (15, 20, "M108", "'vague' is not a certainty", "known here: quoted, cited, estimated, measured"),
    ),
    "unknown role": (
        ("role: node", "role: nod"),
        (11, 13, "M107", "'nod' is not the role of a unit", "did you mean 'node'?"),
    ),
    "figures where none can stand": (
        ("role: node", "role: link"),
        (
            13,
            7,
            "M110",
            "a unit of role 'link' has no figures for 'memory'",
            "they belong to a unit of role node or host",
        ),
    ),
    "refined by nobody": (
        ("memory: [node]", "memory: [nodes]"),
        (8, 12, "M110", "'memory' is refined by 'nodes', which is not a unit below", "did you mean 'node'?"),
    ),
    "refined by a void": (
        ("  memory: [node]\n", "  memory: [node]\n  processor: [node]\n"),
        (9, 15, "M110", "'processor' is refined by 'node', whose own P is void", ""),
    ),
    "extends nothing": (
        ("title: a node", "extends: ipsc\ntitle: a node"),
        (*(3, 10, "M109", "there is no machine 'ipsc' to extend"), "did you mean 'ipsc860'?"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake, monkeypatch):
    monkeypatch.chdir(SYSTEMS)  # `extends` looks beside the file; a text lies in the working directory
    (old, new), (line, column, code, message, hint) = MISTAKES[mistake]
    assert old in GOOD
    check_error(GOOD.replace(old, new), line, column, code, message, hint)


NETWORK = SYSTEMS.joinpath("ipsc860.yaml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "code", "message", "hint"),
    [
        (
            *("                upto: 100 B\n", "", "M107"),
            "the message ranges 'short' and 'long' have no 'upto'",
            "write another 'upto' for one, or leave it out ('short: void' in a file that extends others)",
        ),
        (
            *("              long:\n", "              long:\n                upto: 4 KB\n", "M107"),
            *("the largest messages have no range", "leave out its 'upto'"),
        ),
        (
            *("              long:\n", "              overlap:\n", "M107"),
            *("'overlap' cannot name a message range", "choose another name"),
        ),
        (
            *("startup: {value: 147.0 us", "start_up: {value: 147.0 us", "M103"),
            *("unknown key 'start_up' in 'long' in 'network' of a network", "did you mean 'startup'?"),
        ),
        (
            *("topology: {kind: hypercube}", "topology: {kind: hyperqube}", "M107"),
            *("'hyperqube' is not allowed for 'topology.kind' (how nodes are joined)", "did you mean 'hypercube'?"),
        ),
        (
            *("topology: {kind: hypercube}", "topology: hypercube", "M105"),
            *("'topology' is a group, not a value", "it contains 'topology.kind'"),
        ),
        (
            *("              mul: {value: 0.110 us", "              mull: {value: 0.110 us", "M103"),
            *("unknown key 'mull' in 'r8' in 'processor' of a node", "did you mean 'mul'?"),
        ),
        (
            *("    srm:\n", "    spare: {role: link}\n    srm:\n", "M110"),
            *("a second unit has the role 'link'", "a machine has one of each"),
        ),
        (
            *("load: {value: 0, source: reasoned", "load: {value: 110%, source: reasoned", "M107"),
            *("'load' is 110%; it must be at most 1", ""),
        ),
        (
            *("algorithm: {value: pairwise", "algorithm: {value: parwise", "M107"),
            "'parwise' is not allowed for 'collectives.transpose.algorithm' (how it is built, Def 8)",
            "did you mean 'pairwise'?",
        ),
    ],
)
def test_mistakes_in_a_whole_machine(old, new, code, message, hint):
    assert NETWORK.count(old) == 1, old
    error = errors_of(NETWORK.replace(old, new))
    assert [(each.code, each.message, each.hint) for each in error.findings] == [(code, message, hint)]


def test_all_mistakes_of_a_file_are_reported_in_its_order():
    text = GOOD.replace("line: 32 B", "line: 32 s").replace("page: 4 KB", "paeg: 4 KB").replace("lru", "mru")
    error = errors_of(text)
    assert [(each.line, each.code) for each in error.findings] == [(17, "M106"), (19, "M107"), (26, "M103")]
    assert str(error).splitlines()[0] == (
        "<text>:17:15: M106 'line': '32 s' is a time, expected a size (write for example 8 KB)"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "a machine file is a mapping of keys"),
        ("- 1\n- 2\n", "a machine file is a mapping of keys"),
        ("a: 1\n---\nb: 2\n", "a machine file contains one document"),
        ("a: \x00\n", "this is not YAML: unacceptable character #x0000: control characters are not allowed"),
        ("? [a, b]\n: 1\n", "a key must be one word"),
        ("&a [*a]\n", "YAML aliases (*name) are not used in machine files"),
    ],
)
def test_texts_that_are_no_machine(text, message):
    assert errors_of(text).message == message


def test_deep_nesting_ends_with_an_error():
    error = errors_of("a: " + "[" * 50_000 + "\n")
    assert error.code == "M102"
    error = errors_of("\n".join("  " * depth + "a:" for depth in range(3_000)) + "\n")
    assert error.code in {"M102", "M103"}


def test_a_file_full_of_mistakes_is_answered_at_once():
    text = GOOD + "".join(f"        raed_miss{n}: 1 us\n" for n in range(5000))
    error = errors_of(text)
    assert len(error.findings) == 20
    assert error.line == GOOD.count("\n") + 1


def test_files_that_cannot_be_read(tmp_path):
    assert errors_of(tmp_path / "none.yaml").message == "this is not a machine file: No such file or directory"
    assert errors_of(tmp_path).message == "this is not a machine file: Is a directory"
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(bytes(range(256)))
    error = errors_of(binary)
    assert (error.code, error.message) == ("M101", "this is not a machine file: not text in UTF-8")
    large = tmp_path / "large.yaml"
    large.write_text("a: 1\n" * 250_000)
    assert "is too much for a machine file" in errors_of(str(large)).message


def test_an_error_in_an_extended_machine_names_its_file(tmp_path):
    (tmp_path / "base.yaml").write_text(GOOD.replace("0.33 us", "0.33 m"))
    (tmp_path / "own.yaml").write_text("format: 1\nextends: base\nname: own\n")
    error = errors_of(tmp_path / "own.yaml")
    assert (Path(error.file).name, error.line, error.column) == ("base.yaml", 21, 20)
    (tmp_path / "base.yaml").write_text(GOOD)
    own = "format: 1\nextends: base\nname: own\nsystem: {units: {node: {memory: {lien: 64 B}}}}\n"
    (tmp_path / "own.yaml").write_text(own)
    error = errors_of(tmp_path / "own.yaml")
    assert (Path(error.file).name, error.line, error.column) == ("own.yaml", 4, 34)
    assert error.hint == "did you mean 'line'?"


def test_a_machine_cannot_extend_itself(tmp_path):
    (tmp_path / "a.yaml").write_text("format: 1\nextends: b\nname: a\n")
    (tmp_path / "b.yaml").write_text("format: 1\nextends: a\nname: b\n")
    error = errors_of(tmp_path / "a.yaml")
    assert (error.code, error.message) == ("M109", "'a' extends itself")


def test_a_long_chain_of_machines_is_refused(tmp_path):
    (tmp_path / "m0.yaml").write_text((SYSTEMS / "ipsc860.yaml").read_text())
    for at in range(1, 1201):
        (tmp_path / f"m{at}.yaml").write_text(f"format: 1\nextends: m{at - 1}\nname: m{at}\n")
    assert load_system(tmp_path / "m16.yaml").name == "m16"
    for longer in (17, 18, 1200):
        error = errors_of(tmp_path / f"m{longer}.yaml")
        assert (error.code, error.message) == ("M109", "machine files extend each other more than 16 deep")


def test_a_machine_of_the_library_can_be_extended_from_anywhere(tmp_path):
    (tmp_path / "own.yaml").write_text("format: 1\nextends: ipsc860-f90d\nname: own\n")
    assert load_system(tmp_path / "own.yaml", folder=SYSTEMS).title.startswith("Intel iPSC/860 under")
    assert errors_of(tmp_path / "own.yaml").message == "there is no machine 'ipsc860-f90d' to extend"


def test_an_extending_machine_needs_a_name(tmp_path):
    (tmp_path / "base.yaml").write_text(GOOD)
    (tmp_path / "own.yaml").write_text("format: 1\nextends: base\n")
    error = errors_of(tmp_path / "own.yaml")
    assert (error.code, error.line, error.message) == (
        "M104",
        2,
        "the key 'name' is missing: this is another machine than 'base'",
    )


@pytest.mark.parametrize(("name", "hint"), [("nod", "did you mean 'node'?"), ("extra", "known here: node")])
def test_a_unit_without_role_that_nothing_names_is_refused(tmp_path, name, hint):
    (tmp_path / "base.yaml").write_text(GOOD)
    own = f"format: 1\nextends: base\nname: own\nsystem:\n  units:\n    {name}:\n      title: another\n"
    (tmp_path / "own.yaml").write_text(own)
    error = errors_of(tmp_path / "own.yaml")
    assert (error.code, error.line, error.hint) == ("M110", 6, hint)
    (tmp_path / "own.yaml").write_text(own + "      role: host\n")
    assert "host" in {unit.role for _, unit in load_system(tmp_path / "own.yaml").root.walk()}


def test_an_extending_machine_changes_only_what_it_names(tmp_path):
    (tmp_path / "base.yaml").write_text(GOOD)
    own = (
        "format: 1\nextends: base\nname: own\nsources: {lab: our laboratory}\nsystem:\n  units:\n    node:\n"
        "      memory: {source: lab, certainty: measured, line: 64 B}\n"
    )
    (tmp_path / "own.yaml").write_text(own)
    parameters = load_system(tmp_path / "own.yaml").parameters()
    line, size = parameters["node.line"], parameters["node.cache_size"]
    assert (line.value, line.source, line.certainty) == (64, "lab", "measured")
    assert (size.value, size.source, size.certainty) == (8192, "book", "cited")


@pytest.mark.parametrize("seed", range(300))
def test_mutated_files_end_with_a_machine_or_a_machine_error(seed):
    random_ = random.Random(seed)
    lines = random_.choice(sorted(SYSTEMS.glob("*.yaml"))).read_text().splitlines()
    for _ in range(random_.randint(1, 4)):
        at = random_.randrange(len(lines))
        line = lines[at]
        column = random_.randrange(len(line) + 1)
        lines[at] = random_.choice(
            [
                line[:column] + random_.choice("{}[]:,#&*!|>'\"%@\t0-x ") + line[column:],
                line[:column] + line[column + 1 :],
                lines[random_.randrange(len(lines))],
                "",
                line[::-1],
                line.replace(" us", random_.choice([" s", " KB", "", " xs", "e999 us"])),
            ]
        )
    text = "\n".join(lines[: random_.randint(1, len(lines))]) + "\n"
    error = _error_or_none(text)
    if error is not None:
        assert error.message
        assert error.code.startswith("M1")
        assert all(each.line <= len(lines) or each.file != "<text>" for each in error.findings)


def _error_or_none(text):
    try:
        load_system(text, folder=SYSTEMS)
    except MachineError as error:
        return error
    return None
