"""The style sheet and the script of the report. They name no font file and no address: the page needs no network."""

LIGHT = {
    "paper": "#ffffff",
    "tint": "#f4f6f8",
    "ink": "#1d2329",
    "soft": "#56606a",
    "rule": "#d9dee3",
    "link": "#1f5f99",
    "warning": "#9c2f14",
    "computation": "#0b4f8a",
    "communication": "#c8621c",
    "waiting": "#858e97",
    "overhead": "#1d2329",
    "heat": "#e45756",
}
"""Colours by name on white. Text has a contrast of at least 4.5, whatever else carries a meaning 3."""

DARK = {
    "paper": "#14181c",
    "tint": "#20262c",
    "ink": "#e6e9ec",
    "soft": "#a3adb7",
    "rule": "#39424b",
    "link": "#7ab8f0",
    "warning": "#ff9d80",
    "computation": "#5a9fdd",
    "communication": "#f2a663",
    "waiting": "#747e88",
    "overhead": "#f4f4f4",
    "heat": "#e45756",
}
"""The same where the reader's system is dark."""


HOTTEST = 0.6
"""How much of `heat` is behind the source of a line that takes all the time."""


def _colours(colours: dict[str, str]) -> str:
    return "; ".join(f"--{name}: {colour}" for name, colour in colours.items())


_ROOT = f"""
:root {{ color-scheme: light dark; {_colours(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_colours(DARK)} }} }}
@media print {{ :root {{ {_colours(LIGHT)} }} }}
"""

