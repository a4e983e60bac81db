! Who sends to whom in a collective, stage by stage. Processors of a group are numbered from 0 in the order of their
! nodes: these numbers are their columns. In a stage each column sends at most one message and receives at most one.
!
! Where the machine has dimensions (2 x 2 x ... in a hypercube, rows and columns in a mesh), `auto` goes through them one
! after the other. The largest box of nodes in a group, its core, does so; others go through the nearest one in the core.
module esp_stages
  implicit none
  private
  public :: esp_stage_list, esp_box, esp_nodes, esp_forget, esp_order, esp_column, esp_tree, esp_exchange, esp_partners
  public :: esp_power_below

  ! Messages in the order of their stages, which are numbered from 1. `adds`: what comes is added to what is there, or
  ! takes its place.
  type esp_stage_list
    integer :: count = 0, stages = 0
    integer, allocatable :: stage(:), from(:), to(:)
    logical, allocatable :: adds(:)
  end type esp_stage_list

  ! The columns of the core, column-major in its extents; the place of each column in it, or that of its substitute; and
  ! when columns outside go through theirs: one after the other if they have the same.
  type core
    integer, allocatable :: extent(:), columns(:), place(:), fold(:)
  end type core

  integer, allocatable :: box(:), node(:), column_of(:)

contains

  ! The extents that nodes are numbered in; none where they are in one row or all alike.
  subroutine esp_box(extents)
    integer, intent(in) :: extents(:)
    box = extents
  end subroutine esp_box

  ! The nodes of some ranks; a rank that nobody names is on the node of its number.
  subroutine esp_nodes(procs, first, numbers)
    integer, intent(in) :: procs, first, numbers(:)
    integer :: i
    if (.not. allocated(node)) then
      allocate(node(0:procs - 1))
      node = (/ (i, i = 0, procs - 1) /)
    end if
    node(first:first + size(numbers) - 1) = numbers
  end subroutine esp_nodes

  ! Nothing is known of the machine any more.
  subroutine esp_forget()
    if (allocated(box)) deallocate(box)
    if (allocated(node)) deallocate(node)
    if (allocated(column_of)) deallocate(column_of)
  end subroutine esp_forget

  integer function node_of(rank)
    integer, intent(in) :: rank
    node_of = rank
    if (allocated(node)) node_of = node(rank)
  end function node_of

  ! Sort ranks by their nodes.
  subroutine esp_order(members)
    integer, intent(inout) :: members(0:)
    integer :: i, k, rank
    do i = 1, size(members) - 1
      rank = members(i)
      do k = i, 1, -1
        if (node_of(members(k - 1)) < node_of(rank)) exit
        members(k) = members(k - 1)
      end do
      members(k) = rank
    end do
  end subroutine esp_order

  ! The column of a rank among all processors.
  integer function esp_column(rank, procs)
    integer, intent(in) :: rank, procs
    integer :: members(0:procs - 1), i
    if (.not. allocated(column_of)) then
      members = (/ (i, i = 0, procs - 1) /)
      call esp_order(members)
      allocate(column_of(0:procs - 1))
      column_of(members) = (/ (i, i = 0, procs - 1) /)
    end if
    esp_column = column_of(rank)
  end function esp_column

  ! The largest power of two that is not above p.
  integer function esp_power_below(p)
    integer, intent(in) :: p
    esp_power_below = 0
    if (p < 1) return
    esp_power_below = 1
    do while (2 * esp_power_below <= p)
      esp_power_below = 2 * esp_power_below
    end do
  end function esp_power_below

  ! --- lists ---------------------------------------------------------------------------------------------------

  subroutine begin(list)
    type(esp_stage_list), intent(out) :: list
    allocate(list%stage(64), list%from(64), list%to(64), list%adds(64))
  end subroutine begin

  ! A message of the stage that is being made.
  subroutine add(list, from, to, adds)
    type(esp_stage_list), intent(inout) :: list
    integer, intent(in) :: from, to
    logical, intent(in) :: adds
    integer :: n
    if (list%count == size(list%stage)) then
      n = 2 * list%count
      list%stage = (/ list%stage, list%stage /)
      list%from = (/ list%from, list%from /)
      list%to = (/ list%to, list%to /)
      list%adds = (/ list%adds, list%adds /)
    end if
    n = list%count + 1
    list%count = n
    list%stage(n) = list%stages + 1
    list%from(n) = from
    list%to(n) = to
    list%adds(n) = adds
  end subroutine add

  ! The stage is complete; nothing happens if it has no message.
  subroutine close_stage(list)
    type(esp_stage_list), intent(inout) :: list
    if (list%count == 0) return
    if (list%stage(list%count) > list%stages) list%stages = list%stages + 1
  end subroutine close_stage

  ! To whom a column sends in a stage, and from whom it receives (-1: nobody); whether it adds what comes. `at`: the
  ! last message that was looked at.
  subroutine esp_partners(list, stage, column, at, to, from, adds)
    type(esp_stage_list), intent(in) :: list
    integer, intent(in) :: stage, column
    integer, intent(inout) :: at
    integer, intent(out) :: to, from
    logical, intent(out) :: adds
    to = -1
    from = -1
    adds = .false.
    do while (at < list%count)
      if (list%stage(at + 1) > stage) exit
      at = at + 1
      if (list%from(at) == column) to = list%to(at)
      if (list%to(at) == column) from = list%from(at)
      if (list%to(at) == column) adds = list%adds(at)
    end do
  end subroutine esp_partners

  ! --- trees ---------------------------------------------------------------------------------------------------

  ! The stages in which the column `root` reaches all; `up`: in which all reach the root, who adds.
  subroutine esp_tree(list, how, members, root, up)
    type(esp_stage_list), intent(out) :: list
    character(len=*), intent(in) :: how
    integer, intent(in) :: members(0:), root
    logical, intent(in) :: up
    type(esp_stage_list) :: down
    integer :: p, bit, v, i
    p = size(members)
    call begin(down)
    if (dimensional(how)) then
      call halve(down, members, root)
    else if (how == 'linear') then
      do v = 1, p - 1
        call add(down, root, mod(root + v, p), .false.)
        call close_stage(down)
      end do
    else if (how == 'binomial' .or. how == 'auto') then
      bit = esp_power_below(p - 1)
      do while (bit > 0)
        do v = bit, p - 1, 2 * bit
          call add(down, mod(root + v - bit, p), mod(root + v, p), .false.)
        end do
        call close_stage(down)
        bit = bit / 2
      end do
    else
      error stop 'esp: no stages are written for this algorithm of a collective'
    end if
    list = down
    if (.not. up) return
    list%adds = .true.
    list%from = down%to
    list%to = down%from
    if (how == 'linear') return
    do i = 1, down%count
      list%stage(i) = down%stages + 1 - down%stage(down%count + 1 - i)
      list%from(i) = down%to(down%count + 1 - i)
      list%to(i) = down%from(down%count + 1 - i)
    end do
  end subroutine esp_tree

  logical function dimensional(how)
    character(len=*), intent(in) :: how
    dimensional = .false.
    if (how == 'auto' .and. allocated(box)) dimensional = size(box) > 0
  end function dimensional

  ! From the last dimension to the first: along each line, who has the data sends into the other half.
  subroutine halve(list, members, root)
    type(esp_stage_list), intent(inout) :: list
    integer, intent(in) :: members(0:), root
    type(core) :: its
    integer, allocatable :: low(:), high(:), has(:)
    integer :: d, i, k, n, stride, below, half, other, column
    call find_core(its, members)
    k = its%place(root)
    if (its%columns(k) /= root) call add(list, root, its%columns(k), .false.)
    call close_stage(list)
    stride = size(its%columns)
    allocate(low(stride), high(stride), has(stride))
    do d = size(its%extent), 1, -1
      stride = stride / its%extent(d)
      below = mod(k, stride)
      n = 1
      low(1) = 0
      high(1) = its%extent(d)
      has(1) = mod(k / stride, its%extent(d))
      do while (n < its%extent(d))
        do i = n, 1, -1
          if (high(i) - low(i) < 2) cycle
          half = (high(i) - low(i) + 1) / 2
          if (has(i) < low(i) + half) then
            other = min(has(i) + half, high(i) - 1)
          else
            other = has(i) - half
          end if
          call send_line(has(i), other)
          n = n + 1
          high(n) = high(i)
          high(i) = low(i) + half
          low(n) = high(i)
          has(n) = max(has(i), other)
          has(i) = min(has(i), other)
        end do
        call close_stage(list)
      end do
    end do
    do i = 1, maxval(its%fold)
      do column = 0, size(members) - 1
        if (its%fold(column) == i .and. column /= root) call add(list, its%columns(its%place(column)), column, .false.)
      end do
      call close_stage(list)
    end do
  contains
    ! A place on the line sends to another one, in all lines that have the data by now.
    subroutine send_line(from, to)
      integer, intent(in) :: from, to
      integer :: beyond
      do beyond = 0, size(its%columns) - 1, stride * its%extent(d)
        call add(list, its%columns(below + stride * from + beyond), its%columns(below + stride * to + beyond), .false.)
      end do
    end subroutine send_line
  end subroutine halve

  ! --- exchanges -----------------------------------------------------------------------------------------------

  ! The stages after which all columns have what all had: recursive doubling, by dimensions or in one row; or a tree up
  ! and down again.
  subroutine esp_exchange(list, how, members)
    type(esp_stage_list), intent(out) :: list
    character(len=*), intent(in) :: how
    integer, intent(in) :: members(0:)
    type(esp_stage_list) :: down
    type(core) :: its
    integer :: d, i, bit, power, stride, at, column
    if (dimensional(how)) then
      call find_core(its, members)
    else if (how == 'recursive_doubling') then
      its%extent = (/ size(members) /)
      its%columns = (/ (i, i = 0, size(members) - 1) /)
      call from_zero(its, size(members))
    else
      call esp_tree(list, how, members, 0, .true.)
      call esp_tree(down, how, members, 0, .false.)
      do i = 1, down%count
        if (down%stage(i) > down%stage(max(1, i - 1))) call close_stage(list)
        call add(list, down%from(i), down%to(i), .false.)
      end do
      call close_stage(list)
      return
    end if
    call begin(list)
    do i = 1, maxval(its%fold)
      do column = 0, size(members) - 1
        if (its%fold(column) == i) call add(list, column, its%columns(its%place(column)), .true.)
      end do
      call close_stage(list)
    end do
    stride = 1
    do d = 1, size(its%extent)
      power = esp_power_below(its%extent(d))
      call pairs(-power, .true.)
      bit = 1
      do while (bit < power)
        call pairs(bit, .true.)
        bit = 2 * bit
      end do
      call pairs(-power, .false.)
      stride = stride * its%extent(d)
    end do
    do i = 1, maxval(its%fold)
      do column = 0, size(members) - 1
        if (its%fold(column) == i) call add(list, its%columns(its%place(column)), column, .false.)
      end do
      call close_stage(list)
    end do
  contains
    ! Places on each line exchange with place xor bit; below 0: those from -bit on send to place + bit, or get back.
    subroutine pairs(bit, adds)
      integer, intent(in) :: bit
      logical, intent(in) :: adds
      integer :: i, other
      do i = 0, size(its%columns) - 1
        at = mod(i / stride, its%extent(d))
        if (bit < 0 .neqv. at >= power) cycle
        other = i + bit * stride
        if (bit > 0) other = i + stride * (ieor(at, bit) - at)
        if (adds) call add(list, its%columns(i), its%columns(other), .true.)
        if (.not. adds) call add(list, its%columns(other), its%columns(i), .false.)
      end do
      call close_stage(list)
    end subroutine pairs
  end subroutine esp_exchange

  ! Bounds of a core in which nobody is outside.
  subroutine from_zero(its, p)
    type(core), intent(inout) :: its
    integer, intent(in) :: p
    integer, allocatable :: columns(:)
    columns = its%columns
    deallocate(its%columns)
    allocate(its%columns(0:size(columns) - 1), its%place(0:p - 1), its%fold(0:p - 1))
    its%columns = columns
    its%fold = 0
  end subroutine from_zero

  ! --- groups in the machine -----------------------------------------------------------------------------------

  ! While the nodes of the members are not all of a box, the slab (a value of a coordinate) with the smallest share of
  ! its places taken is left out; of equal ones, the last.
  subroutine find_core(its, members)
    type(core), intent(out) :: its
    integer, intent(in) :: members(0:)
    integer :: at(size(box), 0:size(members) - 1), used(size(box), 0:maxval(box) - 1), extent(size(box))
    integer :: d, v, i, k, p, left, full, worst, worst_d, worst_v, stride, best
    logical :: inside(0:size(members) - 1)
    p = size(members)
    do i = 0, p - 1
      left = node_of(members(i))
      do d = 1, size(box)
        at(d, i) = mod(left, box(d))
        left = left / box(d)
      end do
    end do
    inside = .true.
    do
      used = 0
      do i = 0, p - 1
        if (.not. inside(i)) cycle
        do d = 1, size(box)
          used(d, at(d, i)) = used(d, at(d, i)) + 1
        end do
      end do
      extent = count(used > 0, 2)
      full = product(extent)
      if (full == count(inside)) exit
      worst = huge(0)
      worst_d = 0
      worst_v = 0
      do d = 1, size(box)
        if (extent(d) < 2) cycle
        do v = 0, box(d) - 1
          if (used(d, v) == 0 .or. used(d, v) * extent(d) > worst) cycle
          worst = used(d, v) * extent(d)
          worst_d = d
          worst_v = v
        end do
      end do
      inside = inside .and. at(worst_d, :) /= worst_v
    end do
    its%extent = pack(extent, extent > 1)
    its%columns = pack((/ (i, i = 0, p - 1) /), inside)
    call from_zero(its, p)
    do i = 0, p - 1
      its%place(i) = 0
      stride = 1
      do d = 1, size(box)
        best = -1
        do v = 0, box(d) - 1
          if (used(d, v) == 0) cycle
          if (best >= 0) then
            if (abs(v - at(d, i)) >= abs(best - at(d, i))) cycle
          end if
          best = v
        end do
        its%place(i) = its%place(i) + stride * (count(used(d, :best) > 0) - 1)
        stride = stride * extent(d)
      end do
      if (inside(i)) cycle
      its%fold(i) = 1
      do k = 0, i - 1
        if (.not. inside(k) .and. its%place(k) == its%place(i)) its%fold(i) = its%fold(i) + 1
      end do
    end do
  end subroutine find_core

end module esp_stages
