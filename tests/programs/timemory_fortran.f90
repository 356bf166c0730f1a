! tests/programs/timemory_fortran.f90 - the module timemory_mallocp, in all its cases.
!
! Prints, as JSON, what the functions returned.
program timemory_fortran
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use timemory_mallocp
    implicit none

    integer(int64) :: inner, outer, one, two, left(4)

    call foo(10) ! before: not counted
    call timemory_register_mallocp()
    call foo(100) ! counted
    inner = bar(200) ! counted, and by its own window
    call timemory_deregister_mallocp()
    call foo(500) ! not counted
    outer = bar(1000) ! by its own window
    call foo(700) ! not counted

    one = timemory_start_mallocp()
    two = timemory_start_mallocp()
    call foo(3)
    left(1) = timemory_stop_mallocp(one)
    call foo(4) ! by the second alone
    left(2) = timemory_stop_mallocp(-1_int64)
    left(3) = timemory_stop_mallocp(one)
    left(4) = timemory_stop_mallocp(two)
    print '(4(a, i0), a, 3(i0, ", "), i0, a)', '{"inner": ', inner, ', "outer": ', outer, &
        ', "one": ', one, ', "two": ', two, ', "left": [', left, ']}'

contains

    ! One block of N doubles.
    subroutine foo(n)
        integer, intent(in) :: n
        real(real64), allocatable, volatile :: block(:)

        allocate (block(n))
        deallocate (block)
    end subroutine foo

    integer(int64) function bar(n)
        integer, intent(in) :: n
        integer(int64) :: ignored

        bar = timemory_start_mallocp()
        call foo(n)
        call foo(2 * n)
        ignored = timemory_stop_mallocp(bar)
    end function bar

end program timemory_fortran
