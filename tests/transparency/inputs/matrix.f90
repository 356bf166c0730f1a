! Allocatable arrays, automatic reallocation, OpenMP, internal writes.
program matrix
    implicit none
    real(8), allocatable :: a(:,:), b(:,:), c(:,:), list(:)
    character(len=:), allocatable :: text
    integer :: n, i
    do n = 10, 200, 10
        allocate (a(n, n), b(n, n))
        a = reshape([(real(mod(i, 17), 8), i = 1, n * n)], [n, n])
        b = transpose(a)
        c = matmul(a, b)
        deallocate (a, b)
    end do
    list = [real(8) ::]
    do i = 1, 2000
        list = [list, real(i, 8)]
    end do
    text = repeat('tide ', 100)
    !$omp parallel do private(a) reduction(+:n)
    do i = 1, 200
        allocate (a(i, i))
        a = i
        n = n + size(a)
        deallocate (a)
    end do
    print '(f20.6, 1x, f12.1, 1x, i0, 1x, i0)', sum(c), sum(list), len(text), n
end program matrix
