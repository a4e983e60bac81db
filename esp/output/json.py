"""Predictions as JSON, whose fields docs/json.md describes, and what the JSON of all commands begins with."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aag.diagnostics import Diagnostic, Span
from esp.incomplete import reasons
from esp.inspect.calls import ProcedureTime, procedures
from esp.output.figures import source_text
from esp.output.table import speed_up
from esp.prediction import CATEGORIES, Prediction, first
from esp.version import __version__
from interpreter.result import AauMetrics, Assumption, CallMetrics, FigureCount, LineMetrics, MessageSummary, Parts

SCHEMA = 1
"""Of a document: counts up when a field changes its meaning or goes; a new field does not count."""


class Sections(Struct, frozen=True, kw_only=True):
    """What is added on request: one entry for each processor, and AAUs (None: all of them)."""

    per_processor: bool = False
    aaus: frozenset[int] | None = frozenset()


def one(prediction: Prediction, wanted: Sections | None = None) -> str:
    """The JSON text of one prediction."""
    return text_of(content(prediction, wanted))


def several(
    predictions: Sequence[Prediction], impossible: Mapping[int, Diagnostic] | None = None, one: Prediction | None = None
) -> str:
    """The JSON text of ``--procs 1,2,4,8``; `impossible`: number of processors -> why it has no prediction; `one`:
    what speed-up is against."""
    runs = []
    for each, (ratio, efficiency) in zip(predictions, speed_up(predictions, one), strict=True):
        runs.append({**content(each), "speed_up": ratio, "efficiency": efficiency})
    reasons = [
        {"processors": number, "code": each.code, "text": each.message, **_place(each.span)}
        for number, each in (impossible or {}).items()
    ]
    return text_of({"runs": runs, "impossible": reasons})


def text_of(told: Mapping[str, Any]) -> str:
    """The document of any command: the versions of the format and of esp, then what it tells.

    One field a line, in a list of objects one object a line: short, yet a `diff` says what changed.
    """
    whole = {"schema": SCHEMA, "version": __version__, **told}
    fields = [f" {_dump(name)}: {_value(value)}" for name, value in whole.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"  {_dump(each)}" for each in value) + "\n ]"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def content(prediction: Prediction, wanted: Sections | None = None) -> dict[str, Any]:
    """The fields of one prediction, as docs/json.md describes them."""
    wanted = wanted or Sections()
    told: dict[str, Any] = {
        "program": prediction.program,
        "file": prediction.file,
        "bundled": prediction.bundled,
        "system": prediction.system,
        "processors": prediction.processors,
        "grid": list(prediction.grid),
        "constants": {name: _constant(each) for name, each in prediction.constants.items()},
        "options": dict(prediction.asked),
        "time_s": first(prediction.time_s),
        "timed_s": None if prediction.timed_s is None else first(prediction.timed_s),
        "load_s": first(prediction.load_s),
        **_parts(prediction.parts),
        "io_s": first(prediction.io_s),
        "hidden_s": first(prediction.hidden_s),
        "counts": _counts(prediction.counts.of()),
        "flops": dict(prediction.counts.flops()),
        "bytes_moved": prediction.counts.bytes_moved(),
        "messages": prediction.messages,
        "bytes": prediction.bytes,
        "imbalance": first(prediction.imbalance),
        "processors_without_elements": prediction.without_elements,
        "memory_bytes": prediction.memory_bytes,
        "memory_copies_bytes": prediction.memory_copies_bytes,
        "memory_usable_bytes": prediction.memory_usable_bytes,
        "estimated_share": first(prediction.estimated_share),
        "interval": _interval(prediction),
        "iterations": prediction.iterations,
        "iterations_walked": prediction.iterations_walked,
        "complete": prediction.complete,
        "partial": list(reasons([prediction])),
        "assumptions": assumptions(prediction.assumptions),
        "warnings": [
            {"code": each.code, "text": each.message, **_place(each.span), "hint": each.hint}
            for each in prediction.warnings
        ],
        "lines": [_line(prediction, each) for each in prediction.lines],
        "procedures": [_procedure(each) for each in procedures(prediction)],
        "calls": [_call(each) for each in prediction.calls],
    }
    if wanted.per_processor:
        each = prediction.per_processor
        told["per_processor"] = {
            "end_s": each.end_s[0].tolist(),
            "computation_s": each.computation_s[0].tolist(),
            "communication_s": each.communication_s[0].tolist(),
            "overhead_s": each.overhead_s[0].tolist(),
            "waiting_s": each.waiting_s[0].tolist(),
            "counts": [
                {"figure": count.figure.path, "paid": count.paid, "each": count.of_each(prediction.processors).tolist()}
                for count in prediction.counts.of()
                if count.each is not None
            ],
        }
    if wanted.aaus is None or wanted.aaus:
        chosen = [a for a in prediction.aaus if wanted.aaus is None or a.id in wanted.aaus]
        told["aaus"] = [_aau(prediction, each) for each in chosen]
    return told


def _interval(prediction: Prediction) -> dict[str, Any] | None:
    found = prediction.interval
    if found is None:
        return None
    return {
        "low_s": found.low_s,
        "high_s": found.high_s,
        "timed_low_s": found.timed_low_s,
        "timed_high_s": found.timed_high_s,
        "scenarios": found.scenarios,
        "quantities": len(found.quantities),
        "model_error": found.model_error,
        "undecided": [
            {"on": list(each.on), "off": list(each.off), "time_s": each.time_s, "timed_s": each.timed_s}
            for each in found.undecided
        ],
    }


def _parts(parts: Parts) -> dict[str, float]:
    return {
        "computation_s": first(parts.computation_s),
        "communication_s": first(parts.communication_s),
        "overhead_s": first(parts.overhead_s),
        "waiting_s": first(parts.waiting_s),
    }


def _line(prediction: Prediction, line: LineMetrics) -> dict[str, Any]:
    return {
        "file": line.file,
        "line": line.line,
        "source": source_text(prediction, line.file, line.line).strip(),
        "time_s": first(line.parts.time_s),
        **_parts(line.parts),
        "max_s": None if line.max_s is None else first(line.max_s),
        "max_processor": line.max_processor,
        "hidden_s": first(line.hidden_s),
        "counts": _counts(prediction.counts.of(line.aaus)),
        "messages": line.messages,
        "bytes": line.bytes,
        "aaus": list(line.aaus),
    }


def _procedure(procedure: ProcedureTime) -> dict[str, Any]:
    return {
        "procedure": procedure.name,
        "calls": procedure.calls,
        "time_s": procedure.time_s,
        "own_s": procedure.own_s,
        **{f"{name}_s": each for name, each in zip(CATEGORIES, procedure.parts_s, strict=True)},
        "messages": procedure.messages,
        "bytes": procedure.bytes,
    }


def _call(call: CallMetrics) -> dict[str, Any]:
    return {
        "id": call.id,
        "parent": call.parent,
        "procedure": call.procedure,
        **_place(call.span),
        "calls": call.calls,
        "time_s": first(call.total.time_s),
        "own_s": first(call.parts.time_s),
        **_parts(call.parts),
        "messages": call.messages,
        "bytes": call.bytes,
    }


def _aau(prediction: Prediction, aau: AauMetrics) -> dict[str, Any]:
    return {
        "id": aau.id,
        "kind": aau.kind,
        "label": aau.label,
        **_place(aau.span),
        "parent": aau.parent,
        "time_s": first(aau.parts.time_s),
        **_parts(aau.parts),
        "total_s": first(aau.total_s),
        "max_s": None if aau.max_s is None else first(aau.max_s),
        "max_processor": aau.max_processor,
        "clock_s": first(aau.clock_s),
        "executions": aau.executions,
        "hidden_s": first(aau.hidden_s),
        "counts": _counts(prediction.counts.of((aau.id,))),
        "misses": aau.misses,
        "communication": None if aau.comm is None else _communication(aau.comm),
        "calls": [
            {"call": each.call, "time_s": first(each.parts.time_s), **_parts(each.parts)} for each in aau.division
        ],
    }


def _counts(counts: Sequence[FigureCount]) -> list[dict[str, Any]]:
    return [
        {
            "figure": each.figure.path,
            "paid": each.paid,
            "mean": each.mean,
            "largest": each.largest,
            "time_s": first(each.time_s),
        }
        for each in counts
    ]


def _communication(summary: MessageSummary) -> dict[str, Any]:
    return {
        "array": summary.array,
        "pattern": summary.pattern,
        "messages": summary.messages,
        "bytes": summary.bytes,
        "sizes": [{"bytes": size, "messages": number} for size, number in summary.sizes],
        "varies": summary.varies or None,
        "hops": summary.hops,
        "contended": summary.contended,
    }


def assumptions(found: Iterable[Assumption]) -> list[dict[str, Any]]:
    """What a prediction rests on, one object each."""
    return [{"code": each.code, "text": each.text, **_place(each.span)} for each in found]


def _place(span: Span | None) -> dict[str, Any]:
    if span is None or not span.line:
        return {"file": None, "line": None, "column": None}
    return {"file": span.file, "line": span.line, "column": span.column or None}


def _constant(value: object) -> object:
    return value if isinstance(value, bool | int | float | str) else str(value)
