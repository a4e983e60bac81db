! What a node program for one processor is linked with instead of MPI, so that it is static and nothing but its own
! loops fills the cache: a module `mpi` without anybody to talk to, the addresses of arrays, and an exponential.

module mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer, parameter :: MPI_COMM_WORLD = 0, MPI_INTEGER = 1, MPI_INTEGER8 = 2, MPI_BYTE = 3, MPI_STATUS_SIZE = 1
  integer, parameter :: MPI_DOUBLE_PRECISION = 4, MPI_MAX = 5
  integer :: MPI_STATUS_IGNORE(MPI_STATUS_SIZE) = 0, MPI_STATUSES_IGNORE(MPI_STATUS_SIZE, 1) = 0
  private :: c_int, alone

contains

  ! All arrays come from one heap and lie behind each other, whatever their size.
  subroutine MPI_Init(error)
    integer, intent(out) :: error
    integer(c_int), parameter :: m_mmap_max = -4
    interface
      function mallopt(option, setting) bind(C, name='mallopt')
        import :: c_int
        integer(c_int), value :: option, setting
        integer(c_int) :: mallopt
      end function mallopt
    end interface
    error = merge(0, 1, mallopt(m_mmap_max, 0) == 1)
  end subroutine MPI_Init

  subroutine MPI_Comm_rank(comm, rank, error)
    integer, intent(in) :: comm
    integer, intent(out) :: rank, error
    rank = 0
    error = comm
  end subroutine MPI_Comm_rank

  subroutine MPI_Comm_size(comm, procs, error)
    integer, intent(in) :: comm
    integer, intent(out) :: procs, error
    procs = 1
    error = comm
  end subroutine MPI_Comm_size

  subroutine MPI_Finalize(error)
    integer, intent(out) :: error
    error = 0
  end subroutine MPI_Finalize

  subroutine MPI_Abort(comm, code, error)
    integer, intent(in) :: comm, code
    integer, intent(out) :: error
    error = comm + code
    stop 3
  end subroutine MPI_Abort

  function MPI_Wtime() result(now)
    double precision :: now
    call cpu_time(now)
  end function MPI_Wtime

  subroutine MPI_Barrier(comm, error)
    integer, intent(in) :: comm
    integer, intent(out) :: error
    error = comm
  end subroutine MPI_Barrier

  subroutine MPI_Reduce(mine, all, count, kind, operation, root, comm, error)
    type(*), intent(in) :: mine
    type(*), intent(inout) :: all
    integer, intent(in) :: count, kind, operation, root, comm
    integer, intent(out) :: error
    call alone(error)
  end subroutine MPI_Reduce

  subroutine MPI_Gather(from, sent, kind, to, received, kind_to, root, comm, error)
    type(*), intent(in) :: from(*)
    type(*), intent(inout) :: to(*)
    integer, intent(in) :: sent, kind, received, kind_to, root, comm
    integer, intent(out) :: error
    call alone(error)
  end subroutine MPI_Gather

  subroutine MPI_Send(buffer, count, kind, to, tag, comm, error)
    type(*), intent(in) :: buffer(*)
    integer, intent(in) :: count, kind, to, tag, comm
    integer, intent(out) :: error
    call alone(error)
  end subroutine MPI_Send

  subroutine MPI_Recv(buffer, count, kind, from, tag, comm, status, error)
    type(*), intent(inout) :: buffer(*)
    integer, intent(in) :: count, kind, from, tag, comm
    integer, intent(in) :: status(*)
    integer, intent(out) :: error
    call alone(error)
  end subroutine MPI_Recv

  subroutine MPI_Irecv(buffer, count, kind, from, tag, comm, request, error)
    type(*), intent(inout) :: buffer(*)
    integer, intent(in) :: count, kind, from, tag, comm
    integer, intent(out) :: request, error
    request = 0
    call alone(error)
  end subroutine MPI_Irecv

  subroutine MPI_Wait(request, status, error)
    integer, intent(inout) :: request
    integer, intent(in) :: status(*)
    integer, intent(out) :: error
    call alone(error)
  end subroutine MPI_Wait

  subroutine MPI_Waitall(count, requests, statuses, error)
    integer, intent(in) :: count
    integer, intent(inout) :: requests(*)
    integer, intent(in) :: statuses(*)
    integer, intent(out) :: error
    error = 0
    if (count > 0) call alone(error)
  end subroutine MPI_Waitall

  subroutine alone(error)
    integer, intent(out) :: error
    error = 1
    write (0, '(a)') 'a node program for one processor sends or receives a message'
    stop 3
  end subroutine alone

