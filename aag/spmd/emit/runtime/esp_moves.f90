! The parts of the run-time library that depend on the type of the data, here @TYPE@ (@BYTES@ bytes).
module esp_moves_@KIND@
  use esp_runtime
  use mpi !native
  use esp_native !native
  use esp_simulation !simulated
  implicit none
  private
  public :: esp_move_@KIND@, esp_reduce_@KIND@, esp_reduce_owned_@KIND@, esp_put_@KIND@, esp_get_@KIND@
  public :: esp_fetch_@KIND@, esp_fill_@KIND@, esp_poison_@KIND@, esp_poison_all_@KIND@
  public :: esp_await_@KIND@, esp_scan_@KIND@, esp_scan_owned_@KIND@

  type, public :: esp_@KIND@ !pair
    sequence !pair
    @VALUE@ :: value !pair
    @PLACE@ :: place !pair
  end type esp_@KIND@ !pair

  integer, parameter :: bytes = @BYTES@

contains

  ! All that a plan moves, into the storage `a` of its array.
  subroutine esp_move_@KIND@(plan, a)
    type(esp_plan), intent(in) :: plan
    @TYPE@, intent(inout) :: a(*)
    integer(esp_byte), allocatable :: out(:), in(:)
    call packed(plan, a, out, in)
    call esp_messages(plan, bytes, out, in)
    call unpacked(plan, in, a)
    call collected(plan, a)
  end subroutine esp_move_@KIND@

  ! All that a plan moves, and what is here already of it, into a buffer.
  subroutine esp_fetch_@KIND@(plan, a, buffer)
    type(esp_plan), intent(in) :: plan
    @TYPE@, intent(in) :: a(*)
    @TYPE@, intent(inout) :: buffer(*)
    integer(esp_byte), allocatable :: out(:), in(:)
    integer :: i
    do i = 1, size(plan%own_place)
      buffer(plan%own_to(i)) = a(plan%own_place(i))
    end do
    call packed(plan, a, out, in)
    call esp_messages(plan, bytes, out, in)
    call unpacked(plan, in, buffer)
    call collected(plan, buffer)
  end subroutine esp_fetch_@KIND@

  ! What a plan sends of `a`, and room for what it receives.
  subroutine packed(plan, a, out, in)
    type(esp_plan), intent(in) :: plan
    @TYPE@, intent(in) :: a(*)
    integer(esp_byte), allocatable, intent(out) :: out(:), in(:)
    integer :: i
    allocate(out(bytes * size(plan%to_place)), in(bytes * size(plan%from_place)))
    do i = 1, size(plan%to_place)
      out(bytes * (i - 1) + 1:bytes * i) = transfer(a(plan%to_place(i)), out, bytes)
    end do
  end subroutine packed

  subroutine unpacked(plan, in, a)
    type(esp_plan), intent(in) :: plan
    integer(esp_byte), intent(in) :: in(:)
    @TYPE@, intent(inout) :: a(*)
    integer :: i
    do i = 1, size(plan%from_place)
      a(plan%from_place(i)) = transfer(in(bytes * (i - 1) + 1:bytes * i), a(1))
    end do
  end subroutine unpacked

  ! The collective of a plan: what arrives joins `a`.
  subroutine collected(plan, a)
    type(esp_plan), intent(in) :: plan
    @TYPE@, intent(inout) :: a(*)
    integer(esp_byte), allocatable :: pool(:)
    integer :: i, column, first, last
    if (plan%collective == esp_no_collective .or. plan%columns < 2) return
    allocate(pool(bytes * size(plan%slot_place)))
    first = plan%slot(plan%column) + 1
    last = plan%slot(plan%column + 1)
    if (plan%collective == esp_scatter .and. plan%column == plan%root) then
      first = 1
      last = size(plan%slot_place)
    end if
    do i = first, last
      pool(bytes * (i - 1) + 1:bytes * i) = transfer(a(plan%slot_place(i)), pool, bytes)
    end do
    if (plan%collective == esp_scatter) then
      if (plan%column == plan%root) call packs_of_others(plan) !simulated
      call esp_collect(plan, bytes, pool)
      if (plan%column /= plan%root) call packs_of_mine(plan) !simulated
      do i = first, last
        a(plan%slot_place(i)) = transfer(pool(bytes * (i - 1) + 1:bytes * i), a(1))
      end do
      return
    end if
    if (plan%collective /= esp_gather .or. plan%column /= plan%root) & !simulated
        call packs_of_mine(plan) !simulated
    call esp_collect(plan, bytes, pool)
    if (plan%collective == esp_gather .and. plan%column /= plan%root) return
    call packs_of_others(plan) !simulated
    do column = 0, plan%columns - 1
      if (column == plan%column) cycle
      do i = plan%slot(column) + 1, plan%slot(column + 1)
        if (plan%slot_place(i) > 0) a(plan%slot_place(i)) = transfer(pool(bytes * (i - 1) + 1:bytes * i), a(1))
      end do
    end do
  end subroutine collected

  ! What I have in a collective: what I own, or what messages brought to me. !simulated
  subroutine packs_of_mine(plan) !simulated
    type(esp_plan), intent(in) :: plan !simulated
    if (plan%brought) call esp_simulation_packs(plan%mine_place, bytes) !simulated
    if (.not. plan%brought) call esp_simulation_packs(plan%mine_place, bytes, plan%owned) !simulated
  end subroutine packs_of_mine !simulated

  ! What other members have in a collective is packed or unpacked here, of each by itself. !simulated
  subroutine packs_of_others(plan) !simulated
    type(esp_plan), intent(in) :: plan !simulated
    integer :: column, first, last !simulated
    do column = 0, plan%columns - 1 !simulated
      if (column == plan%column) cycle !simulated
      first = plan%slot(column) + 1 !simulated
      last = plan%slot(column + 1) !simulated
      call esp_simulation_packs(pack(plan%slot_seen(first:last), plan%slot_place(first:last) > 0), bytes) !simulated
    end do !simulated
  end subroutine packs_of_others !simulated

  ! Combine one value of each processor along some axes of a grid; all of them get the result.
  subroutine esp_reduce_@KIND@(op, map, axes, line, value)
    character(len=*), intent(in) :: op
    type(esp_map), intent(in) :: map
    logical, intent(in) :: axes(:)
    integer, intent(in) :: line
    @TYPE@, intent(inout) :: value
    @TYPE@ :: values(1)
    values(1) = value
    call reduce(op, map, axes, line, values)
    value = values(1)
  end subroutine esp_reduce_@KIND@

  ! The same for all elements that this processor owns of the array `a` with the mapping `own`.
  subroutine esp_reduce_owned_@KIND@(op, map, axes, line, own, a)
    character(len=*), intent(in) :: op
    type(esp_map), intent(in) :: map, own
    logical, intent(in) :: axes(:)
    integer, intent(in) :: line
    @TYPE@, intent(inout) :: a(*)
    @TYPE@, allocatable :: values(:)
    integer, allocatable :: place(:)
    integer :: found
    call esp_owned(own, place, found)
    if (found == 0) return
    allocate(values(found))
    values = a(place(:found))
    call reduce(op, map, axes, line, values)
    a(place(:found)) = values
  end subroutine esp_reduce_owned_@KIND@

  subroutine reduce(op, map, axes, line, values)
    character(len=*), intent(in) :: op
    type(esp_map), intent(in) :: map
    logical, intent(in) :: axes(:)
    integer, intent(in) :: line
    @TYPE@, intent(inout) :: values(:)
    integer, allocatable :: members(:)
    integer(esp_byte) :: out(bytes * size(values)), in(bytes * size(values))
    @TYPE@ :: other(size(values))
    type(esp_stage_list) :: list
    integer :: n, column, stage, at, to, from
    logical :: adds
    integer :: error !native
    call esp_line(line)
    call esp_group(map, axes, members, column)
    n = size(out)
    if (size(members) < 2) return
    call MPI_Allreduce(MPI_IN_PLACE, values, size(values), @MPI_TYPE@, esp_native_operation(op), & !native
                       esp_native_group(members), error) !native
    return !native
    call esp_exchange(list, esp_reduction, members)
    at = 0
    do stage = 1, list%stages
      call esp_partners(list, stage, column, at, to, from, adds)
      if (to >= 0 .or. from >= 0) call esp_simulation_combines('stage', 'reduction', 1) !simulated
      if (to >= 0) out = transfer(values, out)
      if (to >= 0 .and. from >= 0) then
        call esp_swap(out, n, members(to), in, n, members(from))
      else if (to >= 0) then
        call esp_send(out, n, members(to))
      else if (from >= 0) then
        call esp_receive(in, n, members(from))
      end if
      if (from >= 0) other = transfer(in, values)
      if (from >= 0 .and. adds) call combine(op, values, other)
      if (from >= 0 .and. .not. adds) values = other
    end do
  end subroutine reduce

  ! Combine two vectors into the first.
  subroutine combine(op, values, other)
    character(len=*), intent(in) :: op
    @TYPE@, intent(inout) :: values(:)
    @TYPE@, intent(in) :: other(:)
    call esp_simulation_combines('@KIND@', op, size(values)) !simulated
    select case (op)
