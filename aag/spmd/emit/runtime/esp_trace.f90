! What each processor did and when, for node programs that are compiled to be traced (docs/trace.md).
!
! Time is cut into pieces without gaps: a piece belongs to an AAU and is computation, overhead or I/O, or one message.
! Every processor keeps its own pieces; processor 0 collects and writes them at the end, where ESP_TRACE names a file.
module esp_trace
  use mpi
  use iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  private
  public :: esp_trace_head, esp_trace_begin, esp_trace_at, esp_trace_cut, esp_trace_send, esp_trace_receive
  public :: esp_trace_finish

  integer, parameter, public :: esp_compute = 1, esp_overhead = 2, esp_io = 3
  double precision, parameter :: together = 2.0d-3
  integer, parameter :: sends = 4, receives = 5
  integer, parameter :: long = selected_int_kind(18), tag = 2
  character(len=8), parameter :: words(5) = (/ 'compute ', 'overhead', 'io      ', 'send    ', 'receive ' /)

  ! Pieces in the order in which they happened; no partner is -1.
  type pieces
    integer :: count = 0
    double precision, allocatable :: begin(:), duration(:)
    integer, allocatable :: aau(:), kind(:), partner(:)
    integer(long), allocatable :: bytes(:)
  end type pieces

  type(pieces) :: own
  logical :: active = .false., full = .false., one_clock = .false.
  integer :: me = 0, procs = 1, most = 0
  integer :: aau_now = 1, kind_now = esp_compute
  double precision :: origin = 0.0d0, mark = 0.0d0, offset = 0.0d0
  integer(long) :: base = 0, rate = 1
  character(len=1024) :: file = ''
  character(len=:), allocatable :: head

  interface
    integer(c_int) function c_rename(from, to) bind(c, name='rename')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: from(*), to(*)
    end function c_rename
  end interface

