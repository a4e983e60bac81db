"""NodeProgram -> sources: one main program, the run-time library in the kinds it needs, a Makefile."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from aag.diagnostics import Diagnostic
from aag.ir.evaluate import Environment, Unknown, Value, evaluate
from aag.ir.expressions import Call, Component, Constructor, Expr, OpaqueExpr, Var
from aag.ir.printer import print_unit
from aag.ir.spelling import spell, spell_type
from aag.ir.statements import CallStmt
from aag.ir.storage import member_names
from aag.ir.units import Entity, Unit, shown_procedure
from aag.ir.visitors import names_in, walk_expressions, walk_statements
from aag.mapping.layout import Layout
from aag.spmd.emit.body import Body
from aag.spmd.emit.clashes import INTRINSICS, without_clashes
from aag.spmd.emit.context import Context
from aag.spmd.emit.kinds import Kind
from aag.spmd.emit.library import chosen_lines
from aag.spmd.emit.refusals import refused
from aag.spmd.emit.text import comment, folded, indented
from aag.spmd.emit.tracing import heading
from aag.spmd.names import RANDOM
from aag.spmd.nodes import walk
from aag.spmd.program import NodeProgram
from aag.spmd.symbols import Symbols

RUNTIME = Path(__file__).parent / "runtime"

HEAD = "Written by esp, which may overwrite this file."
"""The comment in the first line of each file: what lacks it is somebody else's."""

_MODULES = {"trace": "esp_trace", "simulated": "esp_simulation", "native": "esp_native"}
"""Mark of lines of the library -> the module that they call."""

LIBRARY = ("esp_stages", "esp_runtime")
"""The parts of the library that every program needs, in the order of compilation."""

ALGORITHMS = {
    "broadcast": "binomial",
    "reduction": "recursive_doubling",
    "concatenation": "recursive_doubling",
    "gather": "binomial",
    "scatter": "binomial",
    "transpose": "",
    "exchange": "sequential",
}
"""How collectives are built from messages, and whether those of an exchange are under way one after the other
(``sequential``) or together (``concurrent``), where nobody says otherwise (Def 7, 8)."""


PER_LINE = 12
"""Numbers of nodes in a line of the program."""


class Nodes(Struct, frozen=True):
    """Where processors sit in the machine (Def 8, 14): the node of each rank, none where they are the same; `box`: the
    extents that nodes are numbered in, none where they are in one row or all alike."""

    box: tuple[int, ...] = ()
    of: tuple[int, ...] = ()


class Emission(Struct, frozen=True, kw_only=True):
    """What was written: name of the program, processors, and the text of each file. `helpers`: variables of the program
    that only emission needs."""

    name: str
    procs: int
    files: Mapping[str, str]
    helpers: frozenset[str] = frozenset()


def emit(
    program: NodeProgram,
    algorithms: Mapping[str, str] | None = None,
    *,
    poisons: bool = False,
    trace: Sequence[str] = (),
    simulated: bool = False,
    native: bool = False,
    unread: Sequence[Diagnostic] = (),
    nodes: Nodes | None = None,
    links: Sequence[str] = (),
) -> Emission:
    """The sources of a node program. `algorithms`: collective -> algorithm, as machines name them, and ``exchange``.
    `poisons`: for debugging, what a processor stores without owning it is NaN at the start, again when its owner
    writes it, and before a communication brings it. `trace`: the header of the traces that the program can write;
    without one it can write none.
    `simulated`: for SimGrid's SMPI; computation takes the time that a prediction gives it. `native`: collectives are
    MPI's own, whatever `algorithms` says; their messages are not counted. `unread`: findings about declarations that
    the program lacks. `nodes`: where processors sit, which collectives depend on. `links`: files that are compiled or
    linked with it, and libraries (``-lblas``).

    Raises:
        NotEmitted: a part of the program cannot be written as Fortran.
    """
    program = without_clashes(program)
    context = Context(program, poisons=poisons, traces=bool(trace), simulated=simulated)
    for each in unread:
        context.refusals.note(each.message, each.span)
    _refuse_calls(program, context)
    chosen = {**ALGORITHMS, **(algorithms or {})}
    body = list(Body(context).lines(program.body))
    name = program.unit.name or "main"
    text = folded(_main(context, name, body, [chosen[each] for each in ALGORITHMS], trace, nodes or Nodes()))
    context.refusals.complain(program)
    kinds = sorted(context.kinds)
    marks = {"trace": bool(trace), "simulated": simulated, "native": native}
    parts = [mark for mark, wanted in marks.items() if wanted]
    files = {f"{name}.f90": text, **{f"{each}.f90": chosen_lines(_template(f"{each}.f90"), parts) for each in LIBRARY}}
    files |= {f"{_MODULES[each]}.f90": _template(f"{_MODULES[each]}.f90") for each in parts}
    files |= {f"esp_moves_{kind}.f90": _moves(context.kinds[kind], parts) for kind in kinds}
    files = {file: f"! {HEAD}\n{text}" for file, text in files.items()}
    files["Makefile"] = f"# {HEAD}\n{_makefile(name, kinds, program.layouts.procs, parts, links)}"
    return Emission(name=name, procs=program.layouts.procs, files=files, helpers=frozenset(context.helpers))


