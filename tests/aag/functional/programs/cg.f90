program cg
integer, parameter :: n = 96
real*8 a(n,n), x(n), r(n), p(n), q(n), rho, old, alpha, beta
integer i, j, it
do i = 1, n
  do j = 1, n
    a(i,j) = 1.0d0 / (1 + abs(i-j))**2
  end do
  a(i,i) = a(i,i) + 3 + mod(i,7)
end do
x = 0.0d0
do i = 1, n
  r(i) = sin(1.0d0*i)
end do
p = r
rho = dot_product(r, r)
it = 0
do
  if (sqrt(rho) < 1.0d-10) exit
  do i = 1, n
    q(i) = 0.0d0
    do j = 1, n
      q(i) = q(i) + a(i,j) * p(j)
    end do
  end do
  alpha = rho / dot_product(p, q)
  x = x + alpha * p
  r = r - alpha * q
  old = rho
  rho = sum(r * r)
  beta = rho / old
  p = r + beta * p
  it = it + 1
end do
print *, it
end
