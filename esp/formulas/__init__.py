"""The time of a program as a formula: in its size (`formula`, `derivation`), and in the number of processors as well
(`scaling_formula`, `scaling_derivation`). `trials` has the program at several sizes, `paid` what counts are paid for.
"""
