! A plain BLAS and LAPACK, as the textbooks have it: to be linked, and with -DCOUNTED to count its operations.

module numbers
  implicit none
#ifdef COUNTED
  type number
    double precision :: v = 0
  end type
  integer(8) :: multiplications = 0, additions = 0, comparisons = 0
  interface operator(+)
    procedure add
  end interface
  interface operator(-)
    procedure subtract, negate
  end interface
  interface operator(*)
    procedure multiply
  end interface
  interface operator(/)
    procedure divide
  end interface
  interface operator(>)
    procedure exceeds
  end interface
  interface assignment(=)
    procedure assign
  end interface
  interface sqrt
    procedure root
  end interface
  interface abs
    procedure magnitude
  end interface
contains
  type(number) function add(a, b)
    type(number), intent(in) :: a, b
    additions = additions + 1
    add%v = a%v + b%v
  end function
  type(number) function subtract(a, b)
    type(number), intent(in) :: a, b
    additions = additions + 1
    subtract%v = a%v - b%v
  end function
  type(number) function negate(a)
    type(number), intent(in) :: a
    negate%v = -a%v
  end function
  type(number) function multiply(a, b)
    type(number), intent(in) :: a, b
    multiplications = multiplications + 1
    multiply%v = a%v * b%v
  end function
  type(number) function divide(a, b)
    type(number), intent(in) :: a, b
    multiplications = multiplications + 1
    divide%v = a%v / b%v
  end function
  type(number) function root(a)
    type(number), intent(in) :: a
    multiplications = multiplications + 1
    root%v = sqrt(a%v)
  end function
  type(number) function magnitude(a)
    type(number), intent(in) :: a
    comparisons = comparisons + 1
    magnitude%v = abs(a%v)
  end function
  logical function exceeds(a, b)
    type(number), intent(in) :: a, b
    comparisons = comparisons + 1
    exceeds = a%v > b%v
  end function
  subroutine assign(a, b)
    type(number), intent(out) :: a
    double precision, intent(in) :: b
    a%v = b
  end subroutine
#endif
end module

#ifdef COUNTED
#define NUMBER type(number)
#else
#define NUMBER double precision
#endif

subroutine daxpy(n, a, x, incx, y, incy)
  use numbers
  implicit none
  integer :: n, incx, incy, i
  NUMBER :: a, x(*), y(*)
  do i = 0, n - 1
    y(1 + i * incy) = y(1 + i * incy) + a * x(1 + i * incx)
  end do
end subroutine

NUMBER function ddot(n, x, incx, y, incy)
  use numbers
  implicit none
  integer :: n, incx, incy, i
  NUMBER :: x(*), y(*)
  ddot = 0d0
  do i = 0, n - 1
    ddot = ddot + x(1 + i * incx) * y(1 + i * incy)
  end do
end function

NUMBER function dnrm2(n, x, incx)
  use numbers
  implicit none
  integer :: n, incx, i
  NUMBER :: x(*)
  dnrm2 = 0d0
  do i = 0, n - 1
    dnrm2 = dnrm2 + x(1 + i * incx) * x(1 + i * incx)
  end do
  dnrm2 = sqrt(dnrm2)
end function

NUMBER function dasum(n, x, incx)
  use numbers
  implicit none
  integer :: n, incx, i
  NUMBER :: x(*)
  dasum = 0d0
  do i = 0, n - 1
    dasum = dasum + abs(x(1 + i * incx))
  end do
end function

subroutine dscal(n, a, x, incx)
  use numbers
  implicit none
  integer :: n, incx, i
  NUMBER :: a, x(*)
  do i = 0, n - 1
    x(1 + i * incx) = a * x(1 + i * incx)
  end do
end subroutine

subroutine dcopy(n, x, incx, y, incy)
  use numbers
  implicit none
  integer :: n, incx, incy, i
  NUMBER :: x(*), y(*)
  do i = 0, n - 1
    y(1 + i * incy) = x(1 + i * incx)
  end do
