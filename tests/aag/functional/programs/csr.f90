program csr
integer, parameter :: n = 300, m = 3000
integer ri(m), ci(m), ptr(n+1), col(m), place(n), i, k, seed, it, j
real*8 v(m), val(m), x(n), y(n), err, old, s
seed = 12345
do k = 1, m
  seed = mod(seed * 3877 + 29573, 139968)
  ri(k) = 1 + mod(seed, n)
  seed = mod(seed * 3877 + 29573, 139968)
  ci(k) = 1 + mod(seed, n)
  v(k) = seed / 139968.0d0
end do
ptr = 0
do k = 1, m
  ptr(ri(k) + 1) = ptr(ri(k) + 1) + 1
end do
ptr(1) = 1
do i = 1, n
  ptr(i+1) = ptr(i+1) + ptr(i)
end do
do i = 1, n
  place(i) = ptr(i)
end do
do k = 1, m
  i = ri(k)
  col(place(i)) = ci(k)
  val(place(i)) = v(k)
  place(i) = place(i) + 1
end do
x = 1.0d0
it = 0
old = 0.0d0
err = 1.0d0
do while (err > 1.0d-4)
  do i = 1, n
    s = 0.0d0
    do k = ptr(i), ptr(i+1) - 1
      s = s + val(k) * x(col(k))
    end do
    y(i) = s + 0.5d0 * x(i)
  end do
  s = maxval(y)
  err = abs(s - old)
  old = s
  x = y / s
  it = it + 1
end do
print *, it, ptr
end
