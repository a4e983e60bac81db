! Collectives that MPI does itself, with whatever messages it likes, in groups of processors. Ranks are those of all
! processors; the place of one in its group is its column, from 0. A pool holds what each column has, one after the
! other: that of column c are the bytes first(c) + 1 to first(c + 1).
module esp_native
  use mpi
  implicit none
  private
  public :: esp_native_broadcast, esp_native_concatenate, esp_native_gather, esp_native_scatter, esp_native_operation
  public :: esp_native_group

  integer, parameter :: esp_byte = selected_int_kind(2)

  ! Processors in their order, and the communicator that they got when they first met.
  type meeting
    integer, allocatable :: members(:)
    integer :: communicator = 0
  end type meeting

  type(meeting), allocatable :: known(:)

contains

  ! The communicator of a group that I am in. Nobody else need know of it.
  integer function esp_native_group(members) result(communicator)
    integer, intent(in) :: members(:)
    type(meeting), allocatable :: more(:)
    integer :: i, everybody, group, error
    if (.not. allocated(known)) allocate(known(0))
    do i = 1, size(known)
      communicator = known(i)%communicator
      if (size(known(i)%members) /= size(members)) cycle
      if (all(known(i)%members == members)) return
    end do
    call MPI_Comm_group(MPI_COMM_WORLD, everybody, error)
    call MPI_Group_incl(everybody, size(members), members, group, error)
    call MPI_Comm_create_group(MPI_COMM_WORLD, group, 2, communicator, error)
    call MPI_Group_free(group, error)
    call MPI_Group_free(everybody, error)
    allocate(more(size(known) + 1))
    more(:size(known)) = known
    more(size(more))%members = members
    more(size(more))%communicator = communicator
    call move_alloc(more, known)
  end function esp_native_group

  ! What each column has goes to all others.
  subroutine esp_native_broadcast(members, first, pool)
    integer, intent(in) :: members(:), first(0:)
    integer(esp_byte), intent(inout) :: pool(*)
    integer :: column, bytes, error
    do column = 0, size(members) - 1
      bytes = first(column + 1) - first(column)
      if (bytes > 0) &
        call MPI_Bcast(pool(first(column) + 1), bytes, MPI_BYTE, column, esp_native_group(members), error)
    end do
  end subroutine esp_native_broadcast

  ! The same at once.
  subroutine esp_native_concatenate(members, first, pool)
    integer, intent(in) :: members(:), first(0:)
    integer(esp_byte), intent(inout) :: pool(*)
    integer :: bytes(size(members)), error
    bytes = first(1:) - first(:size(members) - 1)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, pool, bytes, first, MPI_BYTE, esp_native_group(members), error)
  end subroutine esp_native_concatenate

  ! What each column has goes to the column `root`.
  subroutine esp_native_gather(members, column, root, first, pool)
    integer, intent(in) :: members(:), column, root, first(0:)
    integer(esp_byte), intent(inout) :: pool(*)
    integer :: bytes(size(members)), error
    integer(esp_byte) :: mine(first(column + 1) - first(column))
    bytes = first(1:) - first(:size(members) - 1)
    mine = pool(first(column) + 1:first(column + 1))
    call MPI_Gatherv(mine, size(mine), MPI_BYTE, pool, bytes, first, MPI_BYTE, root, esp_native_group(members), error)
  end subroutine esp_native_gather

  ! The column `root` has what is for each of the others.
  subroutine esp_native_scatter(members, column, root, first, pool)
    integer, intent(in) :: members(:), column, root, first(0:)
    integer(esp_byte), intent(inout) :: pool(*)
    integer :: bytes(size(members)), error
    integer(esp_byte) :: mine(first(column + 1) - first(column))
    bytes = first(1:) - first(:size(members) - 1)
    call MPI_Scatterv(pool, bytes, first, MPI_BYTE, mine, size(mine), MPI_BYTE, root, esp_native_group(members), error)
    pool(first(column) + 1:first(column + 1)) = mine
  end subroutine esp_native_scatter

  ! MPI's name of a reduction.
  integer function esp_native_operation(op) result(operation)
    character(len=*), intent(in) :: op
    select case (op)
    case ('sum')
      operation = MPI_SUM
    case ('product')
      operation = MPI_PROD
    case ('max')
      operation = MPI_MAX
    case ('min')
      operation = MPI_MIN
    case ('all')
      operation = MPI_LAND
    case ('any')
      operation = MPI_LOR
    case ('parity')
      operation = MPI_LXOR
    case ('iall')
      operation = MPI_BAND
    case ('iany')
      operation = MPI_BOR
    case ('iparity')
      operation = MPI_BXOR
    case default
      operation = MPI_OP_NULL
    end select
  end function esp_native_operation

end module esp_native
