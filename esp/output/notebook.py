"""Results in a notebook: what their command prints, with tables as HTML. No script and no address in it."""

from html import escape

from esp.visible import HTML

_STYLE = """
<style>
.esp-result { overflow-x: auto }
.esp-result pre { margin: 0.4em 0; padding: 0; white-space: pre-wrap; background: none; font-size: 90% }
.esp-result table { border-collapse: collapse; margin: 0.4em 0 }
.esp-result td, .esp-result th { padding: 0.15em 0.6em; text-align: right; white-space: nowrap }
.esp-result td { font-variant-numeric: tabular-nums }
.esp-result td.text, .esp-result th.text { text-align: left }
.esp-result tr.good { font-weight: bold }
.esp-result tr.faint { opacity: 0.7 }
</style>
"""


def page_of(text: str) -> str:
    """A page of a text that was made for a screen with HTML."""
    blocks = []
    for number, piece in enumerate(text.split(HTML)):
        if number % 2:
            blocks.append(piece)
        elif piece.strip():
            blocks.append(f"<pre>{escape(piece.strip())}</pre>")
    return f'<div class="esp-result">{_STYLE}{"".join(blocks)}</div>'