end subroutine

subroutine dswap(n, x, incx, y, incy)
  use numbers
  implicit none
  integer :: n, incx, incy, i
  NUMBER :: x(*), y(*), t
  do i = 0, n - 1
    t = y(1 + i * incy)
    y(1 + i * incy) = x(1 + i * incx)
    x(1 + i * incx) = t
  end do
end subroutine

subroutine drot(n, x, incx, y, incy, c, s)
  use numbers
  implicit none
  integer :: n, incx, incy, i
  NUMBER :: x(*), y(*), c, s, t
  do i = 0, n - 1
    t = c * x(1 + i * incx) + s * y(1 + i * incy)
    y(1 + i * incy) = c * y(1 + i * incy) - s * x(1 + i * incx)
    x(1 + i * incx) = t
  end do
end subroutine

integer function idamax(n, x, incx)
  use numbers
  implicit none
  integer :: n, incx, i
  NUMBER :: x(*), most, each
  idamax = 0
  most = -1d0
  do i = 0, n - 1
    each = abs(x(1 + i * incx))
    if (each > most) then
      most = each
      idamax = i + 1
    end if
  end do
end function

subroutine dgemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy)
  use numbers
  implicit none
  character :: trans
  integer :: m, n, lda, incx, incy, i, j
  NUMBER :: alpha, beta, a(lda, *), x(*), y(*), t
  if (trans == 'n' .or. trans == 'N') then
    do i = 1, m
      t = 0d0
      do j = 1, n
        t = t + a(i, j) * x(1 + (j - 1) * incx)
      end do
      y(1 + (i - 1) * incy) = alpha * t + beta * y(1 + (i - 1) * incy)
    end do
  else
    do j = 1, n
      t = 0d0
      do i = 1, m
        t = t + a(i, j) * x(1 + (i - 1) * incx)
      end do
      y(1 + (j - 1) * incy) = alpha * t + beta * y(1 + (j - 1) * incy)
    end do
  end if
end subroutine

subroutine dger(m, n, alpha, x, incx, y, incy, a, lda)
  use numbers
  implicit none
  integer :: m, n, lda, incx, incy, i, j
  NUMBER :: alpha, a(lda, *), x(*), y(*), t
  do j = 1, n
    t = alpha * y(1 + (j - 1) * incy)
    do i = 1, m
      a(i, j) = a(i, j) + x(1 + (i - 1) * incx) * t
    end do
  end do
end subroutine

subroutine dsymv(uplo, n, alpha, a, lda, x, incx, beta, y, incy)
  use numbers
  implicit none
  character :: uplo
  integer :: n, lda, incx, incy, i, j
  NUMBER :: alpha, beta, a(lda, *), x(*), y(*), t
  do i = 1, n
    t = 0d0
    do j = 1, n
      if ((j > i) .eqv. (uplo == 'u' .or. uplo == 'U')) then
        t = t + a(i, j) * x(1 + (j - 1) * incx)
      else
        t = t + a(j, i) * x(1 + (j - 1) * incx)
      end if
    end do
    y(1 + (i - 1) * incy) = alpha * t + beta * y(1 + (i - 1) * incy)
  end do
end subroutine

! With a lower triangle, not transposed, its diagonal not of ones.
subroutine dtrsv(uplo, trans, diag, n, a, lda, x, incx)
  use numbers
  implicit none
  character :: uplo, trans, diag
  integer :: n, lda, incx, i, j
  NUMBER :: a(lda, *), x(*)
  do i = 1, n
    do j = 1, i - 1
      x(1 + (i - 1) * incx) = x(1 + (i - 1) * incx) - a(i, j) * x(1 + (j - 1) * incx)
    end do
    x(1 + (i - 1) * incx) = x(1 + (i - 1) * incx) / a(i, i)
  end do