def _refuse_calls(program: NodeProgram, context: Context) -> None:
    """Functions get their arrays nowhere; random numbers would be others."""
    refusals = context.refusals
    for statement in walk_statements(program.unit.body):
        if isinstance(statement, CallStmt) and statement.name in RANDOM:
            what = f"{statement.name.upper()}: processors would draw other numbers than the serial program"
            refusals.note(what, statement.span)
    inner = {unit.name: unit for unit in program.unit.contains}
    for unit in program.unit.contains:
        local = {entity.name for entity in unit.entities}
        for name in sorted(names_in(unit.body) - local):
            if context.distributed(name) is not None:
                refusals.note(f"the procedure {unit.name} uses the distributed array {name}", unit.span)
        if unit.name in INTRINSICS:
            refusals.note(f"the function {unit.name} has the name of an intrinsic function", unit.span)
    for each in walk_expressions(program.unit.body):
        if isinstance(each, Component | OpaqueExpr):
            refusals.note(f"the reference {spell(each)}", each.span)
        elif isinstance(each, Call):
            with refusals.noting(each.span):
                _refuse_call(each, inner.get(each.name), context.symbols)


_TIMED_IN_ARRAYS = ("etime", "dtime")


def _refuse_call(call: Call, unit: Unit | None, symbols: Symbols) -> None:
    if call.name in _TIMED_IN_ARRAYS:
        raise refused(f"the function {call.name}, which fills an array with times", call.span)
    if unit is None and symbols.intrinsic(call.name) is None and not call.name.endswith("$"):
        raise refused(f"the body of the function {shown_procedure(call.name)} is not interpreted", call.span)
    if unit is not None and any(each.shape is not None for each in unit.entities if each.name in unit.arguments):
        raise refused(f"the function {unit.name} takes arrays", call.span)


# --- the main program -------------------------------------------------------------------------------------------


def _main(
    context: Context, name: str, body: list[str], algorithms: list[str], trace: Sequence[str], nodes: Nodes
) -> Iterator[str]:
    program = context.program
    procs = program.layouts.procs
    start = list(_start(context, algorithms, nodes))
    declarations = list(_declarations(context))  # last: all other parts declare, too
    yield comment(f"{name}: the node program of {Path(program.file).name} for {procs} processors.")
    yield "! Every processor runs it with its own part of the distributed arrays; subscripts are those of the source."
    yield f"program {name}"
    yield "  use esp_runtime"
    if trace:
        yield "  use esp_trace"
    yield from (f"  use esp_moves_{kind}" for kind in sorted(context.kinds))
    yield "  implicit none"
    yield from indented(declarations)
    yield ""
    yield from indented(start)
    yield from indented(heading(trace) if trace else ())
    yield from indented(body)
    yield ""
    yield "  call esp_finish()"
    inner = [*context.procedures]
    for unit in program.unit.contains:
        inner += ["", *(f"  {line}" for line in print_unit(unit).removesuffix("\n").split("\n"))]
    if inner:
        yield ""
        yield "contains"
        yield from inner
    yield f"end program {name}"


