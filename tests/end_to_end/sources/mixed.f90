module sizes
  implicit none
  integer, parameter :: n = 20, m = 2*n, steps = 4
end module sizes
program mixed
  use sizes
  implicit none
  real :: a(n, m), b(n, m), row(m), col(n), s, t
  integer :: i, j, k, idx(n)
  logical :: done
!HPF$ PROCESSORS p(2, 2)
!HPF$ TEMPLATE t2(n, 0:m)
!HPF$ DISTRIBUTE t2(CYCLIC(3), BLOCK) ONTO p
!HPF$ ALIGN a(i, j) WITH t2(i, j)
!HPF$ ALIGN b(i, j) WITH t2(n+1-i, j-1)
!HPF$ ALIGN row(j) WITH t2(*, j)
!HPF$ ALIGN col(:) WITH t2(:, 1)
!HPF$ DYNAMIC a
  idx = (/ (i, i = 1, n) /)
  a = 1.0; b = 2.0
  row = 0.0
  done = .false.
  k = 0
  do while (.not. done)
    where (a > 0.5)
      b = a * 2.0
    elsewhere
      b = -a
    end where
    a = cshift(b, shift=1, dim=1) + eoshift(b, -1, dim=2)
    row = sum(a, dim=1)
    col = maxval(b, dim=2)
    k = k + 1
    if (k >= steps) done = .true.
  end do
  select case (k)
  case (1, 2:3)
    a(1, :) = row
  case default
    a(:, 3:m:2) = b(:, 2:m-1:2)
  end select
!HPF$ REDISTRIBUTE t2(BLOCK, CYCLIC)
  forall (i = 1:n, j = 1:m, i /= j) a(i, j) = b(idx(i), j)
!HPF$ INDEPENDENT, NEW(t), REDUCTION(s)
  do j = 1, m
    t = row(j)
    s = s + t * t
  end do
  outer: do i = 2, n
    do j = 1, i
      if (j == 7) cycle outer
      a(i, j) = a(i-1, j) + 1.0
    end do
  end do outer
  print *, s, dot_product(row, row), a(3, 4), helper(s)
contains
  real function helper(x)
    real, intent(in) :: x
    helper = sqrt(abs(x))
  end function helper
end program mixed