contains

  ! A part of the header; `ends`: it is the last part of its line.
  subroutine esp_trace_head(text, ends)
    character(len=*), intent(in) :: text
    logical, intent(in) :: ends
    if (.not. allocated(head)) head = ''
    head = head // text
    if (ends) head = head // new_line('a')
  end subroutine esp_trace_head

  ! From here on time counts. Where the file cannot be written the program ends now and not after its work.
  subroutine esp_trace_begin()
    integer :: error, status, asked, unit_status
    character(len=32) :: limit
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, procs, error)
    asked = 5000000
    if (me == 0) then
      call get_environment_variable('ESP_TRACE', file, status=status)
      active = status == 0 .and. len_trim(file) > 0
      call get_environment_variable('ESP_TRACE_EVENTS', limit, status=status)
      if (status == 0) read (limit, *, iostat=unit_status) asked
      if (active) then
        open(unit=98, file=trim(file) // '.part', status='replace', action='write', iostat=unit_status)
        if (unit_status /= 0) then
          write (0, '(3a)') 'esp run-time library: the trace ', trim(file), ' cannot be written'
          call MPI_Abort(MPI_COMM_WORLD, 2, error)
        end if
        close(98, status='delete')
      end if
    end if
    call MPI_Bcast(active, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, error)
    if (.not. active) return
    call MPI_Bcast(asked, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    most = max(1, asked / procs)
    call room(own, min(most, 4096))
    call agree()
    call MPI_Barrier(MPI_COMM_WORLD, error)
    origin = now() + together
    call MPI_Bcast(origin, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
    call wait_for_origin()
    mark = max(0.0d0, now() - origin)
  end subroutine esp_trace_begin

  ! All processors begin at once, and not those first that learn first of when. A clock that stands still while one looks
  ! at it, as in some simulations, cannot be waited for.
  subroutine wait_for_origin()
    integer :: unchanged
    double precision :: time, before
    unchanged = 0
    before = now()
    do while (unchanged < 10000)
      time = now()
      if (time >= origin) return
      unchanged = merge(unchanged + 1, 0, time <= before)
      before = time
    end do
    origin = origin - together
  end subroutine wait_for_origin

  ! Seconds on the clock of processor 0, or on the one clock that all have.
  double precision function now()
    integer(long) :: count
    if (one_clock) then
      now = MPI_Wtime()
      return
    end if
    call system_clock(count)
    now = dble(count - base) / dble(rate) - offset
  end function now

  ! How far the clock of each processor is ahead of that of processor 0: messages go to and fro, and the quickest tells,
  ! to half of the time that it took (Cristian, 1989). A difference that small may be none: processors of one node share
  ! their clock.
  subroutine agree()
    integer, parameter :: rounds = 24
    integer :: rank, round, error
    integer(MPI_ADDRESS_KIND) :: global
    logical :: known
    double precision :: went, there, back, least, ahead
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, global, known, error)
    one_clock = known .and. global /= 0
    if (one_clock) return
    call system_clock(base, rate)
    call MPI_Bcast(base, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, error)
    offset = 0.0d0
    ahead = 0.0d0
    do rank = 1, procs - 1
      least = huge(least)
      do round = 1, rounds
        if (me == 0) then
          went = now()
          call MPI_Send(went, 1, MPI_DOUBLE_PRECISION, rank, tag, MPI_COMM_WORLD, error)
          call MPI_Recv(there, 1, MPI_DOUBLE_PRECISION, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
          back = now()
          if (back - went < least) then
            least = back - went
            ahead = there - 0.5d0 * (went + back)
          end if
        else if (me == rank) then
          call MPI_Recv(went, 1, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
          there = now()
          call MPI_Send(there, 1, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, error)
        end if
      end do
      if (me == 0) then
        if (abs(ahead) <= 0.5d0 * least) ahead = 0.0d0
        call MPI_Send(ahead, 1, MPI_DOUBLE_PRECISION, rank, tag, MPI_COMM_WORLD, error)
      else if (me == rank) then
        call MPI_Recv(offset, 1, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      end if
    end do
  end subroutine agree

  ! Time belongs to this AAU from now on.
  subroutine esp_trace_at(aau, kind)
    integer, intent(in) :: aau, kind
    if (.not. active) return
    if (aau == aau_now .and. kind == kind_now) return
    call esp_trace_cut()
    aau_now = aau
    kind_now = kind
  end subroutine esp_trace_at

  ! What was going on ends here.
  subroutine esp_trace_cut()
    double precision :: time
    if (.not. active) return
    time = now() - origin
    if (time > mark) call note(kind_now, time, -1, 0_long)
    mark = max(mark, time)
  end subroutine esp_trace_cut

  ! Since the last cut this processor sent a message, or waited for one and received it.
  subroutine esp_trace_send(to, bytes)
    integer, intent(in) :: to, bytes
    call message(sends, to, bytes)
  end subroutine esp_trace_send

  subroutine esp_trace_receive(from, bytes)
    integer, intent(in) :: from, bytes
    call message(receives, from, bytes)
  end subroutine esp_trace_receive

  subroutine message(kind, partner, bytes)
    integer, intent(in) :: kind, partner, bytes
    double precision :: time
    if (.not. active) return
    time = max(mark, now() - origin)
    call note(kind, time, partner, int(bytes, long))
    mark = time
  end subroutine message

  subroutine note(kind, time, partner, bytes)
    integer, intent(in) :: kind, partner
    double precision, intent(in) :: time
    integer(long), intent(in) :: bytes
    integer :: n
    if (full) return
    n = own%count
    if (n == most) then
      full = .true.
      return
    end if
    if (n == size(own%aau)) call room(own, min(most, 2 * n))
    n = n + 1
    own%count = n
    own%begin(n) = mark
    own%duration(n) = time - mark
    own%aau(n) = aau_now
    own%kind(n) = kind
    own%partner(n) = partner
    own%bytes(n) = bytes
  end subroutine note

  ! Room for `wanted` pieces; what is there stays.
  subroutine room(some, wanted)
    type(pieces), intent(inout) :: some
    integer, intent(in) :: wanted
    type(pieces) :: larger
    integer :: n
    n = some%count
    allocate(larger%begin(wanted), larger%duration(wanted), larger%aau(wanted), larger%kind(wanted))
    allocate(larger%partner(wanted), larger%bytes(wanted))
    if (n > 0) then
      larger%begin(:n) = some%begin(:n)
      larger%duration(:n) = some%duration(:n)
      larger%aau(:n) = some%aau(:n)
      larger%kind(:n) = some%kind(:n)
      larger%partner(:n) = some%partner(:n)
      larger%bytes(:n) = some%bytes(:n)
    end if
    call move_alloc(larger%begin, some%begin)
    call move_alloc(larger%duration, some%duration)
    call move_alloc(larger%aau, some%aau)
    call move_alloc(larger%kind, some%kind)
    call move_alloc(larger%partner, some%partner)
    call move_alloc(larger%bytes, some%bytes)
  end subroutine room

  ! Processor 0 writes the pieces of all, one processor after the other, and gives the file its name when it is whole.
  subroutine esp_trace_finish()
    integer :: error, rank, status
    integer(long) :: total, mine
    logical :: any_full
    type(pieces) :: theirs
    if (.not. active) return
    call esp_trace_cut()
    active = .false.
    call MPI_Allreduce(full, any_full, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
    if (any_full) then
      if (me == 0) write (0, '(a,i0,a)') 'esp run-time library: a processor has more than ', most, &
        ' events, so that no trace is written; ESP_TRACE_EVENTS=N allows N on all processors together'
      return
    end if
    mine = own%count
    call MPI_Reduce(mine, total, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (me /= 0) then
      call MPI_Send(own%count, 1, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, error)
      call MPI_Send(own%begin, own%count, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, error)
      call MPI_Send(own%duration, own%count, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, error)
      call MPI_Send(own%aau, own%count, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, error)
      call MPI_Send(own%kind, own%count, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, error)
      call MPI_Send(own%partner, own%count, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, error)
      call MPI_Send(own%bytes, own%count, MPI_INTEGER8, 0, tag, MPI_COMM_WORLD, error)
      return
    end if
    open(unit=98, file=trim(file) // '.part', status='replace', action='write', iostat=status)
    if (status == 0) write (98, '(a)', advance='no', iostat=status) head
    call written(own, 0, status)
    do rank = 1, procs - 1
      call MPI_Recv(theirs%count, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      mine = theirs%count
      theirs%count = 0
      call room(theirs, max(1, int(mine)))
      theirs%count = int(mine)
      call MPI_Recv(theirs%begin, theirs%count, MPI_DOUBLE_PRECISION, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Recv(theirs%duration, theirs%count, MPI_DOUBLE_PRECISION, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Recv(theirs%aau, theirs%count, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Recv(theirs%kind, theirs%count, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Recv(theirs%partner, theirs%count, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Recv(theirs%bytes, theirs%count, MPI_INTEGER8, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call written(theirs, rank, status)
    end do
    if (status == 0) write (98, '(a,i0)', iostat=status) 'end ', total
    if (status == 0) close(98, iostat=status)
    if (status == 0) status = c_rename(trim(file) // '.part' // c_null_char, trim(file) // c_null_char)
    if (status /= 0) write (0, '(3a)') 'esp run-time library: the trace ', trim(file), ' could not be written'
  end subroutine esp_trace_finish

  subroutine written(some, rank, status)
    type(pieces), intent(in) :: some
    integer, intent(in) :: rank
    integer, intent(inout) :: status
    character(len=12) :: partner
    integer :: i
    do i = 1, some%count
      if (status /= 0) return
      partner = '-'
      if (some%partner(i) >= 0) write (partner, '(i0)') some%partner(i)
      write (98, '(i0,1x,es23.16e3,1x,es23.16e3,1x,i0,2(1x,a),1x,i0)', iostat=status) rank, some%begin(i), &
        some%duration(i), some%aau(i), trim(words(some%kind(i))), trim(partner), some%bytes(i)
    end do
  end subroutine written

end module esp_trace
