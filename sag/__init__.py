"""What the machine is: the System Abstraction Graph (SAG) and what it exports.

A machine is a tree of System Abstraction Units (SAU). Each unit exports its performance through four
components: processing (P), memory (M), communication and synchronisation (C/S), input and output (I/O). The
tree is data (`systems/*.yaml`), read by `sag.load.load_system`; `sag.scenario.export` applies the what-if
changes of the user and flattens it into the `sag.machine.Machine` that the interpretation engine consumes.

Source: Parashar and Hariri, "Interpretive Performance Prediction for Parallel Application Development",
section 2.1.
"""
