"""The language as data: expressions, directives, statements, program units (design decision D1).

Nothing outside `aag.source` knows the parser; the rest of the project uses ``match`` on these classes.
Read `expressions`, `directives`, `statements` and `units` in that order: each opens with its grammar.
`visitors` walk and rebuild them, `evaluate` gives scalar expressions their values, `printer` (with `spelling`)
turns them into Fortran again.
"""
