"""SPMD lowering: a mapped program -> the node program that every processor runs (single program, multiple data).

    elementwise, symbols      array syntax and WHERE -> one element at index positions
    lowering                  the state of a lowering: nodes, temporaries, notes
    assignments, foralls,     a kind of statement each; the owner of the left-hand side computes
    loops, hostio, calls
    lower                     the kind of a statement; statements that hold others
    needs                     which references need communication, and what the run-time library would call it
    relation, communication   exact message sets from ownership: who has what somebody else needs
    partition, access         iterations of each processor; how a nest walks through local memory
    optimize, overlaps        hoisting out of loops, redundant messages
    verify                    what later stages rely on

`nodes` is the grammar of the result, `steps` what a communication does once scalar values are known.
"""
