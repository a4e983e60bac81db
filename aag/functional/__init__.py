"""Functional interpretation: runs the part of a program that decides its flow (D8), without timing, input and output.

slicing     the statements that compute what is wanted
terms       expressions as Python and NumPy, `functions` the intrinsic functions among them
nests       loops whose iterations NumPy computes together, `vectors` their text
writing     statements as Python, `declaring` their arrays and initial values
support     what the written Python calls, `whole` the functions of whole arrays
run         `computed`: slice, write, compile, run within a budget
tables      what is wanted and found
"""