@COMBINE@
    case default
      call esp_stop('no such reduction: ' // op)
    end select
  end subroutine combine

  ! Each processor gets the combination of the values of those before it along some axes of a grid, the first one
  ! `start`. `down`: those with higher coordinates come before it.
  subroutine esp_scan_@KIND@(op, map, axes, line, down, start, value)
    character(len=*), intent(in) :: op
    type(esp_map), intent(in) :: map
    logical, intent(in) :: axes(:), down
    integer, intent(in) :: line
    @TYPE@, intent(in) :: start
    @TYPE@, intent(inout) :: value
    @TYPE@ :: values(1)
    values(1) = value
    call scan_over(op, map, axes, line, down, start, values)
    value = values(1)
  end subroutine esp_scan_@KIND@

  ! The same for all elements that this processor owns of the array `a` with the mapping `own`.
  subroutine esp_scan_owned_@KIND@(op, map, axes, line, down, start, own, a)
    character(len=*), intent(in) :: op
    type(esp_map), intent(in) :: map, own
    logical, intent(in) :: axes(:), down
    integer, intent(in) :: line
    @TYPE@, intent(in) :: start
    @TYPE@, intent(inout) :: a(*)
    @TYPE@, allocatable :: values(:)
    integer, allocatable :: place(:)
    integer :: found
    call esp_owned(own, place, found)
    if (found == 0) return
    allocate(values(found))
    values = a(place(:found))
    call scan_over(op, map, axes, line, down, start, values)
    a(place(:found)) = values
  end subroutine esp_scan_owned_@KIND@

  ! `values` are what a column and those before it have, as far as it knows; `before`, without itself.
  subroutine scan_over(op, map, axes, line, down, start, values)
    character(len=*), intent(in) :: op
    type(esp_map), intent(in) :: map
    logical, intent(in) :: axes(:), down
    integer, intent(in) :: line
    @TYPE@, intent(in) :: start
    @TYPE@, intent(inout) :: values(:)
    integer, allocatable :: members(:)
    integer(esp_byte) :: out(bytes * size(values)), in(bytes * size(values))
    @TYPE@ :: before(size(values)), other(size(values))
    integer :: n, p, column, away
    call esp_line(line)
    call esp_members(map, axes, members, column)
    p = size(members)
    if (down) members = members(p - 1:0:-1)
    if (down) column = p - 1 - column
    n = size(out)
    before = start
    away = 1
    do while (away < p)
      out = transfer(values, out)
      if (column >= away .and. column + away < p) then
        call esp_swap(out, n, members(column + away), in, n, members(column - away))
      else if (column + away < p) then
        call esp_send(out, n, members(column + away))
      else if (column >= away) then
        call esp_receive(in, n, members(column - away))
      end if
      if (column >= away) then
        other = transfer(in, values)
        call combine(op, before, other)
        call combine(op, values, other)
      end if
      away = 2 * away
    end do
    values = before
  end subroutine scan_over

  ! Append a value to a message of mixed types, or take one from it.
  subroutine esp_put_@KIND@(box, at, value)
    integer, intent(inout) :: at
    integer(esp_byte), intent(inout) :: box(:)
    @TYPE@, intent(in) :: value
    box(at + 1:at + bytes) = transfer(value, box, bytes)
    at = at + bytes
  end subroutine esp_put_@KIND@

  subroutine esp_get_@KIND@(box, at, value)
    integer(esp_byte), intent(in) :: box(:)
    integer, intent(inout) :: at
    @TYPE@, intent(inout) :: value
    value = transfer(box(at + 1:at + bytes), value)
    at = at + bytes
  end subroutine esp_get_@KIND@

  ! For debugging: a copy of an element that was written elsewhere is stale.
  subroutine esp_poison_@KIND@(map, index, a)
    type(esp_map), intent(in) :: map
    integer, intent(in) :: index(:)
    @TYPE@, intent(inout) :: a(*)
    integer :: place
    if (esp_owns(map, index)) return
    place = esp_place(map, index)
    if (place > 0) a(place) = @POISON@
  end subroutine esp_poison_@KIND@

  ! For debugging: nothing has a value at the start.
  subroutine esp_poison_all_@KIND@(map, a)
    type(esp_map), intent(in) :: map
    @TYPE@, intent(inout) :: a(*)
    integer :: i
    do i = 1, product(map%last(:map%rank) - map%first(:map%rank) + 1)
      a(i) = @POISON@
    end do
  end subroutine esp_poison_all_@KIND@

  ! For debugging: what a plan is about to bring has no value until it comes.
  subroutine esp_await_@KIND@(plan, a)
    type(esp_plan), intent(in) :: plan
    @TYPE@, intent(inout) :: a(*)
    integer :: i
    do i = 1, size(plan%from_place)
      a(plan%from_place(i)) = @POISON@
    end do
    if (plan%collective == esp_no_collective .or. plan%collective == esp_scatter) return
    if (plan%collective == esp_gather .and. plan%column /= plan%root) return
    do i = 1, size(plan%slot_place)
      if (i > plan%slot(plan%column) .and. i <= plan%slot(plan%column + 1)) cycle
      if (plan%slot_place(i) > 0) a(plan%slot_place(i)) = @POISON@
    end do
  end subroutine esp_await_@KIND@

  ! For debugging: nothing in a buffer has a value.
  subroutine esp_fill_@KIND@(a, length)
    integer, intent(in) :: length
    @TYPE@, intent(inout) :: a(*)
    integer :: i
    do i = 1, length
      a(i) = @POISON@
    end do
  end subroutine esp_fill_@KIND@

end module esp_moves_@KIND@