def _declarations(context: Context) -> Iterator[str]:
    program = context.program
    if any(each != "hpf_library" for each in program.unit.uses):
        context.refusals.note("USE", program.unit.span)
    declared = set()
    for entity in _ordered(program.unit.entities):
        declared.add(entity.name)
        with context.refusals.noting(entity.span):
            yield from _declaration(context, entity)
    for name, kind in program.types.items():
        if name in declared or "$" not in name:
            continue
        layout = program.layouts.arrays.get(name)
        yield _variable(context, spell_type(kind), name, layout)
    indices = [each for each in context.indices if each not in declared]
    if indices:
        yield f"integer :: {', '.join(context.names.of(each) for each in indices)}"
    for name, layout in program.layouts.arrays.items():
        if not _is_mapped(layout):
            continue
        yield f"type(esp_map) :: {context.map_of(name)}"
        bounds = [context.bound_of(name, dim, side) for dim in _blocks(layout) for side in ("lo", "hi")]
        packed = [context.names.packed[name, dim] for dim in range(layout.rank) if (name, dim) in context.names.packed]
        if packed:
            yield f"integer, pointer :: {', '.join(f'{each}(:)' for each in packed)}"
        if bounds:
            yield f"integer :: {', '.join(bounds)}"
    yield from _storage(context)
    yield from dict.fromkeys(context.declarations)


def _storage(context: Context) -> Iterator[str]:
    """COMMON and EQUIVALENCE. A distributed array is allocated: in a common block that no other unit has, its place
    in the block means nothing."""
    unit = context.program.unit
    elsewhere = {each.block for inner in unit.contains for each in inner.commons}
    for each in unit.commons:
        far = [name for name in each.names if context.distributed(name) is not None]
        if far and each.block in elsewhere:
            context.refusals.note(f"the distributed array {far[0]} in a common block of several units", unit.span)
        elif not far:
            yield f"common /{each.block}/ {', '.join(map(context.names.of, each.names))}"
    for joined in unit.equivalences:
        if any(context.distributed(name) is not None for name in member_names(joined.members)):
            context.refusals.note("EQUIVALENCE of a distributed array", joined.span)
        else:
            members = ", ".join(context.spell(member, joined.span.line) for member in joined.members)
            yield f"equivalence ({members})"


def _is_mapped(layout: Layout) -> bool:
    return layout.rank > 0 and (layout.is_distributed or "$" in layout.array)


def _ordered(entities: tuple[Entity, ...]) -> Iterator[Entity]:
    """Constants first."""
    yield from (each for each in entities if "parameter" in each.attributes)
    yield from (each for each in entities if "parameter" not in each.attributes)


def _declaration(context: Context, entity: Entity) -> Iterator[str]:
    kind = spell_type(entity.type)
    if entity.type.base == "derived":
        raise refused(f"{entity.shown} is of a derived type", entity.span)
    if "parameter" in entity.attributes and entity.initial is not None:
        if entity.shape is not None and entity.name not in names_in(context.program.unit.body):
            return
        if entity.shape is not None:
            raise refused(f"{entity.shown} is an array constant", entity.span)
        yield f"{kind}, parameter :: {context.names.of(entity.name)} = {_constant(context, entity)}"
    elif "external" in entity.attributes or "intrinsic" in entity.attributes:
        own = context.symbols.intrinsic(entity.name) is None
        if own and _is_used(context.program.unit, entity.name):
            raise refused(f"{entity.shown} is declared EXTERNAL or INTRINSIC", entity.span)
    else:
        if entity.initial is not None and context.distributed(entity.name) is not None:
            raise refused(f"{entity.shown} is distributed and has an initial value", entity.span)
        first = "" if entity.initial is None else f" = {_first(context, entity, entity.initial)}"
        yield _variable(context, kind, entity.name, context.layouts.arrays.get(entity.name)) + first


def _first(context: Context, entity: Entity, initial: Expr) -> str:
    """An initial value. Texts in DATA may have any length; in a constructor they have the length of the variable."""
    text = context.spell(initial, entity.span.line)
    if isinstance(initial, Constructor) and entity.type.base == "character":
        values = text.removeprefix("(/").removesuffix("/)").strip()
        return f"[{spell_type(entity.type)} :: {values}]"
    return text


def _is_used(unit: Unit, name: str) -> bool:
    """Whether a unit, or one that it contains, calls a procedure or passes it on; libraries are declared apart."""
    for each in (unit, *unit.contains):
        used = {part.name for part in walk_expressions(each.body) if isinstance(part, Call | Var)}
        if name in used or any(
            isinstance(one, CallStmt) and one.cost is None and one.name == name for one in walk_statements(each.body)
        ):
            return True
    return False


