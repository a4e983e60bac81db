! The kernels whose misses are counted. They are compiled apart from the driver, so that no call of them can be
! inlined or left out, and each works on parts of one COMMON block that the driver hands it.

subroutine lfk01(n, x, y, z)
  implicit none
  integer, intent(in) :: n
  double precision, intent(inout) :: x(n), y(n), z(n+11)
  integer :: k
  do k = 1, n
    x(k) = 0.05d0 + y(k) * (0.3d0 * z(k+10) + 0.7d0 * z(k+11))
  end do
end subroutine lfk01

subroutine lfk03(n, x, z, q)
  implicit none
  integer, intent(in) :: n
  double precision, intent(in) :: x(n), z(n)
  double precision, intent(out) :: q
  integer :: k
  q = 0.0d0
  do k = 1, n
    q = q + z(k) * x(k)
  end do
end subroutine lfk03

subroutine lfk09(n, px)
  implicit none
  integer, intent(in) :: n
  double precision, intent(inout) :: px(25, n)
  integer :: i
  do i = 1, n
    px(1, i) = 0.8d0 * px(13, i) - 0.7d0 * px(12, i) + 0.6d0 * px(11, i) - 0.5d0 * px(10, i) &
             + 0.4d0 * px(9, i) - 0.3d0 * px(8, i) + 0.2d0 * px(7, i) + 1.5d0 * (px(5, i) + px(6, i)) + px(3, i)
  end do
end subroutine lfk09

subroutine lfk22(n, u, v, w, x, y)
  implicit none
  integer, intent(in) :: n
  double precision, intent(inout) :: u(n), v(n), w(n), x(n), y(n)
  double precision, parameter :: c2 = 1.0d0 / 2.0d0, c3 = 1.0d0 / 6.0d0, c4 = 1.0d0 / 24.0d0, c5 = 1.0d0 / 120.0d0
  double precision :: t
  integer :: k
  do k = 1, n
    y(k) = u(k) / v(k)
    ! exp(y) - 1 by its series, in registers: no table, no stack, and the same lines on every processor and C library.
    t = y(k)
    w(k) = x(k) / (t * (1.0d0 + t * (c2 + t * (c3 + t * (c4 + t * c5)))))
  end do
end subroutine lfk22

! The same with the exponential of the C library, whose table, constants and stack take lines of their own.
subroutine lfk22_libm(n, u, v, w, x, y)
  implicit none
  integer, intent(in) :: n
  double precision, intent(inout) :: u(n), v(n), w(n), x(n), y(n)
  integer :: k
  do k = 1, n
    y(k) = u(k) / v(k)
    w(k) = x(k) / (exp(y(k)) - 1.0d0)
  end do
end subroutine lfk22_libm

subroutine jacobi(n, a, b)
  implicit none
  integer, intent(in) :: n
  double precision, intent(in) :: a(n, n)
  double precision, intent(inout) :: b(n, n)
  integer :: i, j
  do j = 2, n - 1
    do i = 2, n - 1
      b(i, j) = 0.25d0 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
    end do
  end do
end subroutine jacobi

subroutine jacobi_copy(n, a, b)
  implicit none
  integer, intent(in) :: n
  double precision, intent(inout) :: a(n, n), b(n, n)
  integer :: i, j
  do j = 2, n - 1
    do i = 2, n - 1
      b(i, j) = 0.25d0 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
    end do
  end do
  do j = 2, n - 1
    do i = 2, n - 1
      a(i, j) = b(i, j)
    end do
  end do
end subroutine jacobi_copy
