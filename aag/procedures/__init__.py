"""Program -> one unit: the bodies of procedures stand where they are called.

    expand      the calls of a unit, each replaced by the statements of the procedure
    binding     dummy arguments -> what they are where the procedure is called
    names       a procedure's statements with the names of the caller
    returns     RETURN as the end of a block
    effects     what a procedure may assign

A statement keeps its place in the source, so that its time counts for the line of the procedure.
"""
