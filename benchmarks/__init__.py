"""How fast esp is, measured side by side in one run: ``python -m benchmarks`` prints one table.

Times are processor time (user and system), as other work on the machine disturbs it least; each figure is the median
of several runs, and what is compared alternates. Nothing here is a test: a slow machine fails nobody.
"""
