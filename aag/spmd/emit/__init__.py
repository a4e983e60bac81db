"""The node program as Fortran with MPI: sources that run and print what the serial program prints (D3)."""

from aag.spmd.emit.emission import Emission, emit
from aag.spmd.emit.names import NotEmitted

__all__ = ["Emission", "NotEmitted", "emit"]
