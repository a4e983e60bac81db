"""Fortran kernels on arrays at known addresses, and their cache misses as cachegrind counts them."""