_RULES = """\
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 110rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.6rem 0 0.6rem; padding-top: 0.5rem; border-top: 2px solid var(--ink) }
p { margin: 0.4rem 0; max-width: 46rem }
a { color: var(--link) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
code, pre, .source td, .source tbody th { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px }
pre { background: var(--tint); padding: 0.6rem 0.8rem; overflow-x: auto; margin: 0.6rem 0 }
.soft { color: var(--soft) }
.total { font-size: 2.1rem; font-weight: 650; margin: 0.6rem 0 0.2rem; line-height: 1.2 }
.total small { font-size: 1rem; font-weight: 400; color: var(--soft) }
.facts { list-style: none; padding: 0; margin: 0.9rem 0 }
.facts li { padding-left: 1.1rem; text-indent: -1.1rem; margin: 0.35rem 0; max-width: 46rem }
.facts li::before { content: "\\2022"; padding-right: 0.6rem; color: var(--soft) }
nav { margin: 1.2rem 0 0; font-size: 14px }
nav a { display: inline-block; margin-right: 0.9rem }
.bar { display: flex; height: 0.8em; width: 9rem; overflow: hidden; background: transparent }
.bar.short { width: 5.5rem }
.bar.whole { width: 100%; max-width: 46rem; height: 1.1rem }
.bar i { display: block; height: 100%; flex: none }
.key { display: inline-block; margin-right: 1rem; white-space: nowrap }
.key b { display: inline-block; width: 0.75em; height: 0.75em; margin-right: 0.4em }
.scroll { overflow-x: auto; margin: 0.6rem 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 0.16rem 0.55rem; text-align: right; white-space: nowrap; vertical-align: baseline }
th { font-weight: 600; color: var(--soft); font-size: 13px; border-bottom: 1px solid var(--rule) }
td.text, th.text, tbody th { text-align: left }
tbody th { font-weight: inherit; font-size: inherit; color: inherit; border: 0 }
caption { text-align: left; color: var(--soft); font-size: 14px; padding: 0.2rem 0.3rem; position: sticky; left: 0 }
th button { all: unset; cursor: pointer }
th button:focus-visible { outline: 2px solid var(--link) }
th[aria-sort=ascending] button::after { content: " \\25b4" }
th[aria-sort=descending] button::after { content: " \\25be" }
td:first-child, th:first-child { padding-left: 0.3rem }
tr.best td, tr.best th { font-weight: 650 }
tr.over td, tr.over th { color: var(--warning) }
tr.none td { color: var(--soft) }
td.long { white-space: normal; min-width: 16rem }
td .bar { display: inline-flex; vertical-align: middle }
.source { width: 100% }
.source tr[style] { background: rgba(228, 87, 86, var(--warm)) }
.source td, .source tbody th { padding-top: 0; padding-bottom: 0; line-height: 1.55; border: 0 }
.source td.code { text-align: left; white-space: pre; width: 100% }
.source th.number { text-align: right; color: var(--soft) }
.source tr[style] th.number { color: var(--ink) }
.source tr:target td { outline: 1px solid var(--warning) }
.charts { display: flex; flex-wrap: wrap; gap: 1rem 2rem }
figure { margin: 0.6rem 0; max-width: 100% }
@media (max-width: 1500px) {
  td, th { padding-left: 0.35rem; padding-right: 0.35rem }
  .bar { width: 6rem }
  .bar.short { width: 4rem }
}
@media (min-width: 1500px) {
  main { display: grid; grid-template-columns: minmax(0, 4fr) minmax(0, 3fr); gap: 0 2.5rem }
  main .full { grid-column: 1 / -1 }
  header { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 2.5rem; align-items: center }
  nav { grid-column: 1 / -1 }
}
figcaption { font-size: 14px; color: var(--soft); max-width: 34rem }
.scroll svg { min-width: 48rem }
svg { max-width: 100%; height: auto; font-family: system-ui, sans-serif; fill: var(--ink) }
svg.chart { font-size: 12px }
svg .rule { stroke: var(--rule); stroke-width: 1 }
svg .ideal { fill: none; stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 5 4 }
svg .curve { fill: none; stroke: var(--computation); stroke-width: 2 }
svg .curve.other { stroke: var(--communication); stroke-dasharray: 7 3 }
svg .point { fill: var(--computation) }
svg .point.other { fill: var(--communication) }
svg .axis { stroke: var(--soft); stroke-width: 1 }
svg .faster { fill: var(--computation) }
svg .slower { fill: var(--communication) }
svg .cell { fill: var(--computation) }
svg .limit { stroke: var(--warning); stroke-width: 1.5 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; margin: 0.6rem 0; max-width: 52rem }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
.warning { color: var(--warning) }
details { margin: 0.5rem 0 }
summary { cursor: pointer }
footer { margin-top: 3rem; padding-top: 0.6rem; border-top: 1px solid var(--rule); font-size: 13px; color: var(--soft) }
@media (max-width: 1199px) {
  #profile .wide, .source .wide { display: none }
}
@media (max-width: 1059px) {
  .wide { display: none }
}
@media (max-width: 640px) {
  body { padding: 1rem 0.8rem 3rem; font-size: 14px }
  td.text code { white-space: normal; overflow-wrap: anywhere }
  .total { font-size: 1.7rem }
  svg.chart { font-size: 16px }
  code, pre, .source td, .source tbody th { font-size: 12px }
  td, th { padding-left: 0.3rem; padding-right: 0.3rem }
  dl { grid-template-columns: 1fr; gap: 0 }
  dd { margin-bottom: 0.5rem }
  td .bar { width: 3.4rem }
  td .bar.short { width: 2.6rem }
}
@media print {
  body { max-width: none; padding: 0 }
  nav { display: none }
  .scroll { overflow: visible }
  .bar, .source tr { print-color-adjust: exact }
  h2 { break-after: avoid }
  figure, tr { break-inside: avoid }
}
"""

STYLE = _ROOT + _RULES

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, at) => {
    const cell = row.cells[at];
    if (cell === undefined) return "";
    const text = cell.dataset.key ?? cell.textContent.trim().replaceAll(",", "");
    return text === "" ? "" : isNaN(text.replace("%", "")) ? text : Number(text.replace("%", ""));
  };
  const order = (one, other) => {
    if (one === "" || other === "") return (one === "") - (other === "");
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return typeof one === "number" ? one - other : one.localeCompare(other);
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(each => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const empty = row => key(row, at) === "";
      const rows = [...body.rows], known = rows.filter(row => !empty(row));
      known.sort((one, other) => (down ? -1 : 1) * order(key(one, at), key(other, at)));
      body.append(...known, ...rows.filter(empty));
    });
  });
}
"""
"""Makes headings of tables buttons that sort. XML as it is: neither < nor &."""
