"""Data in, text out: profiles, annotated sources, tables, JSON, CSV, HTML and diagnostics.

Nothing here computes a prediction and nothing writes to a file: a function takes a frozen result and answers
the text that shows it. Plain text is made with a few lines of our own (`columns`, `screen`): importing
a library for tables and colours would cost a sixth of the time that a whole prediction may take.
"""
