! driver KERNEL N REPETITIONS OFFSET...: runs a kernel on arrays that start at the given offsets (in numbers of
! 8 bytes, from 0) of the COMMON block `store`. Between two repetitions as little as possible is touched.
program driver
  implicit none
  integer, parameter :: room = 500000
  double precision :: store(room)
  common /store/ store
  character(len=16) :: kernel
  integer :: n, repetitions, offset(5), i, k
  double precision :: q

  call get_command_argument(1, kernel)
  n = number(2)
  repetitions = number(3)
  offset = 1
  do i = 1, command_argument_count() - 3
    offset(i) = 1 + number(3 + i)
  end do
  do k = 1, room
    store(k) = 0.5d0 + dble(mod(k, 7)) / 8.0d0
  end do
  q = 0.0d0
  select case (kernel)
  case ('lfk01')
    do i = 1, repetitions
      call lfk01(n, store(offset(1)), store(offset(2)), store(offset(3)))
    end do
  case ('lfk03')
    do i = 1, repetitions
      call lfk03(n, store(offset(1)), store(offset(2)), q)
    end do
  case ('lfk09')
    do i = 1, repetitions
      call lfk09(n, store(offset(1)))
    end do
  case ('lfk22')
    do i = 1, repetitions
      call lfk22(n, store(offset(1)), store(offset(2)), store(offset(3)), store(offset(4)), store(offset(5)))
    end do
  case ('lfk22+libm')
    do i = 1, repetitions
      call lfk22_libm(n, store(offset(1)), store(offset(2)), store(offset(3)), store(offset(4)), store(offset(5)))
    end do
  case ('jacobi')
    do i = 1, repetitions
      call jacobi(n, store(offset(1)), store(offset(2)))
    end do
  case ('jacobi+copy')
    do i = 1, repetitions
      call jacobi_copy(n, store(offset(1)), store(offset(2)))
    end do
  case default
    error stop 'unknown kernel'
  end select
  if (q + store(1) < -1.0d30) print *, q

contains

  integer function number(position)
    integer, intent(in) :: position
    character(len=16) :: text
    call get_command_argument(position, text)
    read (text, *) number
  end function number

end program driver
