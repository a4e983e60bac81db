! Prints procedure, size, multiplications (also divisions and roots), additions and comparisons of one call each.
program counting
  use numbers
  implicit none
  type(number), allocatable :: a(:, :), b(:, :), c(:, :), x(:), y(:)
  type(number) :: one, s
  type(number), external :: ddot, dnrm2, dasum
  integer, allocatable :: piv(:)
  integer, external :: idamax
  integer :: n, info, place
  one = 1d0
  do n = 2, 9
    allocate(a(n, n), b(n, n), c(n, n), x(n), y(n), piv(n))
    call fill()
    call daxpy(n, one, x, 1, y, 1)
    call tell('daxpy')
    s = ddot(n, x, 1, y, 1)
    call tell('ddot')
    s = dnrm2(n, x, 1)
    call tell('dnrm2')
    s = dasum(n, x, 1)
    call tell('dasum')
    call dscal(n, one, x, 1)
    call tell('dscal')
    call drot(n, x, 1, y, 1, one, s)
    call tell('drot')
    place = idamax(n, x, 1)
    call tell('idamax')
    call dgemv('n', n, n, one, a, n, x, 1, one, y, 1)
    call tell('dgemv')
    call dger(n, n, one, x, 1, y, 1, a, n)
    call tell('dger')
    call dsymv('l', n, one, a, n, x, 1, one, y, 1)
    call tell('dsymv')
    call fill()
    call dtrsv('l', 'n', 'n', n, a, n, x, 1)
    call tell('dtrsv')
    call dgemm('n', 'n', n, n, n, one, a, n, b, n, one, c, n)
    call tell('dgemm')
    call dsyrk('l', 'n', n, n, one, a, n, one, c, n)
    call tell('dsyrk')
    call dtrsm('l', 'l', 'n', 'n', n, n, one, a, n, b, n)
    call tell('dtrsm')
    call fill()
    call dgetrf(n, n, a, n, piv, info)
    call tell('dgetrf')
    call dgetrs('n', n, n, a, n, piv, b, n, info)
    call tell('dgetrs')
    call fill()
    call dpotrf('l', n, a, n, info)
    call tell('dpotrf')
    deallocate(a, b, c, x, y, piv)
  end do
contains
  subroutine fill()
    integer :: i, j
    do j = 1, n
      x(j) = dble(j)
      y(j) = 1d0 / j
      do i = 1, n
        a(i, j) = merge(2d0 * n, 1d0 / (i + j), i == j)
        b(i, j) = dble(i - j)
        c(i, j) = dble(i * j)
      end do
    end do
  end subroutine
  subroutine tell(name)
    character(len=*), intent(in) :: name
    print '(a, 4(1x, i0))', name, n, multiplications, additions, comparisons
    multiplications = 0
    additions = 0
    comparisons = 0
  end subroutine
end program
