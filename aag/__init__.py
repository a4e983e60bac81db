"""What the program is: from HPF source to the application abstraction graph.

The terms of this room: an *AAU* (application abstraction unit) is one construct of the program, a loop, a
condition, a block of statements, a communication, in the form the predictor can put a price on. The *AAG*
(application abstraction graph) is all AAUs of a program in the order of its text; the *SAAG* (synchronized
AAG) is the AAG with the edges and the table of the communications between the processors' copies of it. A
*node program* is what one processor executes once the data is distributed (SPMD: single program, multiple
data), a *layout* says which processors own which elements of an array, the *owner* of an element computes
it, and the *overlap area* of a processor holds copies of its neighbours' elements. Nothing here knows a
second, a byte per second or the name of a machine. The way through the room is `aag/pipeline.py`.
"""
