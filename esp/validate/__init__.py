"""Predictions held against something that ran: `esp validate --against METHOD`.

A method is a module with `validate(job: Job) -> Report`. `job` says what is asked for, `serial` and `answer` hold a
node program's output against that of the serial program, `counts` tells which messages are predicted.

    native      the node program with MPI: answers and messages
    simgrid     the node program on a simulated machine: times of communication and waiting
"""
