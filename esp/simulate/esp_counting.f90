! Programs on a simulated machine that count what they do: counters in their text, and what each of them takes.
!
! The file ESP_FIGURES holds, as text: how many counters there are and the seconds of each; the seconds of a byte that is
! packed, and whether contiguous sections are packed (1) or not (0), with the seconds of such a byte; how many
! combinations of values there are, and type, operation and seconds of each; how many ranges of messages, and of each its
! limits in bytes and in hops, what a send keeps its caller for more than the simulator does (by itself, for each byte,
! for each hop) and what a receive does; then for each processor its distance to all others in hops.
! Each processor appends its record to the file ESP_RECORDS: 64-bit words, the number of each list before it.
module esp_simulation
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use mpi
  implicit none
  private
  public :: esp_often, esp_simulation_begin, esp_simulation_before, esp_simulation_after, esp_simulation_end
  public :: esp_simulation_packs, esp_simulation_combines, esp_simulation_charge

  integer, parameter :: long = c_int64_t

  type combination
    character(len=16) :: type, operation
    real(c_double) :: seconds
    integer(long) :: often
  end type combination

  type message_range
    real(c_double) :: limit, farthest, kept, kept_byte, kept_hop, receive
  end type message_range

  integer(long), allocatable :: esp_often(:)
  integer(long), allocatable :: charged(:), sent(:, :)
  real(c_double), allocatable :: seconds(:)
  integer, allocatable :: hops(:)
  type(combination), allocatable :: combinations(:)
  type(message_range), allocatable :: ranges(:)
  real(c_double) :: pack_byte, copy_byte, pending = 0
  integer(long) :: packed = 0, copied = 0, messages = 0
  integer :: copies, to, size_now
  logical :: sends

  interface
    subroutine compute(seconds) bind(C, name='smpi_execute')
      import :: c_double
      real(c_double), value :: seconds
    end subroutine compute
  end interface

contains

  subroutine esp_simulation_begin(me)
    integer, intent(in) :: me
    character(len=1024) :: file
    integer :: unit, count, i, procs, error
    call MPI_Comm_size(MPI_COMM_WORLD, procs, error)
    call get_environment_variable('ESP_FIGURES', file)
    open(newunit=unit, file=trim(file), status='old', action='read')
    read (unit, *) count
    allocate(esp_often(count), charged(count), seconds(count), sent(2, 16), hops(0:procs - 1))
    esp_often = 0
    charged = 0
    read (unit, *) seconds
    read (unit, *) pack_byte, copies, copy_byte
    read (unit, *) count
    allocate(combinations(count))
    do i = 1, count
      read (unit, *) combinations(i)%type, combinations(i)%operation, combinations(i)%seconds
      combinations(i)%often = 0
    end do
    read (unit, *) count
    allocate(ranges(count))
    do i = 1, count
      read (unit, *) ranges(i)%limit, ranges(i)%farthest, ranges(i)%kept, ranges(i)%kept_byte, ranges(i)%kept_hop, &
        ranges(i)%receive
    end do
    do i = 0, me
      read (unit, *) hops
    end do
    close(unit)
  end subroutine esp_simulation_begin

  ! The processor does for as long as its counts take what it counted since it came here last.
  subroutine esp_simulation_charge()
    pending = pending + dot_product(real(esp_often - charged, c_double), seconds)
    charged = esp_often
    if (pending > 0) call compute(pending)
    pending = 0
  end subroutine esp_simulation_charge

  ! The processor comes to a message.
  subroutine esp_simulation_before(what, partner, bytes)
    character(len=*), intent(in) :: what
    integer, intent(in) :: partner, bytes
    integer(long), allocatable :: longer(:, :)
    call esp_simulation_charge()
    sends = what == 'send'
    to = partner
    size_now = bytes
    if (.not. sends) return
    messages = messages + 1
    if (messages > size(sent, 2)) then
      allocate(longer(2, 2 * size(sent, 2)))
      longer(:, :size(sent, 2)) = sent
      call move_alloc(longer, sent)
    end if
    sent(:, messages) = [int(partner, long), int(bytes, long)]
  end subroutine esp_simulation_before

  ! The message is sent, or has arrived.
  subroutine esp_simulation_after()
    real(c_double) :: kept
    integer :: i
    do i = 1, size(ranges) - 1
      if (size_now <= ranges(i)%limit .and. hops(to) <= ranges(i)%farthest) exit
    end do
    kept = ranges(i)%receive
    if (sends) kept = ranges(i)%kept + ranges(i)%kept_byte * size_now + ranges(i)%kept_hop * hops(to)
    if (kept > 0) call compute(kept)
  end subroutine esp_simulation_after

  ! Elements of some bytes at places in memory go into a message, or come out of it. `owned`: the places of what this
  ! processor owns, where it would store nothing else: emission may store more, and leave room in between.
  subroutine esp_simulation_packs(place, bytes, owned)
    integer, intent(in) :: place(:), bytes
    integer, intent(in), optional :: owned(:)
    logical :: contiguous
    integer :: between, i
    contiguous = .true.
    if (size(place) > 1) then
      between = maxval(place) - minval(place) + 1
      if (present(owned)) then
        i = count(owned >= minval(place) .and. owned <= maxval(place))
        if (i >= size(place)) between = i
      end if
      contiguous = between == size(place)
    end if
    if (.not. contiguous) then
      packed = packed + size(place) * int(bytes, long)
      pending = pending + size(place) * bytes * pack_byte
    else if (copies == 1) then
      copied = copied + size(place) * int(bytes, long)
      pending = pending + size(place) * bytes * copy_byte
    end if
  end subroutine esp_simulation_packs

  ! Vectors of so many values are combined.
  subroutine esp_simulation_combines(type, operation, count)
    character(len=*), intent(in) :: type, operation
    integer, intent(in) :: count
    integer :: i
    do i = 1, size(combinations)
      if (combinations(i)%type /= type .or. combinations(i)%operation /= operation) cycle
      combinations(i)%often = combinations(i)%often + count
      pending = pending + count * combinations(i)%seconds
    end do
  end subroutine esp_simulation_combines

  ! The record goes to the file without any message, which would meet those of the program on the links: all processors
  ! of a simulation are one process, and nothing of it runs in between.
  subroutine esp_simulation_end(me)
    integer, intent(in) :: me
    character(len=1024) :: file
    real(c_double) :: own
    integer :: unit
    call esp_simulation_charge()
    own = MPI_Wtime()
    call get_environment_variable('ESP_RECORDS', file)
    open(newunit=unit, file=trim(file), access='stream', form='unformatted', status='unknown', position='append', &
         action='write')
    write (unit) int(me, long), own, size(esp_often, kind=long), esp_often
    write (unit) packed, copied, size(combinations, kind=long), combinations%often, messages, sent(:, :messages)
    close(unit)
  end subroutine esp_simulation_end

end module esp_simulation
