program list
integer, parameter :: n = 5000
integer next(n), head, i, it, seed, k
seed = 17
do i = 1, n
  next(i) = i + 1
end do
next(n) = 0
do i = 1, n
  seed = mod(seed * 1103515245 + 12345, 2147483647)
  if (seed < 0) seed = -seed
  k = mod(seed, n) + 1
  if (next(k) /= 0) next(k) = next(next(k))
end do
it = 0
head = 1
do while (head /= 0)
  head = next(head)
  it = it + 1
end do
print *, it
end