end module mpi

! What is added to the main program.
module esp_measured
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_size_t, c_ptr
  implicit none
  private
  public :: esp_gap, esp_lies, esp_uses

contains

  ! Leave some bytes between the arrays allocated before and after.
  subroutine esp_gap(bytes)
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), save :: gap
    interface
      function malloc(bytes) bind(C, name='malloc')
        import :: c_ptr, c_size_t
        integer(c_size_t), value :: bytes
        type(c_ptr) :: malloc
      end function malloc
    end interface
    gap = malloc(bytes)
  end subroutine esp_gap

  ! Say where an array lies.
  subroutine esp_lies(name, address)
    character(len=*), intent(in) :: name
    integer(c_intptr_t), intent(in) :: address
    write (0, '(3a,i0)') 'address ', name, ' ', address
  end subroutine esp_lies

  ! Need a value.
  subroutine esp_uses(value)
    type(*), intent(in) :: value
  end subroutine esp_uses

end module esp_measured

! The exponential, linked in the place of the C library's (ld --wrap): that one reads a table, and another one on
! another processor. This one sums its series for x / 720 in registers, and raises the sum to that power; it reads no
! constant from memory. Good to about 1e-13.
function esp_exp(x) result(y) bind(C, name='__wrap_exp')
  use, intrinsic :: iso_c_binding, only: c_double
  implicit none
  real(c_double), value :: x
  real(c_double) :: y, base
  integer :: term, time
  !GCC$ unroll 1
  do term = 2, 6
    x = x / term
  end do
  y = x
  !GCC$ unroll 1
  do term = 22, 1, -1
    y = (term + x * y) / term
  end do
  !GCC$ unroll 1
  do term = 2, 6
    base = y
    !GCC$ unroll 1
    do time = 2, term
      y = y * base
    end do
  end do
end function esp_exp

function esp_expf(x) result(y) bind(C, name='__wrap_expf')
  use, intrinsic :: iso_c_binding, only: c_double, c_float
  implicit none
  interface
    function esp_exp(x) bind(C, name='__wrap_exp')
      import :: c_double
      real(c_double), value :: x
      real(c_double) :: esp_exp
    end function esp_exp
  end interface
  real(c_float), value :: x
  real(c_float) :: y
  y = real(esp_exp(real(x, c_double)), c_float)
end function esp_expf

! The power, which in the C library reads tables as well: the exponential of y log(x), with 2 atanh((m - 1) / (m + 1)) for
! the logarithm of the mantissa m of x, and of 2. Of negative x only whole powers are defined.
function esp_pow(x, y) result(power) bind(C, name='__wrap_pow')
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  interface
    function esp_exp(x) bind(C, name='__wrap_exp')
      import :: c_double
      real(c_double), value :: x
      real(c_double) :: esp_exp
    end function esp_exp
  end interface
  real(c_double), value :: x, y
  real(c_double) :: power, root, square, sum, logarithm
  integer(c_int64_t) :: bits
  integer :: of, term
  power = 0
  if (x == 0) return
  bits = transfer(abs(x), bits)
  logarithm = 0
  !GCC$ unroll 1
  do of = 1, 2
    root = 2
    if (of == 2) root = transfer(ior(iand(bits, shiftl(1_c_int64_t, 52) - 1), shiftl(1023_c_int64_t, 52)), root)
    root = (root - 1) / (root + 1)
    square = root * root
    sum = 0
    !GCC$ unroll 1
    do term = 43, 1, -2
      sum = sum * square + 2 / real(term, c_double)
    end do
    logarithm = logarithm + sum * root
    if (of == 1) logarithm = logarithm * (shiftr(bits, 52) - 1023)
  end do
  power = esp_exp(y * logarithm)
  if (x < 0 .and. modulo(int(y), 2) == 1) power = -power
end function esp_pow
