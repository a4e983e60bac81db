"""Variables of derived types -> one variable for each of their components: ``p(i)%x`` becomes ``p%x(i)``.

`split` does it for all units of a program, so that no later stage knows derived types. `leaves` are the components,
`scopes` what names mean, `designators` references to variables, `values` expressions, `assignments`, `lists` of input,
output and arguments, `statements` bodies, `declarations` entities, and `directives` mappings.
"""
