"""JSON Schemas (draft 2020-12) of all outputs of --json, from the tables of the pages."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PAGES = Path(__file__).resolve().parent

DIALECT = "https://json-schema.org/draft/2020-12/schema"

TABLES = {
    "run": ("json.md", ("## Fields of a prediction", "## Optional fields")),
    "run-several": ("json.md", ("## Several numbers of processors",)),
    "compare": ("explore.md", ("### `esp compare --json`",)),
    "whatif": ("explore.md", ("### `esp whatif --json`",)),
    "sweep": ("explore.md", ("### `esp sweep --json`",)),
    "advise": ("advise.md", ("## JSON",)),
    "scalability-speedups": ("json_other.md", ("## `esp scalability --speedups --json`",)),
    "scalability-against": ("json_other.md", ("## `esp scalability --against --json`",)),
    "formula-procs": ("json_other.md", ("## `esp formula --free n,procs --json`",)),
    **{
        name.replace(" ", "-"): ("json_other.md", (f"## `esp {name} --json`",))
        for name in (
            "explain",
            "formula",
            "layout",
            "query",
            "diff",
            "check",
            "reproduce",
            "scalability",
            "balance",
            "fit",
            "optimize-machine",
            "plan",
            "sensitivity",
            "system show",
            "system fit",
        )
    },
}
"""Name of a schema -> the page and the sections that describe its fields."""

_ROW = re.compile(r"^\| `([^`]+)` \| (.*?) \| ?(.*?) ?\|$", re.MULTILINE)
_WORDS = {"integers": "integer", "strings": "string", "numbers": "number", "objects": "object", "lists": "list"}
_OPTIONAL = ("only with", "with `--")

Schema = dict[str, Any]


class Field(NamedTuple):
    """A row of a table."""

    path: str
    type: str
    meaning: str
    required: bool


def schemas() -> dict[str, Schema]:
    """Name -> schema."""
    found = {name: _schema(name, list(_fields(name))) for name in TABLES}
    several = found["run-several"]
    one = {key: value for key, value in found["run"].items() if key in ("properties", "required")}
    one["required"] = [each for each in one["required"] if each not in ("schema", "version")]
    run = several["properties"]["runs"]["items"]
    several["properties"]["runs"]["items"] = {
        "type": "object",
        "properties": one["properties"] | run["properties"],
        "required": one["required"] + run["required"],
    }
    header = {key: found["run"]["properties"][key] for key in ("schema", "version")}
    several["properties"] = header | several["properties"]
    several["required"] = [*header, *several["required"]]
    return found


def _fields(name: str) -> Iterator[Field]:
    page, sections = TABLES[name]
    text = (PAGES / page).read_text(encoding="utf-8")
    for section in sections:
        after = text.partition(f"\n{section}\n")[2]
        level = re.escape(section.split()[0])
        for path, type_, meaning in _ROW.findall(re.split(rf"\n{level} ", after)[0]):
            optional = section.endswith("Optional fields") or meaning.startswith(_OPTIONAL)
            yield Field(path, type_, meaning, not optional)


def _schema(name: str, fields: list[Field]) -> Schema:
    command = "run --procs 1,2" if name == "run-several" else name.replace("-", " ")
    return {"$schema": DIALECT, "title": f"esp {command} --json", **_object("", fields)}


def _object(prefix: str, fields: list[Field]) -> Schema:
    """The schema of an object, from the rows whose paths begin with `prefix`."""
    own = [each for each in fields if re.fullmatch(rf"{re.escape(prefix)}[^.\[]+", each.path)]
    properties = {each.path.removeprefix(prefix): _value(each, fields) for each in own}
    required = [each.path.removeprefix(prefix) for each in own if each.required]
    found: Schema = {"type": "object"}
    if own:
        found |= {"properties": properties, "required": required}
    return found


def _value(field: Field, fields: list[Field]) -> Schema:
    found: Schema = {}
    types: list[str] = []
    for each in re.split(r", | or ", field.type):
        choice = _choice(each, field.path, fields)
        types += [choice.pop("type")] if "type" in choice else []
        found |= choice
    if types:
        found = {"type": types[0] if len(types) == 1 else types, **found}
    return found | ({"description": field.meaning} if field.meaning else {})


def _choice(text: str, path: str, fields: list[Field]) -> Schema:
    if text.startswith("`"):
        return {"$ref": _reference(text.strip("`"))}
    if text == "list":
        return {"type": "array"}
    if text.startswith("list of "):
        item = text.removeprefix("list of ")
        return {"type": "array", "items": _choice(_WORDS.get(item, item), f"{path}[]", fields)}
    return _object(f"{path}.", fields) if text == "object" else {"type": text}


def _reference(path: str) -> str:
    """Where a schema has the field `path`."""
    steps = "".join(f"/properties/{each.replace('[]', '/items')}" for each in path.split("."))
    return f"#{steps}"


def page() -> Iterator[str]:
    """The page that lists the schemas."""
    yield from ("# JSON schemas", "", "A schema for the output of each command, as JSON Schema (draft 2020-12).")
    yield "They are generated from the tables of the pages. They allow further fields: new ones may appear at any time."
    yield ""
    yield from ("| Output | Schema | Described in |", "| --- | --- | --- |")
    for name, schema in schemas().items():
        described = TABLES[name][0]
        yield f"| `{schema['title']}` | [{name}.json](schemas/{name}.json) | [{described}](../{described}) |"


def files() -> Mapping[str, Schema]:
    """Name of a file -> its schema."""
    return {f"{name}.json": schema for name, schema in schemas().items()}
