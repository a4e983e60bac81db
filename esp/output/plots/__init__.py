"""Pictures for papers: PNG, SVG and PDF in one style, drawn by matplotlib, an extra that is imported only then.

`style` has sizes, colours and files, `scales` axes and their ticks, `labels` names at curves. The others have a
function each that turns a result into a `matplotlib.figure.Figure`. What is drawn are the figures of tables and JSON.
"""
