"""The node program as Fortran with MPI: sources that run and print what the serial program prints (D3)."""

from aag.spmd.emit.emission import HEAD, Emission, Nodes, emit
from aag.spmd.emit.refusals import NotEmitted

__all__ = ["HEAD", "Emission", "Nodes", "NotEmitted", "emit"]
