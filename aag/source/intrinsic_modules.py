"""The modules that belong to the language."""

from collections.abc import Mapping

INTRINSIC_MODULES = frozenset(
    "hpf_library hpf_local_library iso_fortran_env iso_c_binding ieee_arithmetic ieee_exceptions ieee_features"
    " omp_lib".split()
)
"""Modules that declare only intrinsic functions, or constants."""

INTRINSIC_CONSTANTS: Mapping[str, Mapping[str, int]] = {
    "iso_fortran_env": {
        "real32": 4,
        "real64": 8,
        "real128": 16,
        "int8": 1,
        "int16": 2,
        "int32": 4,
        "int64": 8,
        "error_unit": 0,
        "input_unit": 5,
        "output_unit": 6,
    },
    "iso_c_binding": {
        "c_double": 8,
        "c_float": 4,
        "c_double_complex": 8,
        "c_float_complex": 4,
        "c_short": 2,
        "c_int": 4,
        "c_long": 8,
        "c_long_long": 8,
        "c_size_t": 8,
        "c_int8_t": 1,
        "c_int16_t": 2,
        "c_int32_t": 4,
        "c_int64_t": 8,
        "c_bool": 1,
        "c_char": 1,
    },
}
"""Kinds in bytes, and units of input and output."""
