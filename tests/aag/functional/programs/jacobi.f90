program jacobi
integer, parameter :: n = 64
real*8 a(0:n+1,0:n+1), b(0:n+1,0:n+1), err, tol
integer i, j, it
do j = 0, n+1
  do i = 0, n+1
    a(i,j) = 0.0d0
    b(i,j) = 0.0d0
  end do
end do
do i = 0, n+1
  a(i,0) = 1.0d0
  a(0,i) = 2.0d0 * i / (n + 1)
end do
tol = 1.0d-4
err = 1.0d0
it = 0
do while (err > tol)
  err = 0.0d0
  do j = 1, n
    do i = 1, n
      b(i,j) = 0.25d0 * (a(i-1,j) + a(i+1,j) + a(i,j-1) + a(i,j+1))
      err = max(err, abs(b(i,j) - a(i,j)))
    end do
  end do
  do j = 1, n
    do i = 1, n
      a(i,j) = b(i,j)
    end do
  end do
  it = it + 1
end do
print *, it
end
