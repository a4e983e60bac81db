"""Where every element lives: directives and the user's overrides -> a `Layout` for each array.

    array element --ALIGN--> template cell --DISTRIBUTE--> coordinate of a processor grid --> linear rank

`resolve.resolve_mapping` is the entry. `layout.Layout` answers who owns what; everything behind it is a
closed form, so its cost depends on the number of processors at most and never on the size of an array.
Read `grid`, `distribution`, `layout`, then `resolve` and what it uses: `scope`, `constants`, `arrangements`,
`alignment` and `dealing`.
"""