end subroutine

! Without transposition.
subroutine dgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
  use numbers
  implicit none
  character :: transa, transb
  integer :: m, n, k, lda, ldb, ldc, i, j, l
  NUMBER :: alpha, beta, a(lda, *), b(ldb, *), c(ldc, *), t
  do j = 1, n
    do i = 1, m
      c(i, j) = beta * c(i, j)
    end do
    do l = 1, k
      t = alpha * b(l, j)
      do i = 1, m
        c(i, j) = c(i, j) + a(i, l) * t
      end do
    end do
  end do
end subroutine

! The lower triangle, not transposed.
subroutine dsyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
  use numbers
  implicit none
  character :: uplo, trans
  integer :: n, k, lda, ldc, i, j, l
  NUMBER :: alpha, beta, a(lda, *), c(ldc, *), t
  do j = 1, n
    do i = j, n
      t = 0d0
      do l = 1, k
        t = t + a(i, l) * a(j, l)
      end do
      c(i, j) = alpha * t + beta * c(i, j)
    end do
  end do
end subroutine

! From the left, with a lower triangle, not transposed, its diagonal not of ones.
subroutine dtrsm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
  use numbers
  implicit none
  character :: side, uplo, transa, diag
  integer :: m, n, lda, ldb, i, j, l
  NUMBER :: alpha, a(lda, *), b(ldb, *)
  do j = 1, n
    do i = 1, m
      b(i, j) = alpha * b(i, j)
      do l = 1, i - 1
        b(i, j) = b(i, j) - a(i, l) * b(l, j)
      end do
      b(i, j) = b(i, j) / a(i, i)
    end do
  end do
end subroutine

subroutine dgetrf(m, n, a, lda, ipiv, info)
  use numbers
  implicit none
  integer :: m, n, lda, ipiv(*), info, i, j, l, p
  NUMBER :: a(lda, *), t
  info = 0
  do j = 1, min(m, n)
    p = j
    do i = j + 1, m
      if (abs(a(i, j)) > abs(a(p, j))) p = i
    end do
    ipiv(j) = p
    if (p /= j) then
      do l = 1, n
        t = a(j, l)
        a(j, l) = a(p, l)
        a(p, l) = t
      end do
    end if
    do i = j + 1, m
      a(i, j) = a(i, j) / a(j, j)
      do l = j + 1, n
        a(i, l) = a(i, l) - a(i, j) * a(j, l)
      end do
    end do
  end do
end subroutine

! Not transposed.
subroutine dgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb, info)
  use numbers
  implicit none
  character :: trans
  integer :: n, nrhs, lda, ldb, ipiv(*), info, i, j, l
  NUMBER :: a(lda, *), b(ldb, *), t
  info = 0
  do l = 1, nrhs
    do i = 1, n
      if (ipiv(i) /= i) then
        t = b(i, l)
        b(i, l) = b(ipiv(i), l)
        b(ipiv(i), l) = t
      end if
    end do
    do i = 1, n
      do j = 1, i - 1
        b(i, l) = b(i, l) - a(i, j) * b(j, l)
      end do
    end do
    do i = n, 1, -1
      do j = i + 1, n
        b(i, l) = b(i, l) - a(i, j) * b(j, l)
      end do
      b(i, l) = b(i, l) / a(i, i)
    end do
  end do
end subroutine

! The lower triangle.
subroutine dpotrf(uplo, n, a, lda, info)
  use numbers
  implicit none
  character :: uplo
  integer :: n, lda, info, i, j, l
  NUMBER :: a(lda, *)
  info = 0
  do j = 1, n
    do l = 1, j - 1
      do i = j, n
        a(i, j) = a(i, j) - a(i, l) * a(j, l)
      end do
    end do
    a(j, j) = sqrt(a(j, j))
    do i = j + 1, n
      a(i, j) = a(i, j) / a(j, j)
    end do
  end do
end subroutine