def _constant(context: Context, entity: Entity) -> str:
    """The value of a PARAMETER: as written, or what the user wants instead."""
    assert entity.initial is not None
    constants = context.layouts.environment
    wanted = constants.get(entity.name)
    if wanted is None or _value(entity.initial, constants, wanted) == wanted:
        return context.spell(entity.initial, entity.span.line)
    return literal(wanted)


def _value(expr: Expr, constants: Environment, otherwise: Value) -> Value:
    try:
        return evaluate(expr, constants)
    except Unknown:
        return otherwise


def literal(value: Value) -> str:
    """A value as Fortran."""
    if isinstance(value, bool):
        return ".true." if value else ".false."
    if isinstance(value, float):
        return repr(value).replace("e", "d") if "e" in repr(value) else f"{value!r}d0"
    return repr(value)


def _variable(context: Context, kind: str, name: str, layout: Layout | None) -> str:
    shown = context.names.of(name)
    if layout is None or not layout.rank:
        return f"{kind} :: {shown}"
    if context.distributed(name) is not None:
        return f"{kind}, allocatable :: {shown}({', '.join(':' * layout.rank)})"
    bounds = ", ".join(f"{lower}:{upper}" if lower != 1 else str(upper) for lower, upper in layout.bounds)
    return f"{kind} :: {shown}({bounds})"


def _blocks(layout: Layout) -> list[int]:
    """Dimensions of which each processor owns an interval."""
    return [
        meaning.dim
        for meaning in layout.axes
        if meaning.role == "dim" and meaning.distribution is not None and meaning.distribution.kind == "block"
    ]


def _start(context: Context, algorithms: list[str], nodes: Nodes) -> Iterator[str]:
    program = context.program
    width = max(map(len, algorithms))
    told = ", ".join(f"'{each:{width}}'" for each in algorithms)
    last = max((len(program.lines), *(each.span.line for each in walk(program.body))))  # other files may be longer
    yield f"call esp_start({program.layouts.procs}, {last}, (/ {told} /))"
    if nodes.box and "auto" in algorithms:
        yield f"call esp_box((/ {', '.join(map(str, nodes.box))} /))"
    for first in range(0, len(nodes.of), PER_LINE):
        numbers = ", ".join(map(str, nodes.of[first : first + PER_LINE]))
        yield f"call esp_nodes({program.layouts.procs}, {first}, (/ {numbers} /))"
    for name, layout in program.layouts.arrays.items():
        if _is_mapped(layout):
            yield from _mapping(context, name, layout)


def _mapping(context: Context, name: str, layout: Layout) -> Iterator[str]:
    """The mapping of an array, what of it is owned here, and its storage."""
    found = context.map_of(name)
    lower, upper = (", ".join(str(bound[side]) for bound in layout.bounds) for side in (0, 1))
    yield ""
    yield comment(f"{context.names.of(name)}: {_told(layout)}")
    yield f"call esp_grid({found}, (/ {', '.join(map(str, layout.grid.shape)) or '1'} /))"
    yield f"call esp_bounds({found}, (/ {lower} /), (/ {upper} /))"
    widths = context.widths.get(name, ())
    for axis, meaning in enumerate(layout.axes, start=1):
        if meaning.role == "fixed":
            yield f"call esp_fixed({found}, {axis}, {meaning.coordinate})"
        if meaning.role != "dim" or meaning.distribution is None:
            continue
        dealt = meaning.distribution
        cell = f"{meaning.dim + 1}, {meaning.stride}, {meaning.offset}, {dealt.lower}, {dealt.block}"
        yield f"call esp_spread({found}, {axis}, {cell})"
        for first in range(0, len(dealt.sizes), PER_LINE):
            sizes = ", ".join(map(str, dealt.sizes[first : first + PER_LINE]))
            yield f"call esp_blocks({found}, {axis}, {first}, (/ {sizes} /))"
        if (name, meaning.dim) in context.names.packed:
            yield f"call esp_pack({found}, {axis}, {context.names.packed[name, meaning.dim]})"
        if dealt.kind != "block":
            continue
        low, high = (context.bound_of(name, meaning.dim, side) for side in ("lo", "hi"))
        yield f"call esp_range({found}, {axis}, {low}, {high})"
        if not widths[meaning.dim].whole:
            width = widths[meaning.dim]
            yield f"call esp_store({found}, {axis}, {width.below}, {width.above})"
    if not layout.is_distributed:
        return
    shown = context.names.of(name)
    stored = ", ".join(f"{found}%first({dim}):{found}%last({dim})" for dim in range(1, layout.rank + 1))
    yield f"allocate({shown}({stored}))"
    if context.poisons:
        yield f"call esp_poison_all_{context.kind(name, layout.span.line)}({found}, {shown})"


