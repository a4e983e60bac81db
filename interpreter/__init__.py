"""What time means: one application graph interpreted over one machine.

The terms of this room: the *engine* walks the synchronized application abstraction graph (SAAG, made of the
application abstraction units, AAUs, of `aag`) and asks one interpretation function for each AAU; a *model*
is one such idea of cost, written in terms of the system abstraction units (SAUs) of `sag`. The *clock*
holds one time for each processor and each *scenario* (one set of changed system parameters); the *metrics*
are its four categories, computation, overhead, communication and waiting, for each AAU. *Functional
interpretation* computes the values of the variables that decide the flow of the program. The answer is a
`Prediction`.
"""
