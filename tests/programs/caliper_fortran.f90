! tests/programs/caliper_fortran.f90 - the calls that Caliper's tests and examples in Fortran
! make.
!
! Allocates 80 bytes in main/work, 800 in main/work/inner with a value, and 8000 in each of
! 3 iterations of main/steps.
program caliper_fortran
    use, intrinsic :: iso_fortran_env, only: real64
    use caliper_mod
    implicit none

    type(ScopeAnnotation) :: whole, work
    type(Annotation) :: run, level, inner
    type(ConfigManager) :: manager
    real(real64), allocatable :: x(:)
    integer :: i

    call cali_init()
    manager = ConfigManager_new()
    call manager%set_default_parameter("aggregate_across_ranks", "false")
    call manager%add("runtime-report")
    if (manager%error()) print *, manager%error_msg()
    call manager%start

    whole = ScopeAnnotation_begin("main")
    work = ScopeAnnotation_begin("work")
    run = Annotation_new_with_properties("run.int", ior(CALI_ATTR_GLOBAL, CALI_ATTR_ASVALUE))
    call run%set_int(42)
    call Annotation_delete(run)
    call take(10)
    inner = Annotation_new_with_properties("part", CALI_ATTR_NESTED)
    level = Annotation_new("level")
    call inner%begin_string("inner")
    call level%begin_int(3)
    call take(100)
    call level%end
    call inner%end
    call ScopeAnnotation_end(work)

    call cali_begin_string_byname("loop", "steps")
    do i = 1, 3
        call cali_begin_int_byname("step", i)
        call take(1000)
        call cali_end_byname("step")
    end do
    call cali_end_byname("loop")
    call cali_begin_region("empty")
    call cali_end_region("empty")
    call ScopeAnnotation_end(whole)

    call manager%flush
    call ConfigManager_delete(manager)

contains

    subroutine take(count)
        integer, intent(in) :: count

        allocate (x(count))
        x = 1
        if (sum(x) < 1) stop 1
        deallocate (x)
    end subroutine take
end program caliper_fortran
