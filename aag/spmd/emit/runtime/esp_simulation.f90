! Node programs on a simulated machine: computation, and the time that a send keeps its caller, come from a prediction;
! the messages are the program's own.
!
! The file ESP_EVENTS holds for each processor the messages that it sends and receives, in order: seconds of computation
! before the call, what the call is, the partner, the bytes, and the seconds that it keeps its caller afterwards.
! A program that does something else than is predicted is stopped. The file ESP_TIMES gets when each processor ended, and
! ESP_MOMENTS, if it is wanted, when each message was called and done, at the places that it has in ESP_EVENTS.
module esp_simulation
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use mpi
  implicit none
  private
  public :: esp_simulation_begin, esp_simulation_before, esp_simulation_after, esp_simulation_end
  public :: esp_simulation_packs, esp_simulation_combines

  type event
    real(c_double) :: before, after
    integer(c_int64_t) :: sends, partner, bytes
  end type event

  type(event), allocatable :: events(:)
  real(c_double), allocatable :: moments(:, :)
  integer(c_int64_t) :: start
  integer :: next = 0
  real(c_double) :: rest = 0

  interface
    subroutine compute(seconds) bind(C, name='smpi_execute')
      import :: c_double
      real(c_double), value :: seconds
    end subroutine compute
  end interface

contains

  ! The file: for each processor the byte, from 1, where its part begins; a part: how many events, computation after the
  ! last of them, the events.
  subroutine esp_simulation_begin(me)
    integer, intent(in) :: me
    character(len=1024) :: file
    integer(c_int64_t) :: count
    integer :: unit
    call get_environment_variable('ESP_EVENTS', file)
    open(newunit=unit, file=trim(file), access='stream', form='unformatted', status='old', action='read')
    read (unit, pos=8 * me + 1) start
    read (unit, pos=start) count, rest
    allocate(events(count), moments(2, count))
    if (count > 0) read (unit) events
    close(unit)
  end subroutine esp_simulation_begin

  ! The processor comes to a message.
  subroutine esp_simulation_before(what, partner, bytes)
    character(len=*), intent(in) :: what
    integer, intent(in) :: partner, bytes
    logical :: same
    next = next + 1
    same = next <= size(events)
    if (same) same = (events(next)%sends == 1) .eqv. (what == 'send')
    if (same) same = events(next)%partner == partner .and. events(next)%bytes == bytes
    if (.not. same) call differs(what, partner, bytes)
    if (events(next)%before > 0) call compute(events(next)%before)
    moments(1, next) = MPI_Wtime()
  end subroutine esp_simulation_before

  ! The message is sent, or has arrived.
  subroutine esp_simulation_after()
    if (events(next)%after > 0) call compute(events(next)%after)
    moments(2, next) = MPI_Wtime()
  end subroutine esp_simulation_after

  ! What packing and combining take is part of the predicted computation.
  subroutine esp_simulation_packs(place, bytes, owned)
    integer, intent(in) :: place(:), bytes
    integer, intent(in), optional :: owned(:)
  end subroutine esp_simulation_packs

  subroutine esp_simulation_combines(type, operation, count)
    character(len=*), intent(in) :: type, operation
    integer, intent(in) :: count
  end subroutine esp_simulation_combines

  ! Times go to the files without any message, which would meet those of the program on the links: all processors of a
  ! simulation are one process, and nothing of it runs in between.
  subroutine esp_simulation_end(me)
    integer, intent(in) :: me
    character(len=1024) :: file
    real(c_double) :: own
    integer :: unit, status
    if (next /= size(events)) then
      next = next + 1
      call differs('end', 0, 0)
    end if
    if (rest > 0) call compute(rest)
    own = MPI_Wtime()
    call get_environment_variable('ESP_TIMES', file)
    open(newunit=unit, file=trim(file), access='stream', form='unformatted', status='unknown', action='readwrite')
    write (unit, pos=8 * me + 1) own
    close(unit)
    call get_environment_variable('ESP_MOMENTS', file, status=status)
    if (status /= 0 .or. next == 0) return
    open(newunit=unit, file=trim(file), access='stream', form='unformatted', status='unknown', action='readwrite')
    write (unit, pos=start) moments
    close(unit)
  end subroutine esp_simulation_end

  subroutine differs(what, partner, bytes)
    character(len=*), intent(in) :: what
    integer, intent(in) :: partner, bytes
    character(len=7) :: wanted
    integer :: me, error
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    wanted = 'end'
    if (next <= size(events)) then
      wanted = 'receive'
      if (events(next)%sends == 1) wanted = 'send'
    end if
    write (0, '(a,i0,a,i0,3a,i0,a,i0,a)') 'processor ', me, ', message ', next, ': ', trim(what), ' (with ', partner, &
      ', bytes ', bytes, ')'
    if (next <= size(events)) then
      write (0, '(3a,i0,a,i0,a)') 'predicted: ', trim(wanted), ' (with ', events(next)%partner, ', bytes ', &
        events(next)%bytes, ')'
    else
      write (0, '(a)') 'predicted: end'
    end if
    stop 3
  end subroutine differs

end module esp_simulation