def _told(layout: Layout) -> str:
    """A mapping for people."""
    parts = []
    for dim in range(layout.rank):
        axis = layout.axis_of_dim(dim)
        parts.append("*" if axis is None else str(layout.axes[axis].distribution))
    return f"({', '.join(parts)}) on the grid {layout.grid}"


# --- files ------------------------------------------------------------------------------------------------------


@lru_cache
def _template(name: str) -> str:
    return (RUNTIME / name).read_text()


def _moves(kind: Kind, parts: Collection[str]) -> str:
    """The run-time routines for one kind of data; MPI reduces by itself what it can."""
    cases = [f"    case ('{op}')\n      values = {text}" for op, text in kind.combined.items()]
    text = _template("esp_moves.f90")
    found = {
        "TYPE": kind.declaration,
        "KIND": kind.name,
        "BYTES": str(kind.type.bytes),
        "POISON": kind.poison,
        "COMBINE": "\n".join(cases),
        "VALUE": kind.value,
        "PLACE": f"integer({kind.type.bytes // 2})",
        "MPI_TYPE": kind.mpi,
    }
    for name, value in found.items():
        text = text.replace(f"@{name}@", value)
    pair = ["pair"] if kind.is_pair else []
    return chosen_lines(text, [*pair, *(each for each in parts if each != "native" or kind.mpi)])


def _makefile(name: str, kinds: list[str], procs: int, parts: Sequence[str], links: Sequence[str]) -> str:
    files = "".join(f" {each}" for each in links if not each.startswith("-"))
    libraries = "".join(f" {each}" for each in links if each.startswith("-"))
    modules = [LIBRARY[0], *(_MODULES[each] for each in parts), *(f"esp_moves_{kind}" for kind in kinds)]
    moves = " ".join(f"{each}.o" for each in modules)
    made = " ".join(f"{each}.o {each}.mod" for each in ("esp_runtime", *modules))
    rules = "".join(f"esp_moves_{kind}.o: esp_runtime.o\n" for kind in kinds)
    rules += "".join(f"esp_runtime.o: {each}.o\n" for each in (LIBRARY[0], *(_MODULES[part] for part in parts)))
    simulated = "simulated" in parts
    return (
        f"MPIFC ?= mpif90\nFC = {'smpif90' if simulated else '$(MPIFC)'}\n"
        "FFLAGS = -O2 -ffp-contract=off\n"
        "MPIRUN ?= mpirun\n\n"
        "# Allow more ranks than cores: the first variable is for Open MPI 4, the second for 5.\n"
        "export OMPI_MCA_rmaps_base_oversubscribe ?= 1\n"
        "export PRTE_MCA_rmaps_default_mapping_policy ?= :oversubscribe\n\n"
        f"{name}: esp_runtime.o {moves} {name}.o{files}\n"
        f"\t$(FC) $(FFLAGS) -o $@ $^{libraries}\n\n"
        f"run: {name}\n"
        f"\t$(MPIRUN) -np {procs} ./{name}\n\n"
        "# Holds what compiled last, so that another compiler or other flags compile all anew.\n"
        "esp_compiler: FORCE\n"
        "\t@echo '$(FC) $(FFLAGS)' $$(readlink -f \"$$(command -v $(FC))\") > $@.new; \\\n"
        "\tif cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi\n\n"
        "%.o: %.f90 esp_compiler\n"
        "\t$(FC) $(FFLAGS) -c $<\n\n"
        f"{rules}{name}.o: esp_runtime.o {moves}\n\n"
        "clean:\n"
        f"\trm -f {made} {name}.o esp_compiler {name}\n\n"
        ".PHONY: run clean FORCE\n"
    )
