program bisect
real lo, hi, mid, f
integer it
lo = 1.0; hi = 2.0; it = 0
do while (hi - lo > 1.0e-6)
  mid = 0.5 * (lo + hi)
  f = mid * mid * mid - mid - 2.0
  if (f > 0.0) then
    hi = mid
  else
    lo = mid
  end if
  it = it + 1
  if (it >= 1000) exit
end do
print *, it
end
