"""Hand-written MPI node programs, simulated by SimGrid SMPI on a given hypercube."""
