"""Names that need no declaration: Fortran's intrinsic functions, HPF's, and modules that are known by
name."""

INTRINSICS = frozenset(
    # numeric and mathematical
    "abs aimag aint anint ceiling cmplx conjg dble dim dprod floor int mod modulo nint real sign"
    " acos asin atan atan2 cos cosh exp log log10 sin sinh sqrt tan tanh max min erf erfc gamma"
    " hypot acosh asinh atanh bessel_j0 bessel_j1"
    # the specific names of FORTRAN 77
    " alog alog10 amax0 amax1 amin0 amin1 amod cabs ccos cexp clog csin csqrt dabs dacos dasin"
    " datan datan2 dcos dcosh ddim dexp dint dlog dlog10 dmax1 dmin1 dmod dnint dsign dsin dsinh"
    " dsqrt dtan dtanh float iabs idim idint idnint ifix isign max0 max1 min0 min1 sngl dfloat"
    " dreal dimag dcmplx dconjg dfloti"
    # arrays
    " all any count maxval minval product sum maxloc minloc dot_product matmul transpose cshift"
    " eoshift spread reshape pack unpack merge size shape lbound ubound allocated associated"
    " findloc norm2 parity iall iany"
    # kinds, bits, characters, inquiry
    " kind selected_int_kind selected_real_kind digits epsilon huge tiny maxexponent minexponent"
    " precision radix range exponent fraction nearest rrspacing scale set_exponent spacing"
    " bit_size btest iand ibclr ibits ibset ieor ior ishft ishftc mvbits not achar adjustl adjustr"
    " char iachar ichar index len len_trim lge lgt lle llt repeat scan trim verify logical present"
    " transfer null storage_size popcnt leadz trailz poppar new_line c_loc c_sizeof"
    # time, common extensions
    " secnds second etime dtime cpu_time system_clock mpi_wtime iargc time mclock dclock rand irand ran"
    # HPF
    " number_of_processors processors_shape active_num_procs ilen this_image num_images"
    # HPF_LIBRARY
    " iall iany iparity popcnt poppar leadz grade_down grade_up global_alignment hpf_alignment"
    " sum_prefix sum_suffix sum_scatter copy_prefix copy_suffix copy_scatter maxval_prefix"
    " maxval_suffix maxval_scatter minval_prefix minval_suffix minval_scatter count_prefix"
    " count_suffix count_scatter product_prefix product_suffix product_scatter all_prefix"
    " all_suffix all_scatter any_prefix any_suffix any_scatter".split()
)
"""Functions that are called without a declaration."""

MODULES = frozenset("hpf_library hpf_local_library iso_fortran_env iso_c_binding ieee_arithmetic omp_lib".split())
"""Modules that declare only what is listed above, or kinds."""

LEADING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("sum product maxval minval maxloc minloc size shape lbound ubound".split(), ("array",)),
    **dict.fromkeys("all any count".split(), ("mask",)),
    **dict.fromkeys("cshift eoshift".split(), ("array", "shift")),
    "dot_product": ("vector_a", "vector_b"),
    "matmul": ("matrix_a", "matrix_b"),
    "transpose": ("matrix",),
}
"""Array intrinsics and the arguments that each must have, which stand first."""
