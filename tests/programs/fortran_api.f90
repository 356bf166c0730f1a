! tests/programs/fortran_api.f90 - every procedure of the module tidemark, once.
program fortran_api
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env
    use tidemark
    implicit none

    real(real32), allocatable, target :: r4(:)
    real(real64), allocatable, target :: r8(:, :, :)
    complex(real32), allocatable, target :: c4(:, :)
    complex(real64), allocatable, target :: c8(:)
    integer(int8), allocatable, target :: i1(:)
    integer(int16), allocatable, target :: i2(:)
    integer(int32), allocatable, target :: i4(:)
    integer(int64), allocatable, target :: i8(:, :, :, :, :, :, :)
    logical, allocatable, target :: flags(:)
    character(2000) :: long
    integer(int64) :: window
    type(tide_stats) :: stats
    type(tide_found_block) :: block
    integer(c_int) :: answer

    call tide_region_begin("outer")
    call tide_region_begin("with blanks   ")
    call tide_region_end("with blanks")
    call tide_region_end("outer")
    call tide_phase_begin("phase")
    call tide_phase_end("phase")
    call tide_loop_begin("loop")
    call tide_iteration(-3)
    call tide_iteration(5000000000_int64)
    call tide_loop_end("loop")

    allocate (r4(5), r8(2, 3, 4), c4(6, 7), c8(8), i1(9), i2(10), i4(11), flags(12))
    allocate (i8(1, 2, 1, 2, 1, 2, 3))
    call tide_label(r4, "r4")
    call tide_label(r8, "r8")
    call tide_label(c4, "c4")
    call tide_label(c8, "c8")
    call tide_label(i1, "i1")
    call tide_label(i2, "i2")
    call tide_label(i4, "i4")
    call tide_label(i8, "i8")
    call tide_label(flags, "flags")
    call tide_label(r8(:, :, 2), "plane")
    call tide_label(r8(1, :, :), "in pieces")
    call tide_label(c_loc(r8), "memory", 192_c_size_t)
    call tide_unlabel(c_loc(r8))
    call tide_pool_alloc("pool", c_loc(i1), 4_c_size_t, "piece")
    call tide_pool_free("pool", c_loc(i1))

    call tide_set("number", 7_int32)
    call tide_set("number", -8_int64)
    call tide_set("ratio", 0.5_real32)
    call tide_set("ratio", 0.25_real64)
    call tide_set("stage   ", "warm up   ")
    call tide_set_address("place", c_loc(i1(3)))
    call tide_unset("ratio")
    call tide_event(41)
    call tide_event(6000000000_int64)
    call tide_snapshot("moment")
    call tide_pause(tide_scope_thread)
    call tide_resume(tide_scope_thread)

    window = tide_start()
    window = tide_start("named", tide_scope_thread)
    call tide_peek(window, stats)
    print '(10(i0, 1x), 3(f0.1, 1x))', stats%requested_bytes, stats%used_bytes, &
        stats%freed_bytes, stats%alloc_calls, stats%free_calls, stats%failed_calls, &
        stats%live_bytes, stats%peak_bytes, stats%smallest_bytes, stats%largest_bytes, &
        stats%mean_bytes, stats%stddev_bytes, stats%seconds
    call tide_stop(window)
    call tide_stop(5_int64, stats)
    print '(i0, 1x, l1)', stats%largest_bytes, tide_present()

    call tide_find(c_loc(i1), block, answer)
    print '(12(i0, 1x), a, 1x, a)', block%address, block%bytes, block%used_bytes, &
        block%offset, block%uid, block%element_bytes, block%index, block%dimensions, &
        block%position(1:3), block%holder, trim(block%label), trim(block%pool)
    print '(i0)', answer
    call tide_find(c_loc(i2), block)

    long = repeat("n", 2000)
    call tide_region_begin(long)
end program fortran_api
