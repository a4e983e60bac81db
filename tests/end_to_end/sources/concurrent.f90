program concurrent
  implicit none
  integer, parameter :: n = 12
  real(8) :: x(n,n), y(n,n), s, t, w(3), most
  integer :: j
!HPF$ DISTRIBUTE x(BLOCK,*)
!HPF$ ALIGN y(:,:) WITH x(:,:)
  t = 5; w = 2; s = 100; most = -1; j = 3
  do concurrent (integer :: i = 1:n, k = 1:n, i /= k) local(t) shared(x)
    t = i + 10*k
    x(i,k) = t
  end do
  do concurrent (integer(8) :: i = 1:n) default(none) shared(x) ! the diagonal
    x(i,i) = -i
  end do
  y = 0
  outer: do concurrent (integer :: i = 1:n, j = 1:n) local_init(w) local(t) &
      shared(x, y) &
      reduce(+: s) reduce(max: most)
    t = x(i,j)
    if (t < 0) cycle outer
    w(2) = halved(w(2)) + t
    y(i,j) = w(1) + w(2)
    s = s + t
    most = max(most, y(i,j))
  end do outer
  call smooth(x, s)
  print *, sum(x), sum(y), s, most, j, t, w
contains
  pure function halved(x) result(r)
    real(8), intent(in) :: x
    real(8) :: r
    r = 0.5d0 * x
  end function
  extrinsic(hpf_serial) subroutine smooth(x, r)
    real(8), intent(inout) :: x(:,:)
    real(8) :: r
    integer :: i
    do i = 2, size(x, 1)
      x(i,1) = 0.5d0 * (x(i-1,1) + x(i,1))
      if (x(i,1) > r) return
    end do
    r = x(1,1)
  end subroutine
end program
