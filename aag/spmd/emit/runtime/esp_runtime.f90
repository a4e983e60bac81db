! Run-time library of the node programs that esp writes: who owns what, what has to be sent, and the messages.
!
! Everything is built from point-to-point messages of bytes. Receives are posted first and nothing relies
! on buffering. Ranks count from 0 and are column-major in the grid of processors.
module esp_runtime
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_positive_inf
  use mpi
  use esp_stages
  use esp_simulation !simulated
  use esp_trace !trace
  use esp_native !native
  implicit none
  private
  public :: esp_map, esp_plan, esp_turns, esp_me, esp_procs
  public :: esp_start, esp_finish, esp_line, esp_grid, esp_spread, esp_blocks, esp_fixed, esp_bounds, esp_store, esp_range
  public :: esp_pack, esp_mine, esp_here, esp_owns, esp_owner, esp_stored, esp_code, esp_place, esp_owned, esp_first
  public :: esp_within, esp_infinity_r4, esp_infinity_r8
  public :: esp_circular, esp_claim
  public :: esp_known, esp_begin, esp_need, esp_need_all, esp_held, esp_held_all, esp_stale, esp_drop, esp_end
  public :: esp_messages, esp_collect, esp_share, esp_group, esp_members, esp_send, esp_receive, esp_swap
  public :: esp_turns_begin, esp_arrives, esp_written, esp_stop
  public :: esp_reduction, esp_box, esp_nodes, esp_stage_list, esp_exchange, esp_partners

  integer, parameter, public :: esp_call = 0  ! assigned where the source calls a procedure
  integer, parameter, public :: esp_long = selected_int_kind(18), esp_byte = selected_int_kind(2)
  integer, parameter, public :: esp_no_collective = 0, esp_broadcast = 1, esp_concatenation = 2, esp_gather = 3, esp_scatter = 4
  ! In which order messages of an operation go out: by their directions, by directions around the grid, or as a complete
  ! exchange.
  integer, parameter, public :: esp_by_direction = 0, esp_around = 1, esp_to_all = 2
  integer(esp_long), parameter :: references = 64
  integer, parameter :: most_references = 63, most_axes = 7, replicated = 0, spread = 1, fixed = 2

  ! Infinity, which MINVAL and MIN begin with: a call that returns it would throw data out of the cache.
  real, protected :: esp_infinity_r4
  double precision, protected :: esp_infinity_r8

  ! One axis of the grid as an array uses it: cell = stride * index + offset; owner = (cell - lower) / block mod extent.
  type esp_axis
    integer :: role = replicated, dim = 0, stride = 1, offset = 0, lower = 1, block = 1, coordinate = 0
  end type esp_axis

  ! Where own indices of a dimension lie in storage, if they are no interval; 0 for all others.
  type esp_table
    integer, pointer :: at(:) => null()
  end type esp_table

  ! The mapping of an array, and the part of it that this processor stores.
  type esp_map
    integer :: axes = 0, rank = 0
    integer :: extent(most_axes) = 1, stride(most_axes) = 1, here(most_axes) = 0
    type(esp_axis) :: axis(most_axes)
    integer :: lower(most_axes) = 1, upper(most_axes) = 0
    integer :: first(most_axes) = 1, last(most_axes) = 0
    type(esp_table) :: table(most_axes)
    ! GEN_BLOCK: the first cell of each coordinate of an axis, from 0, and behind them that of nobody.
    type(esp_table) :: begin(most_axes)
  end type esp_map

  ! A growing list of numbers.
  type esp_list
    integer :: count = 0
    integer(esp_long), allocatable :: item(:)
  end type esp_list

  ! What one communication moves: messages to and from others, then a collective in my group.
  type esp_plan
    logical :: ready = .false.
    integer :: order = esp_around
    ! Of circular shifts: where data move to along each axis, for each reference, and the reference that is claimed for.
    integer :: circular(most_axes, most_references) = 0, claim = 0
    integer, allocatable :: key(:)
    integer :: line = 0, collective = esp_no_collective
    ! What arrives goes to a buffer with the bounds first and last, where also own elements are copied that are read.
    logical :: buffered = .false.
    integer :: first(most_axes) = 1, last(most_axes) = 0
    integer, allocatable :: own_place(:), own_to(:)
    logical :: special(most_axes) = .false.
    type(esp_map) :: map
    type(esp_list) :: wanted, had, spoiled, want
    integer :: sends = 0, receives = 0
    integer, allocatable :: to(:), from(:)
    integer(esp_long), allocatable :: to_key(:), from_key(:)
    integer, allocatable :: to_first(:), from_first(:)
    integer, allocatable :: to_place(:), from_place(:)
    ! Of my group: how many processors, my place among them and that of the one with the lowest rank.
    integer :: columns = 0, column = 0, root = 0
    integer, allocatable :: members(:), slot(:), slot_place(:)
    ! Where I have what I contribute to a collective, and all that I own. !simulated
    integer, allocatable :: mine_place(:), owned(:) !simulated
    logical :: brought = .false. !simulated
    ! Where what I get would be if all that is no overlap area, input or output went to a buffer. !simulated
    integer, allocatable :: from_seen(:), slot_seen(:) !simulated
  end type esp_plan

  ! Which elements crossed, and when they were written, in a sequential loop whose owners take turns.
  type esp_turns
    integer, allocatable :: received(:, :), written(:)
  end type esp_turns

  integer :: esp_me = 0, esp_procs = 1
  integer :: line_now = 0
  double precision :: began = 0.0d0
  integer(esp_long), allocatable :: sent_messages(:), sent_bytes(:)
  character(len=24) :: how_broadcast = 'binomial', how_concatenation = 'recursive_doubling'
  character(len=24) :: how_gather = 'binomial', how_scatter = 'binomial', how_transpose = '', how_exchange = 'sequential'
  character(len=24) :: esp_reduction = 'recursive_doubling'

