program pivot
integer, parameter :: n = 40
real*8 a(n,n), t, big, x
integer i, j, k, m, swaps, piv(n), it
do j = 1, n
  do i = 1, n
    a(i,j) = mod(i*37 + j*j*11 + i*j, 101) / 101.0d0
  end do
end do
swaps = 0
do k = 1, n - 1
  big = 0.0d0
  m = k
  do i = k, n
    if (abs(a(i,k)) > big) then
      big = abs(a(i,k))
      m = i
    end if
  end do
  piv(k) = m
  if (m /= k) then
    swaps = swaps + 1
    do j = k, n
      t = a(k,j)
      a(k,j) = a(m,j)
      a(m,j) = t
    end do
  end if
  do i = k + 1, n
    a(i,k) = a(i,k) / a(k,k)
    do j = k + 1, n
      a(i,j) = a(i,j) - a(i,k) * a(k,j)
    end do
  end do
end do
piv(n) = n
it = 0
do while (it < swaps)
  it = it + 1
end do
x = 0
do i = 1, n
  x = x + a(piv(i), piv(i))
end do
print *, it, piv
end
