"""The style sheet of the report. It names no font file and no address: the page is read where there is no network."""

STYLE = """
:root { color-scheme: light; --ink: #1d2329; --soft: #5d6770; --rule: #d9dee3; --paper: #ffffff; --tint: #f4f6f8 }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 73rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.6rem 0 0.6rem; padding-top: 0.5rem; border-top: 2px solid var(--ink) }
p { margin: 0.4rem 0; max-width: 46rem }
a { color: #1f5f99; text-decoration: none }
a:hover { text-decoration: underline }
code, pre, .source td { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px }
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
td.text, th.text { text-align: left }
td:first-child, th:first-child { padding-left: 0.3rem }
tr.best td { font-weight: 650 }
tr.none td { color: var(--soft) }
td.long { white-space: normal; min-width: 16rem }
td .bar { display: inline-flex; vertical-align: middle }
.source { width: 100% }
.source td { padding-top: 0; padding-bottom: 0; line-height: 1.55; border: 0 }
.source td.code { text-align: left; white-space: pre; width: 100% }
.source td.number { color: var(--soft) }
.source tr.blank td.number { opacity: 0.6 }
.source tr:target td { outline: 1px solid #e45756 }
.charts { display: flex; flex-wrap: wrap; gap: 1rem 2rem }
figure { margin: 0.6rem 0; max-width: 100% }
figcaption { font-size: 14px; color: var(--soft); max-width: 25rem }
svg { max-width: 100%; height: auto; font-family: system-ui, sans-serif }
svg.chart { font-size: 12px; fill: var(--ink) }
svg .rule { stroke: var(--rule); stroke-width: 1 }
svg .ideal { fill: none; stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 5 4 }
svg .curve { fill: none; stroke: #4c78a8; stroke-width: 2 }
svg .point { fill: #4c78a8 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; margin: 0.6rem 0; max-width: 52rem }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
.warning { color: #9c2f14 }
details { margin: 0.5rem 0 }
summary { cursor: pointer }
footer { margin-top: 3rem; padding-top: 0.6rem; border-top: 1px solid var(--rule); font-size: 13px; color: var(--soft) }
@media (max-width: 640px) {
  body { padding: 1rem 0.8rem 3rem; font-size: 14px }
  .wide { display: none }
  .total { font-size: 1.7rem }
  code, pre, .source td { font-size: 12px }
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
