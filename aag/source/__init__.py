"""From text to `Program`: the only place that knows the Fortran parser.

The road, one module a step (`read.read_files` is the whole of it, `stages` its part from statements to units):

    files, preprocess  bytes -> physical lines: decoding, INCLUDE, cpp where it is needed
    forms              source form of each file, and how many columns of a line count
    joining            physical lines -> statements and directive texts, continuations joined, every character
                       knowing its file, line and column
    directives         directive texts -> aag.ir.directives, by our own grammar (with mapping_clauses, independent,
                       expression_parser, tokens)
    outline            statements -> rows of plain free form, block structure checked, labelled DO closed (with
                       classify)
    nesting            deep and long expressions taken out of the rows
    parsing            rows -> fparser's tree; a statement that cannot be read is isolated
    units              tree -> aag.ir.units (with declarations, shapes, specification for the one half of a unit,
                       statements, jumps, jumping, expressions, resolving for the other)
    names              what is used but declared nowhere (with intrinsics, nearest)
"""
