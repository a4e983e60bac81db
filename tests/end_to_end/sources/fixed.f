      program fx
      parameter (n=24)
      real*8 a(n), b(n,n), c(n), s
      integer i, j
chpf$ processors p(4)
CHPF$ DISTRIBUTE a(block) onto p
*HPF$ ALIGN (i) WITH a(i)
*HPF$1:: c
chpf$ distribute b(*,cyclic(3)) onto p
      do 10 i=1,n
        c(i) = 2 * i
 10   continue
chpf$ independent, new(t)
      do 20 i=2,n
        t = i
        a(i) = t + c(i-1)
 20   continue
      do 30 j=1,n
      do 30 i=1,n
        b(i,j) = i*j + a(i)
   30 continue
      s = 0
      do 40 i=2,n
        a(i) = a(i-1) + c(i)
        if (a(i) .gt. 1.0) then
          s = s + 1
        end if
   40 continue
      write(6,100) a(1), 'it''s ! not'
  100 format(1x,'x',f10.3)
      call sub(a,n)
      stop
      end
      subroutine sub(x,n)
      real*8 x(n)
chpf$ distribute x*(block)
      x(1) = 0
      end