contains

  ! --- start and end -------------------------------------------------------------------------------------------

  subroutine esp_start(wanted, lines, algorithms)
    integer, intent(in) :: wanted, lines
    character(len=*), intent(in) :: algorithms(7)
    integer :: error
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, esp_me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, esp_procs, error)
    if (esp_procs /= wanted) call esp_stop('this program was compiled for another number of processors')
    allocate(sent_messages(0:lines), sent_bytes(0:lines))
    sent_messages = 0
    sent_bytes = 0
    esp_infinity_r4 = ieee_value(esp_infinity_r4, ieee_positive_inf)
    esp_infinity_r8 = ieee_value(esp_infinity_r8, ieee_positive_inf)
    how_broadcast = algorithms(1)
    esp_reduction = algorithms(2)
    how_concatenation = algorithms(3)
    how_gather = algorithms(4)
    how_scatter = algorithms(5)
    how_transpose = algorithms(6)
    how_exchange = algorithms(7)
    call esp_clock_start()
    call esp_simulation_begin(esp_me) !simulated
  end subroutine esp_start

  ! ESP_SECONDS=file: the time of the program is added to it, from when all have started to the end of the last.
  subroutine esp_clock_start()
    integer :: error, status
    call get_environment_variable('ESP_SECONDS', status=status)
    if (status /= 0) return
    call MPI_Barrier(MPI_COMM_WORLD, error)
    began = MPI_Wtime()
  end subroutine esp_clock_start

  subroutine esp_clock_finish()
    character(len=1024) :: file
    double precision :: own, longest
    integer :: error, status
    call get_environment_variable('ESP_SECONDS', file, status=status)
    if (status /= 0) return
    own = MPI_Wtime() - began
    call MPI_Reduce(own, longest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
    if (esp_me /= 0) return
    open(unit=99, file=trim(file), status='unknown', position='append', action='write')
    write (99, '(es22.15)') longest
    close(99)
  end subroutine esp_clock_finish

  ! ESP_COUNTERS=file: one line "rank source-line messages bytes" for each line that sent something.
  subroutine esp_finish()
    character(len=1024) :: file
    integer :: status, error, rank, line, lines
    integer(esp_long), allocatable :: messages(:, :), bytes(:, :)
    call esp_clock_finish()
    call esp_simulation_end(esp_me) !simulated
    call esp_trace_finish() !trace
    call get_environment_variable('ESP_COUNTERS', file, status=status)
    lines = size(sent_messages)
    if (status == 0) then
      allocate(messages(lines, 0:esp_procs - 1), bytes(lines, 0:esp_procs - 1))
      call MPI_Gather(sent_messages, lines, MPI_INTEGER8, messages, lines, MPI_INTEGER8, 0, MPI_COMM_WORLD, error)
      call MPI_Gather(sent_bytes, lines, MPI_INTEGER8, bytes, lines, MPI_INTEGER8, 0, MPI_COMM_WORLD, error)
      if (esp_me == 0) then
        open(unit=99, file=trim(file), status='replace', action='write')
        do rank = 0, esp_procs - 1
          do line = 1, lines
            if (messages(line, rank) > 0) write (99, '(4(i0,1x))') rank, line - 1, messages(line, rank), bytes(line, rank)
          end do
        end do
        close(99)
      end if
    end if
    deallocate(sent_messages, sent_bytes)
    call esp_forget()
    call MPI_Finalize(error)
  end subroutine esp_finish

  subroutine esp_stop(message)
    character(len=*), intent(in) :: message
    integer :: error
    write (0, '(a,i0,2a)') 'esp run-time library, processor ', esp_me, ': ', message
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine esp_stop

  ! Messages from now on belong to this source line.
  subroutine esp_line(line)
    integer, intent(in) :: line
    line_now = line
  end subroutine esp_line

  ! --- mappings ------------------------------------------------------------------------------------------------

  subroutine esp_grid(map, shape)
    type(esp_map), intent(out) :: map
    integer, intent(in) :: shape(:)
    integer :: axis, left
    map%axes = size(shape)
    left = esp_me
    do axis = 1, map%axes
      map%extent(axis) = shape(axis)
      map%stride(axis) = product(shape(:axis - 1))
      map%here(axis) = mod(left, shape(axis))
      left = left / shape(axis)
    end do
  end subroutine esp_grid

  subroutine esp_bounds(map, lower, upper)
    type(esp_map), intent(inout) :: map
    integer, intent(in) :: lower(:), upper(:)
    map%rank = size(lower)
    map%lower(:map%rank) = lower
    map%upper(:map%rank) = upper
    map%first = map%lower
    map%last = map%upper
  end subroutine esp_bounds

  subroutine esp_spread(map, axis, dim, stride, offset, lower, block)
    type(esp_map), intent(inout) :: map
    integer, intent(in) :: axis, dim, stride, offset, lower, block
    map%axis(axis) = esp_axis(spread, dim, stride, offset, lower, block, 0)
  end subroutine esp_spread

  ! The sizes of the blocks of some coordinates from `first` on, in order, for GEN_BLOCK.
  subroutine esp_blocks(map, axis, first, sizes)
    type(esp_map), intent(inout) :: map
    integer, intent(in) :: axis, first, sizes(:)
    integer :: each
    if (first == 0) then
      allocate(map%begin(axis)%at(0:map%extent(axis)))
      map%begin(axis)%at(0) = 0
    end if
    do each = 1, size(sizes)
      map%begin(axis)%at(first + each) = map%begin(axis)%at(first + each - 1) + sizes(each)
    end do
  end subroutine esp_blocks

  subroutine esp_fixed(map, axis, coordinate)
    type(esp_map), intent(inout) :: map
    integer, intent(in) :: axis, coordinate
    map%axis(axis)%role = fixed
    map%axis(axis)%coordinate = coordinate
  end subroutine esp_fixed

  ! The indices of a dimension that I own, for a BLOCK distribution.
  subroutine esp_range(map, axis, first, last)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: axis
    integer, intent(out) :: first, last
    integer :: low, high, dim
    associate (its => map%axis(axis))
      dim = its%dim
      if (associated(map%begin(axis)%at)) then
        low = its%lower + map%begin(axis)%at(map%here(axis)) - its%offset
        high = its%lower + map%begin(axis)%at(map%here(axis) + 1) - 1 - its%offset
      else
        low = its%lower + map%here(axis) * its%block - its%offset
        high = low + its%block - 1
      end if
      if (its%stride < 0) then
        first = -floor_of(-high, its%stride)
        last = floor_of(low, its%stride)
      else
        first = -floor_of(-low, its%stride)
        last = floor_of(high, its%stride)
      end if
    end associate
    first = max(first, map%lower(dim))
    last = min(last, map%upper(dim))
    if (last < first) then
      first = min(max(first, map%lower(dim)), map%upper(dim) + 1)
      last = first - 1
    end if
  end subroutine esp_range

  integer function floor_of(a, b)
    integer, intent(in) :: a, b
    floor_of = (a - modulo(a, b)) / b
  end function floor_of

  ! What I store of a BLOCK dimension: my own part and an overlap area below and above it.
  subroutine esp_store(map, axis, below, above)
    type(esp_map), intent(inout) :: map
    integer, intent(in) :: axis, below, above
    integer :: first, last, dim
    call esp_range(map, axis, first, last)
    dim = map%axis(axis)%dim
    if (last >= first) then
      first = max(map%lower(dim), first - below)
      last = min(map%upper(dim), last + above)
    end if
    map%first(dim) = first
    map%last(dim) = last
  end subroutine esp_store

  ! Of a dimension whose own indices are no interval only these are stored, one after the other.
  subroutine esp_pack(map, axis, at)
    type(esp_map), intent(inout) :: map
    integer, intent(in) :: axis
    integer, pointer :: at(:)
    integer :: dim, index, found
    dim = map%axis(axis)%dim
    allocate(at(map%lower(dim):map%upper(dim)))
    found = 0
    at = 0
    do index = map%lower(dim), map%upper(dim)
      if (.not. esp_mine(map, axis, index)) cycle
      found = found + 1
      at(index) = found
    end do
    map%table(dim)%at => at
    map%first(dim) = 1
    map%last(dim) = found
  end subroutine esp_pack

  integer function coordinate_of(map, axis, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: axis, index
    associate (its => map%axis(axis))
      if (associated(map%begin(axis)%at)) then
        coordinate_of = block_of(map%begin(axis)%at, its%stride * index + its%offset - its%lower, map%extent(axis))
      else
        coordinate_of = modulo(floor_of(its%stride * index + its%offset - its%lower, its%block), map%extent(axis))
      end if
    end associate
  end function coordinate_of

  ! The last of some blocks, of which some may be empty, that begins at a cell or before it.
  integer function block_of(begin, cell, blocks)
    integer, intent(in) :: begin(0:), cell, blocks
    integer :: high, middle
    block_of = 0
    high = blocks - 1
    do while (block_of < high)
      middle = (block_of + high + 1) / 2
      if (begin(middle) <= cell) then
        block_of = middle
      else
        high = middle - 1
      end if
    end do
  end function block_of

  ! Whether this processor lies where an index of the dimension on `axis` lives.
  logical function esp_mine(map, axis, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: axis, index
    esp_mine = coordinate_of(map, axis, index) == map%here(axis)
  end function esp_mine

  ! Whether this processor lies at the coordinate of a fixed axis.
  logical function esp_here(map, axis)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: axis
    esp_here = map%axis(axis)%coordinate == map%here(axis)
  end function esp_here

  logical function esp_owns(map, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    integer :: axis
    esp_owns = .true.
    do axis = 1, map%axes
      select case (map%axis(axis)%role)
      case (spread)
        esp_owns = esp_owns .and. esp_mine(map, axis, index(map%axis(axis)%dim))
      case (fixed)
        esp_owns = esp_owns .and. esp_here(map, axis)
      end select
    end do
  end function esp_owns

  ! The lowest rank that holds an element.
  integer function esp_owner(map, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    integer :: axis
    esp_owner = 0
    do axis = 1, map%axes
      select case (map%axis(axis)%role)
      case (spread)
        esp_owner = esp_owner + map%stride(axis) * coordinate_of(map, axis, index(map%axis(axis)%dim))
      case (fixed)
        esp_owner = esp_owner + map%stride(axis) * map%axis(axis)%coordinate
      end select
    end do
  end function esp_owner

  logical function esp_stored(map, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    integer :: dim
    esp_stored = inside(map, index)
    if (.not. esp_stored) return
    do dim = 1, map%rank
      if (associated(map%table(dim)%at)) then
        esp_stored = esp_stored .and. map%table(dim)%at(index(dim)) > 0
      else
        esp_stored = esp_stored .and. index(dim) >= map%first(dim) .and. index(dim) <= map%last(dim)
      end if
    end do
  end function esp_stored

  logical function inside(map, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    inside = all(index >= map%lower(:map%rank) .and. index <= map%upper(:map%rank))
  end function inside

  ! The number of an element in the whole array, from 0.
  integer(esp_long) function esp_code(map, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    integer :: dim
    esp_code = 0
    do dim = map%rank, 1, -1
      esp_code = esp_code * (map%upper(dim) - map%lower(dim) + 1) + (index(dim) - map%lower(dim))
    end do
  end function esp_code

  subroutine index_of(map, code, index)
    type(esp_map), intent(in) :: map
    integer(esp_long), intent(in) :: code
    integer, intent(out) :: index(:)
    integer(esp_long) :: left
    integer :: dim, extent
    left = code
    do dim = 1, map%rank
      extent = map%upper(dim) - map%lower(dim) + 1
      index(dim) = map%lower(dim) + int(mod(left, int(extent, esp_long)))
      left = left / extent
    end do
  end subroutine index_of

  integer(esp_long) function elements(map)
    type(esp_map), intent(in) :: map
    integer :: dim
    elements = 1
    do dim = 1, map%rank
      elements = elements * max(0, map%upper(dim) - map%lower(dim) + 1)
    end do
  end function elements

  ! The position of an element in my storage, from 1; 0 where I do not store it.
  integer function esp_place(map, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    integer :: dim, at
    esp_place = 0
    if (.not. esp_stored(map, index)) return
    do dim = map%rank, 1, -1
      at = index(dim)
      if (associated(map%table(dim)%at)) at = map%table(dim)%at(at)
      esp_place = esp_place * (map%last(dim) - map%first(dim) + 1) + (at - map%first(dim))
    end do
    esp_place = esp_place + 1
  end function esp_place

  ! The position of an element in the buffer of a plan, from 1.
  integer function place_in_buffer(plan, index)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: index(:)
    integer :: dim
    place_in_buffer = 0
    do dim = plan%map%rank, 1, -1
      place_in_buffer = place_in_buffer * (plan%last(dim) - plan%first(dim) + 1) + (index(dim) - plan%first(dim))
    end do
    place_in_buffer = place_in_buffer + 1
  end function place_in_buffer

  ! Positions of the elements that I own.
  subroutine esp_owned(map, place, count)
    type(esp_map), intent(in) :: map
    integer, allocatable, intent(out) :: place(:)
    integer, intent(out) :: count
    integer :: index(most_axes)
    integer(esp_long) :: code
    allocate(place(elements(map)))
    count = 0
    do code = 0, elements(map) - 1
      call index_of(map, code, index)
      if (.not. esp_owns(map, index(:map%rank))) cycle
      count = count + 1
      place(count) = esp_place(map, index(:map%rank))
    end do
  end subroutine esp_owned

  ! The first of lower, lower + step, ... that is at least `least`.
  integer function esp_first(lower, step, least)
    integer, intent(in) :: lower, step, least
    esp_first = lower
    if (least > lower) esp_first = lower + (least - lower + step - 1) / step * step
  end function esp_first

  ! What EOSHIFT reads: an index, or one outside all arrays where it is not within the bounds.
  integer function esp_within(index, lower, upper)
    integer, intent(in) :: index, lower, upper
    esp_within = merge(index, -2**26, index >= lower .and. index <= upper)
  end function esp_within

  ! --- plans: who needs what (the inspector) -------------------------------------------------------------------

  subroutine push(list, item)
    type(esp_list), intent(inout) :: list
    integer(esp_long), intent(in) :: item
    integer(esp_long), allocatable :: more(:)
    if (.not. allocated(list%item)) allocate(list%item(256))
    if (list%count > 0) then
      if (list%item(list%count) == item) return
    end if
    if (list%count == size(list%item)) then
      allocate(more(2 * list%count))
      more(:list%count) = list%item
      call move_alloc(more, list%item)
    end if
    list%count = list%count + 1
    list%item(list%count) = item
  end subroutine push

  ! Ascending, each item once.
  subroutine order(list)
    type(esp_list), intent(inout) :: list
    integer(esp_long), allocatable :: other(:)
    integer :: width, low, middle, high, i, j, k, n
    logical :: sorted
    n = list%count
    if (n < 2) return
    sorted = .true.
    do i = 2, n
      if (list%item(i) < list%item(i - 1)) then
        sorted = .false.
        exit
      end if
    end do
    if (.not. sorted) then
      allocate(other(n))
      width = 1
      do while (width < n)
        low = 1
        do while (low <= n)
          middle = min(low + width, n + 1)
          high = min(low + 2 * width, n + 1)
          i = low
          j = middle
          do k = low, high - 1
            if (i < middle) then
              if (j >= high) then
                other(k) = list%item(i)
                i = i + 1
                cycle
              else if (list%item(i) <= list%item(j)) then
                other(k) = list%item(i)
                i = i + 1
                cycle
              end if
            end if
            other(k) = list%item(j)
            j = j + 1
          end do
          low = high
        end do
        list%item(:n) = other
        width = 2 * width
      end do
    end if
    k = 1
    do i = 2, n
      if (list%item(i) /= list%item(k)) then
        k = k + 1
        list%item(k) = list%item(i)
      end if
    end do
    list%count = k
  end subroutine order

  logical function among(list, item)
    type(esp_list), intent(in) :: list
    integer(esp_long), intent(in) :: item
    integer :: low, high, middle
    low = 1
    high = list%count
    do while (low < high)
      middle = (low + high) / 2
      if (list%item(middle) < item) then
        low = middle + 1
      else
        high = middle
      end if
    end do
    among = .false.
    if (list%count > 0) among = list%item(low) == item
  end function among

  ! Whether the plan was made for the same values of the scalars that it depends on; else it is made anew.
  logical function esp_known(plan, key)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: key(:)
    esp_known = .false.
    if (plan%ready) esp_known = all(plan%key == key)
    plan%key = key
  end function esp_known

  subroutine esp_begin(plan, map, line, collective, special, sequence, buffered)
    type(esp_plan), intent(inout) :: plan
    type(esp_map), intent(in) :: map
    integer, intent(in) :: line, collective, sequence
    logical, intent(in) :: special(:), buffered
    plan%map = map
    plan%buffered = buffered
    plan%line = line
    plan%collective = collective
    plan%special = .false.
    plan%special(:size(special)) = special
    plan%order = sequence
    plan%circular = 0
    plan%claim = 0
    plan%wanted%count = 0
    plan%had%count = 0
    plan%spoiled%count = 0
  end subroutine esp_begin

  ! A reference is a circular shift: along an axis data move to higher (1) or lower (-1) coordinates, or stay (0).
  subroutine esp_circular(plan, reference, signs)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: reference, signs(:)
    plan%circular(:size(signs), reference) = signs
  end subroutine esp_circular

  ! What is needed from now on is needed by this reference.
  subroutine esp_claim(plan, reference)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: reference
    plan%claim = reference
  end subroutine esp_claim

  ! An iteration that runs where `home_index` lives reads the element `index`.
  subroutine esp_need(plan, index, home, home_index)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: index(:), home_index(:)
    type(esp_map), intent(in) :: home
    call claim(plan, plan%wanted, index, home, home_index)
  end subroutine esp_need

  ! Every processor reads the element `index`.
  subroutine esp_need_all(plan, index)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: index(:)
    call claim(plan, plan%wanted, index)
  end subroutine esp_need_all

  subroutine esp_held(plan, index, home, home_index)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: index(:), home_index(:)
    type(esp_map), intent(in) :: home
    plan%claim = 0
    call claim(plan, plan%had, index, home, home_index)
  end subroutine esp_held

  subroutine esp_held_all(plan, index)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: index(:)
    plan%claim = 0
    call claim(plan, plan%had, index)
  end subroutine esp_held_all

  ! The element was written since: copies of it are stale.
  subroutine esp_stale(plan, index)
    type(esp_plan), intent(inout) :: plan
    integer, intent(in) :: index(:)
    if (inside(plan%map, index)) call push(plan%spoiled, esp_code(plan%map, index))
  end subroutine esp_stale

  subroutine claim(plan, list, index, home, home_index)
    type(esp_plan), intent(in) :: plan
    type(esp_list), intent(inout) :: list
    integer, intent(in) :: index(:)
    type(esp_map), intent(in), optional :: home
    integer, intent(in), optional :: home_index(:)
    integer :: at(most_axes), axis, rank
    logical :: every(most_axes)
    if (.not. inside(plan%map, index)) return
    every = .false.
    at = 0
    if (present(home)) then
      if (home%axes /= plan%map%axes .or. any(home%extent /= plan%map%extent)) then
        do rank = 0, esp_procs - 1
          if (.not. lives(home, home_index, rank)) cycle
          do axis = 1, plan%map%axes
            at(axis) = mod(rank / plan%map%stride(axis), plan%map%extent(axis))
          end do
          call arrive(plan, list, index, at)
        end do
        return
      end if
    end if
    do axis = 1, plan%map%axes
      every(axis) = to_replicas(plan, axis)
      if (plan%special(axis)) cycle
      every(axis) = .not. present(home)
      if (present(home)) then
        select case (home%axis(axis)%role)
        case (spread)
          if (outside(home, axis, home_index)) return
          at(axis) = coordinate_of(home, axis, home_index(home%axis(axis)%dim))
        case (fixed)
          at(axis) = home%axis(axis)%coordinate
        case default
          every(axis) = .true.
        end select
      end if
    end do
    do
      call arrive(plan, list, index, at)
      do axis = 1, plan%map%axes
        if (.not. every(axis)) cycle
        at(axis) = at(axis) + 1
        if (at(axis) < plan%map%extent(axis)) exit
        at(axis) = 0
      end do
      if (axis > plan%map%axes) exit
    end do
  end subroutine claim

  ! Whether all coordinates of an axis get what is scattered.
  logical function to_replicas(plan, axis)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: axis
    to_replicas = plan%collective == esp_scatter .and. plan%map%axis(axis)%role == replicated
  end function to_replicas

  ! Whether an element is not in its array, by the subscript that decides its coordinate on an axis: a mask keeps an
  ! iteration with such a home from running.
  logical function outside(map, axis, index)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: axis, index(:)
    integer :: dim
    dim = map%axis(axis)%dim
    outside = index(dim) < map%lower(dim) .or. index(dim) > map%upper(dim)
  end function outside

  logical function lives(map, index, rank)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:), rank
    integer :: axis, coordinate
    lives = .true.
    do axis = 1, map%axes
      coordinate = mod(rank / map%stride(axis), map%extent(axis))
      select case (map%axis(axis)%role)
      case (spread)
        lives = lives .and. .not. outside(map, axis, index)
        lives = lives .and. coordinate == coordinate_of(map, axis, index(map%axis(axis)%dim))
      case (fixed)
        lives = lives .and. coordinate == map%axis(axis)%coordinate
      end select
    end do
  end function lives

  ! The source of an element for the processor at coordinates `at`, which become those of the destination: along the
  ! axes of the collective the data stay where they are.
  subroutine ends_of(plan, index, at, source, destination)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: index(:), at(most_axes)
    integer, intent(out) :: source, destination
    integer :: axis, from, to
    source = 0
    destination = 0
    do axis = 1, plan%map%axes
      to = at(axis)
      select case (plan%map%axis(axis)%role)
      case (spread)
        from = coordinate_of(plan%map, axis, index(plan%map%axis(axis)%dim))
      case (fixed)
        from = plan%map%axis(axis)%coordinate
      case default
        from = to
        if (plan%special(axis) .and. .not. to_replicas(plan, axis)) from = 0
      end select
      if (plan%special(axis)) to = from
      source = source + from * plan%map%stride(axis)
      destination = destination + to * plan%map%stride(axis)
    end do
  end subroutine ends_of

  subroutine arrive(plan, list, index, at)
    type(esp_plan), intent(in) :: plan
    type(esp_list), intent(inout) :: list
    integer, intent(in) :: index(:), at(most_axes)
    integer :: source, destination
    call ends_of(plan, index, at, source, destination)
    if (source /= destination .and. (source == esp_me .or. destination == esp_me) .or. in_group(plan, destination) &
        .or. (plan%buffered .and. destination == esp_me)) &
      call push(list, (destination * elements(plan%map) + esp_code(plan%map, index)) * references + plan%claim)
    ! What I need and own is in the box that a buffer would have. !simulated
    if (source == esp_me .and. destination == esp_me .and. .not. (plan%buffered .or. in_group(plan, destination))) & !simulated
      call push(list, (destination * elements(plan%map) + esp_code(plan%map, index)) * references + plan%claim) !simulated
  end subroutine arrive

  logical function in_group(plan, rank)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: rank
    integer :: axis
    in_group = plan%collective /= esp_no_collective
    do axis = 1, plan%map%axes
      if (plan%special(axis)) cycle
      in_group = in_group .and. mod(rank / plan%map%stride(axis), plan%map%extent(axis)) == plan%map%here(axis)
    end do
  end function in_group

  ! What is held and not stale need not come again.
  subroutine esp_drop(plan)
    type(esp_plan), intent(inout) :: plan
    type(esp_list) :: left
    integer :: i
    integer(esp_long) :: size_of
    size_of = elements(plan%map)
    call order(plan%wanted)
    call order(plan%had)
    call order(plan%spoiled)
    do i = 1, plan%wanted%count
      if (among(plan%had, plan%wanted%item(i) / references * references)) then
        if (.not. among(plan%spoiled, mod(plan%wanted%item(i) / references, size_of))) cycle
      end if
      call push(left, plan%wanted%item(i))
    end do
    plan%wanted = left
    plan%had%count = 0
    plan%spoiled%count = 0
  end subroutine esp_drop

  ! Sort what is wanted into messages, and into what each member of my group has for the collective.
  subroutine esp_end(plan)
    type(esp_plan), intent(inout) :: plan
    integer :: i, k, n, source, destination, index(most_axes), at(most_axes), axis, column
    integer(esp_long) :: code, size_of
    integer, allocatable :: from(:), to(:), place(:), columns(:), arrival(:), reference(:)
    integer, allocatable :: seen(:), others(:), firsts(:) !simulated
    integer(esp_long), allocatable :: keys(:) !simulated
    call order(plan%wanted)
    call once(plan%wanted)
    n = plan%wanted%count
    size_of = elements(plan%map)
    index = 0
    allocate(from(n), to(n), place(n), columns(n), arrival(n), reference(n))
    plan%first = huge(0)
    plan%last = -huge(0)
    call esp_group(plan%map, plan%special, plan%members, plan%column)
    plan%columns = size(plan%members)
    plan%root = minloc(plan%members, 1) - 1
    do i = 1, n
      reference(i) = int(mod(plan%wanted%item(i), references))
      destination = int(plan%wanted%item(i) / references / size_of)
      code = mod(plan%wanted%item(i) / references, size_of)
      call index_of(plan%map, code, index)
      do axis = 1, plan%map%axes
        at(axis) = mod(destination / plan%map%stride(axis), plan%map%extent(axis))
      end do
      call ends_of(plan, index(:plan%map%rank), at, source, destination)
      from(i) = source
      to(i) = destination
      place(i) = esp_place(plan%map, index(:plan%map%rank))
      columns(i) = -1
      if (in_group(plan, destination)) columns(i) = column_of(plan, destination)
      if (to(i) == esp_me .or. columns(i) >= 0) then
        plan%first = min(plan%first, index)
        plan%last = max(plan%last, index)
      end if
      if (place(i) == 0 .and. from(i) /= to(i) .and. &
          (from(i) == esp_me .or. (to(i) == esp_me .and. .not. plan%buffered))) &
        call esp_stop('an element of a message lies outside the storage')
    end do
    if (plan%first(1) > plan%last(1)) then
      plan%first = 1
      plan%last = 0
    end if
    arrival = place
    if (plan%buffered) then
      do i = 1, n
        arrival(i) = 0
        call index_of(plan%map, mod(plan%wanted%item(i) / references, size_of), index)
        if (to(i) == esp_me .or. columns(i) >= 0) arrival(i) = place_in_buffer(plan, index(:plan%map%rank))
      end do
    end if
    plan%own_place = pack(place, from == esp_me .and. to == esp_me .and. plan%buffered)
    plan%own_to = pack(arrival, from == esp_me .and. to == esp_me .and. plan%buffered)
    call messages(plan, from == esp_me .and. to /= esp_me, to, place, reference, .true., &
                  plan%sends, plan%to, plan%to_key, plan%to_first, plan%to_place)
    call messages(plan, to == esp_me .and. from /= esp_me, from, arrival, reference, .false., &
                  plan%receives, plan%from, plan%from_key, plan%from_first, plan%from_place)
    if (allocated(plan%slot)) deallocate(plan%slot, plan%slot_place)
    allocate(plan%slot(0:plan%columns), plan%slot_place(count(columns >= 0)))
    k = 0
    plan%slot(0) = 0
    do column = 0, plan%columns - 1
      do i = 1, n
        if (columns(i) /= column) cycle
        k = k + 1
        plan%slot_place(k) = arrival(i)
      end do
      plan%slot(column + 1) = k
    end do
    plan%mine_place = pack(place, columns == plan%column) !simulated
    seen = arrival !simulated
    do i = 1, n !simulated
      if (plan%collective == esp_gather .or. plan%collective == esp_scatter) exit !simulated
      if (plan%order == esp_by_direction .and. plan%collective == esp_no_collective) exit !simulated
      if (to(i) /= esp_me .and. columns(i) < 0) cycle !simulated
      call index_of(plan%map, mod(plan%wanted%item(i) / references, size_of), index) !simulated
      seen(i) = place_in_buffer(plan, index(:plan%map%rank)) !simulated
    end do !simulated
    if (allocated(plan%from_seen)) deallocate(plan%from_seen) !simulated
    call messages(plan, to == esp_me .and. from /= esp_me, from, seen, reference, .false., & !simulated
                  k, others, keys, firsts, plan%from_seen) !simulated
    ! What messages brought to a member of a collective is in the buffer. !simulated
    plan%brought = any(columns == plan%column .and. from /= esp_me) !simulated
    if (plan%brought) plan%mine_place = pack(seen, columns == plan%column) !simulated
    plan%slot_seen = [integer ::] !simulated
    do column = 0, plan%columns - 1 !simulated
      plan%slot_seen = [plan%slot_seen, pack(seen, columns == column)] !simulated
    end do !simulated
    if (.not. allocated(plan%owned)) then !simulated
      call esp_owned(plan%map, plan%owned, k) !simulated
      plan%owned = plan%owned(:k) !simulated
    end if !simulated
    plan%ready = .true.
  end subroutine esp_end

  ! Of an element that several references need the first one counts.
  subroutine once(list)
    type(esp_list), intent(inout) :: list
    integer :: i, found
    found = min(1, list%count)
    do i = 2, list%count
      if (list%item(i) / references == list%item(found) / references) cycle
      found = found + 1
      list%item(found) = list%item(i)
    end do
    list%count = found
  end subroutine once

  ! The messages to (outward) or from others, in their order, which is the same on all processors.
  subroutine messages(plan, taken, partner, place, reference, outward, count_of, who, keys, first, places)
    type(esp_plan), intent(in) :: plan
    logical, intent(in) :: taken(:), outward
    integer, intent(in) :: partner(:), place(:), reference(:)
    integer, intent(out) :: count_of
    integer, allocatable, intent(inout) :: who(:), first(:), places(:)
    integer(esp_long), allocatable, intent(inout) :: keys(:)
    integer :: i, k, n
    integer :: message(size(taken)), partner_of(size(taken)), order_of(size(taken))
    integer(esp_long) :: turn, key(size(taken))
    if (allocated(who)) deallocate(who, keys, first, places)
    count_of = 0
    k = 0
    message = 0
    do i = 1, size(taken)
      if (.not. taken(i)) cycle
      if (outward) turn = turn_of(plan, esp_me, partner(i), reference(i))
      if (.not. outward) turn = turn_of(plan, partner(i), esp_me, reference(i))
      if (k > 0) then ! most often the one of the element before
        if (key(k) /= turn .or. partner_of(k) /= partner(i)) k = 0
      end if
      if (k == 0) then
        do k = count_of, 1, -1
          if (key(k) == turn .and. partner_of(k) == partner(i)) exit
        end do
      end if
      if (k == 0) then
        count_of = count_of + 1
        k = count_of
        key(k) = turn
        partner_of(k) = partner(i)
      end if
      message(i) = k
    end do
    do i = 1, count_of
      order_of(i) = i
      do k = i, 2, -1
        if (key(order_of(k - 1)) <= key(order_of(k))) exit
        order_of(k - 1:k) = order_of((/ k, k - 1 /))
      end do
    end do
    allocate(who(count_of), keys(count_of), first(count_of + 1), places(count(taken)))
    n = 1
    do i = 1, count_of
      who(i) = partner_of(order_of(i))
      keys(i) = key(order_of(i))
      first(i) = n
      do k = 1, size(taken)
        if (message(k) /= order_of(i)) cycle
        places(n) = place(k)
        n = n + 1
      end do
    end do
    first(count_of + 1) = n
  end subroutine messages

  ! When a message goes out, relative to others: by its direction (faces first; axis by axis; + before -; near before
  ! far), or as the machine does complete exchanges. What a circular shift moves around the end goes on in its direction.
  integer(esp_long) function turn_of(plan, source, destination, reference)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: source, destination, reference
    integer :: axis, step, extent, moved, sign_of
    integer(esp_long) :: parts
    if (plan%order == esp_to_all .and. how_transpose /= '') then
      turn_of = modulo(esp_column(destination, esp_procs) - esp_column(source, esp_procs), esp_procs)
      if (how_transpose /= 'ring' .and. esp_power_below(esp_procs) == esp_procs) &
        turn_of = ieor(esp_column(source, esp_procs), esp_column(destination, esp_procs))
      return
    end if
    parts = 0
    moved = 0
    do axis = 1, plan%map%axes
      extent = plan%map%extent(axis)
      step = mod(destination / plan%map%stride(axis), extent) - mod(source / plan%map%stride(axis), extent)
      if (plan%order /= esp_by_direction) then
        step = modulo(step, extent)
        if (step > extent / 2) step = step - extent
      else if (reference > 0) then
        sign_of = plan%circular(axis, reference)
        if (sign_of > 0) step = modulo(step, extent)
        if (sign_of < 0) step = -modulo(-step, extent)
      end if
      if (step == 0) cycle
      moved = moved + 1
      parts = ((parts * 8 + axis) * 2 + merge(1, 0, step < 0)) * 32768 + abs(step)
    end do
    turn_of = moved * 2_esp_long**60 + parts
  end function turn_of

  ! The ranks along some axes of the grid in the order of their nodes, and my place among them.
  subroutine esp_group(map, special, members, column)
    type(esp_map), intent(in) :: map
    logical, intent(in) :: special(:)
    integer, allocatable, intent(inout) :: members(:)
    integer, intent(out) :: column
    call esp_members(map, special, members, column)
    call esp_order(members)
    column = place_in(members)
  end subroutine esp_group

  ! My place among some ranks.
  integer function place_in(members)
    integer, intent(in) :: members(0:)
    integer :: at
    place_in = 0
    do at = 0, size(members) - 1
      if (members(at) == esp_me) place_in = at
    end do
  end function place_in

  ! The same ranks in the order of their coordinates.
  subroutine esp_members(map, special, members, column)
    type(esp_map), intent(in) :: map
    logical, intent(in) :: special(:)
    integer, allocatable, intent(inout) :: members(:)
    integer, intent(out) :: column
    integer :: rank, axis, found
    logical :: inside
    if (allocated(members)) deallocate(members)
    found = 1
    do axis = 1, map%axes
      if (special(axis)) found = found * map%extent(axis)
    end do
    allocate(members(0:found - 1))
    found = 0
    do rank = 0, esp_procs - 1
      inside = .true.
      do axis = 1, map%axes
        if (.not. special(axis)) &
          inside = inside .and. mod(rank / map%stride(axis), map%extent(axis)) == map%here(axis)
      end do
      if (.not. inside .or. found >= size(members)) cycle
      members(found) = rank
      found = found + 1
    end do
    column = place_in(members)
  end subroutine esp_members

  integer function column_of(plan, rank)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: rank
    do column_of = 0, plan%columns - 1
      if (plan%members(column_of) == rank) return
    end do
    call esp_stop('a processor is not in its own group')
  end function column_of

  ! --- messages (the executor) ---------------------------------------------------------------------------------

  subroutine count_message(bytes)
    integer, intent(in) :: bytes
    sent_messages(line_now) = sent_messages(line_now) + 1
    sent_bytes(line_now) = sent_bytes(line_now) + bytes
  end subroutine count_message

  subroutine esp_send(buffer, bytes, to)
    integer, intent(in) :: bytes, to
    integer(esp_byte), intent(in) :: buffer(*)
    integer :: error
    call count_message(bytes)
    call esp_simulation_before('send', to, bytes) !simulated
    call esp_trace_cut() !trace
    call MPI_Send(buffer, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, error)
    call esp_simulation_after() !simulated
    call esp_trace_send(to, bytes) !trace
  end subroutine esp_send

  subroutine esp_receive(buffer, bytes, from)
    integer, intent(in) :: bytes, from
    integer(esp_byte), intent(inout) :: buffer(*)
    integer :: error
    call esp_simulation_before('receive', from, bytes) !simulated
    call esp_trace_cut() !trace
    call MPI_Recv(buffer, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call esp_simulation_after() !simulated
    call esp_trace_receive(from, bytes) !trace
  end subroutine esp_receive

  ! Send to one and receive from another at once; nothing goes where there are no bytes.
  subroutine esp_swap(out, out_bytes, to, in, in_bytes, from)
    integer, intent(in) :: out_bytes, to, in_bytes, from
    integer(esp_byte), intent(in) :: out(*)
    integer(esp_byte), intent(inout) :: in(*)
    integer :: error, request
    if (in_bytes > 0) call MPI_Irecv(in, in_bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, request, error)
    if (out_bytes > 0) call esp_send(out, out_bytes, to)
    if (in_bytes > 0) call arrived(request, from, in_bytes)
  end subroutine esp_swap

  ! Wait for a message that may come.
  subroutine arrived(request, from, bytes)
    integer, intent(inout) :: request
    integer, intent(in) :: from, bytes
    integer :: error
    call esp_simulation_before('receive', from, bytes) !simulated
    call esp_trace_cut() !trace
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call esp_simulation_after() !simulated
    call esp_trace_receive(from, bytes) !trace
  end subroutine arrived

  ! The point-to-point messages of a plan; an element is `bytes` long. In each turn everybody sends, then receives;
  ! where the machine has all messages of an exchange under way at once, all sends come first.
  subroutine esp_messages(plan, bytes, out, in)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes
    integer(esp_byte), intent(in) :: out(*)
    integer(esp_byte), intent(inout) :: in(*)
    integer :: i, j, at, length, error
    integer :: request(max(1, plan%receives))
    logical :: together, sends
    call esp_line(plan%line)
    do j = 1, plan%receives
      at = bytes * (plan%from_first(j) - 1) + 1
      length = bytes * (plan%from_first(j + 1) - plan%from_first(j))
      call MPI_Irecv(in(at), length, MPI_BYTE, plan%from(j), 1, MPI_COMM_WORLD, request(j), error)
    end do
    together = how_exchange == 'concurrent' .and. plan%collective == esp_no_collective
    i = 1
    j = 1
    do while (i <= plan%sends .or. j <= plan%receives)
      sends = i <= plan%sends
      if (sends .and. j <= plan%receives .and. .not. together) sends = plan%to_key(i) <= plan%from_key(j)
      if (sends) then
        at = bytes * (plan%to_first(i) - 1) + 1
        length = bytes * (plan%to_first(i + 1) - plan%to_first(i))
        call esp_simulation_packs(plan%to_place(plan%to_first(i):plan%to_first(i + 1) - 1), bytes, plan%owned) !simulated
        call esp_send(out(at), length, plan%to(i))
        i = i + 1
      else
        call arrived(request(j), plan%from(j), bytes * (plan%from_first(j + 1) - plan%from_first(j)))
        call esp_simulation_packs(plan%from_seen(plan%from_first(j):plan%from_first(j + 1) - 1), bytes) !simulated
        j = j + 1
      end if
    end do
  end subroutine esp_messages

  ! The collective of a plan. `pool` holds what each member has, one after the other; mine is filled in.
  subroutine esp_collect(plan, bytes, pool)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes
    integer(esp_byte), intent(inout) :: pool(*)
    type(esp_stage_list) :: stages
    integer :: column
    if (plan%columns < 2) return
    call esp_line(plan%line)
    select case (plan%collective) !native
    case (esp_broadcast) !native
      call esp_native_broadcast(plan%members, bytes * plan%slot, pool) !native
    case (esp_concatenation) !native
      call esp_native_concatenate(plan%members, bytes * plan%slot, pool) !native
    case (esp_gather) !native
      call esp_native_gather(plan%members, plan%column, plan%root, bytes * plan%slot, pool) !native
    case (esp_scatter) !native
      call esp_native_scatter(plan%members, plan%column, plan%root, bytes * plan%slot, pool) !native
    end select !native
    return !native
    select case (plan%collective)
    case (esp_broadcast)
      do column = 0, plan%columns - 1
        if (plan%slot(column + 1) > plan%slot(column)) call spread_slot(plan, bytes, pool, column)
      end do
    case (esp_concatenation)
      if (how_concatenation == 'ring') then
        call around(plan, bytes, pool)
      else
        call esp_exchange(stages, how_concatenation, plan%members)
        call carry(plan, bytes, pool, stages)
      end if
    case (esp_gather)
      call esp_tree(stages, how_gather, plan%members, plan%root, .true.)
      call carry(plan, bytes, pool, stages)
    case (esp_scatter)
      call esp_tree(stages, how_scatter, plan%members, plan%root, .false.)
      call deal(plan, bytes, pool, stages)
    end select
  end subroutine esp_collect

  ! What rank 0 has in a box goes to all.
  subroutine esp_share(box)
    integer(esp_byte), intent(inout) :: box(:)
    type(esp_map) :: map
    type(esp_plan) :: plan
    call esp_grid(map, (/ esp_procs /))
    call esp_group(map, (/ .true. /), plan%members, plan%column)
    plan%columns = esp_procs
    plan%collective = esp_broadcast
    plan%line = line_now
    allocate(plan%slot(0:esp_procs))
    plan%slot = 0
    plan%slot(minloc(plan%members, 1):) = size(box)
    call esp_collect(plan, 1, box)
  end subroutine esp_share

  ! What one column has goes to all others, down a tree.
  subroutine spread_slot(plan, bytes, pool, root)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes, root
    integer(esp_byte), intent(inout) :: pool(*)
    type(esp_stage_list) :: list
    integer :: first, length, stage, at, to, from
    logical :: adds
    first = bytes * plan%slot(root) + 1
    length = bytes * (plan%slot(root + 1) - plan%slot(root))
    call esp_tree(list, how_broadcast, plan%members, root, .false.)
    at = 0
    do stage = 1, list%stages
      call esp_partners(list, stage, plan%column, at, to, from, adds)
      if (to >= 0) call esp_send(pool(first), length, plan%members(to))
      if (from >= 0) call esp_receive(pool(first), length, plan%members(from))
    end do
  end subroutine spread_slot

  ! In each stage a column sends all that it has by then.
  subroutine carry(plan, bytes, pool, list)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes
    integer(esp_byte), intent(inout) :: pool(*)
    type(esp_stage_list), intent(in) :: list
    logical :: has(0:plan%columns - 1, 0:plan%columns - 1), before(0:plan%columns - 1, 0:plan%columns - 1)
    integer :: stage, at, to, from, i
    logical :: adds
    has = itself(plan%columns)
    at = 0
    do stage = 1, list%stages
      before = has
      i = at
      call esp_partners(list, stage, plan%column, at, to, from, adds)
      call swap_slots(plan, bytes, pool, to, has(:, plan%column), from, has(:, max(from, 0)))
      do i = i + 1, at
        has(:, list%to(i)) = before(:, list%from(i)) .or. (has(:, list%to(i)) .and. list%adds(i))
      end do
    end do
  end subroutine carry

  ! Down a tree: each message carries what is for those below.
  subroutine deal(plan, bytes, pool, list)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes
    integer(esp_byte), intent(inout) :: pool(*)
    type(esp_stage_list), intent(in) :: list
    logical :: below(0:plan%columns - 1, 0:plan%columns - 1)
    integer :: stage, at, to, from, i
    logical :: adds
    below = itself(plan%columns)
    do i = list%count, 1, -1
      below(:, list%from(i)) = below(:, list%from(i)) .or. below(:, list%to(i))
    end do
    at = 0
    do stage = 1, list%stages
      call esp_partners(list, stage, plan%column, at, to, from, adds)
      call swap_slots(plan, bytes, pool, to, below(:, max(to, 0)), from, below(:, plan%column))
    end do
  end subroutine deal

  ! For each of so many columns: itself alone.
  function itself(columns)
    integer, intent(in) :: columns
    logical :: itself(0:columns - 1, 0:columns - 1)
    integer :: column
    itself = .false.
    do column = 0, columns - 1
      itself(column, column) = .true.
    end do
  end function itself

  ! Send the slots of some columns to one column and receive those of others from another one (-1: nobody).
  subroutine swap_slots(plan, bytes, pool, to, gives, from, gets)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes, to, from
    integer(esp_byte), intent(inout) :: pool(*)
    logical, intent(in) :: gives(0:), gets(0:)
    integer(esp_byte), allocatable :: out(:), in(:)
    integer :: column, at, length
    allocate(out(merge(bytes_of(gives), 0, to >= 0)), in(merge(bytes_of(gets), 0, from >= 0)))
    at = 0
    do column = 0, merge(plan%columns, 0, to >= 0) - 1
      if (.not. gives(column)) cycle
      length = bytes * (plan%slot(column + 1) - plan%slot(column))
      out(at + 1:at + length) = pool(bytes * plan%slot(column) + 1:bytes * plan%slot(column) + length)
      at = at + length
    end do
    call esp_swap(out, size(out), rank_of(to), in, size(in), rank_of(from))
    at = 0
    do column = 0, merge(plan%columns, 0, from >= 0) - 1
      if (.not. gets(column)) cycle
      length = bytes * (plan%slot(column + 1) - plan%slot(column))
      pool(bytes * plan%slot(column) + 1:bytes * plan%slot(column) + length) = in(at + 1:at + length)
      at = at + length
    end do
  contains
    integer function rank_of(column)
      integer, intent(in) :: column
      rank_of = esp_me
      if (column >= 0) rank_of = plan%members(column)
    end function rank_of
    integer function bytes_of(which)
      logical, intent(in) :: which(0:)
      integer :: each
      bytes_of = 0
      do each = 0, plan%columns - 1
        if (which(each)) bytes_of = bytes_of + bytes * (plan%slot(each + 1) - plan%slot(each))
      end do
    end function bytes_of
  end subroutine swap_slots

  ! All-gather along a ring.
  subroutine around(plan, bytes, pool)
    type(esp_plan), intent(in) :: plan
    integer, intent(in) :: bytes
    integer(esp_byte), intent(inout) :: pool(*)
    integer :: p, step, to, from, give, take
    p = plan%columns
    to = mod(plan%column + 1, p)
    from = modulo(plan%column - 1, p)
    do step = 1, p - 1
      give = modulo(plan%column - step + 1, p)
      take = modulo(plan%column - step, p)
      call esp_swap(pool(bytes * plan%slot(give) + 1), bytes * (plan%slot(give + 1) - plan%slot(give)), plan%members(to), &
                    pool(bytes * plan%slot(take) + 1), bytes * (plan%slot(take + 1) - plan%slot(take)), plan%members(from))
    end do
  end subroutine around

  ! --- owners that take turns ----------------------------------------------------------------------------------

  subroutine esp_turns_begin(turns, map)
    type(esp_turns), intent(inout) :: turns
    type(esp_map), intent(in) :: map
    if (allocated(turns%written)) deallocate(turns%written, turns%received)
    allocate(turns%written(0:elements(map) - 1), turns%received(0:elements(map) - 1, 0:esp_procs - 1))
    turns%written = -1
    turns%received = -1
  end subroutine esp_turns_begin

  ! Whether an element must be sent to processor `to` in an iteration: it has no copy, or the element was written since.
  logical function esp_arrives(turns, map, index, to, iteration)
    type(esp_turns), intent(inout) :: turns
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:), to, iteration
    integer(esp_long) :: code
    esp_arrives = .false.
    if (esp_owner(map, index) == to) return
    code = esp_code(map, index)
    esp_arrives = turns%received(code, to) < 0 .or. &
      (turns%received(code, to) < iteration .and. turns%written(code) >= turns%received(code, to))
    turns%received(code, to) = iteration
  end function esp_arrives

  subroutine esp_written(turns, map, index, iteration)
    type(esp_turns), intent(inout) :: turns
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:), iteration
    turns%written(esp_code(map, index)) = iteration
  end subroutine esp_written

end module esp_runtime
