! timemory_mallocp.f90 - timemory's mallocp functions in Fortran, for tidemark.
!
!     use timemory_mallocp
!     integer(int64) :: idx
!     idx = timemory_start_mallocp()
!     ...
!     left = timemory_stop_mallocp(idx)
!
! Compile it with tidemark.f90.  Each start is a window of tidemark's that counts the whole
! process until its stop.  Numbers are handles: the first is 1, nested ones count on; one
! that has ended, or never began, ends nothing.  TIMEMORY_ENABLE_MALLOCP or
! ENABLE_TIMEMORY_MALLOCP set to 0, OFF, NO or FALSE: starts give 0 and count nothing.
!
! The functions have C names as well, with an underscore at their end.  Threads must not
! start and stop at the same time.
module timemory_mallocp
    use, intrinsic :: iso_c_binding, only: c_int64_t
    use tidemark, only: tide_set, tide_start, tide_stop
    implicit none
    private

    public :: timemory_start_mallocp, timemory_stop_mallocp
    public :: timemory_register_mallocp, timemory_deregister_mallocp

    integer, parameter :: windows_max = 1024

    integer(c_int64_t) :: windows(windows_max) = 0
    logical :: open(windows_max) = .false.
    integer(c_int64_t) :: registered = 0

    ! Read once, since Fortran takes memory to read it: that is not to be in a window.
    logical :: known = .false., off = .false.

contains

    function timemory_start_mallocp() bind(C, name="timemory_start_mallocp_") result(number)
        integer(c_int64_t) :: number

        number = start_window("mallocp")
    end function timemory_start_mallocp

    function timemory_stop_mallocp(number) bind(C, name="timemory_stop_mallocp_") &
        result(left)
        integer(c_int64_t), value :: number
        integer(c_int64_t) :: left

        if (number >= 1 .and. number <= windows_max) then
            if (open(number)) then
                call tide_stop(windows(number))
                open(number) = .false.
            end if
        end if
        left = count(open)
    end function timemory_stop_mallocp

    subroutine timemory_register_mallocp() bind(C, name="timemory_register_mallocp_")
        if (registered == 0) registered = start_window("mallocp (registered)")
    end subroutine timemory_register_mallocp

    subroutine timemory_deregister_mallocp() bind(C, name="timemory_deregister_mallocp_")
        integer(c_int64_t) :: left

        left = timemory_stop_mallocp(registered)
        registered = 0
    end subroutine timemory_deregister_mallocp

    function start_window(name) result(number)
        character(*), intent(in) :: name
        integer(c_int64_t) :: number

        if (.not. known) then
            off = is_off("TIMEMORY_ENABLE_MALLOCP")
            if (.not. off) off = is_off("ENABLE_TIMEMORY_MALLOCP")
            known = said_units("TIMEMORY_MEMORY_UNITS")
            if (.not. known) known = said_units("MEMORY_UNITS")
            known = .true.
            if (off) call tide_stop(tide_start("mallocp (off)"))
        end if
        number = 0
        if (off) return
        do number = 1, windows_max
            if (open(number)) cycle
            open(number) = .true.
            windows(number) = tide_start(name)
            return
        end do
        number = 0
    end function start_window

    ! The report uses them.
    logical function said_units(variable)
        character(*), intent(in) :: variable
        character(8) :: value
        integer :: problem

        call get_environment_variable(variable, value, status=problem)
        said_units = problem == 0 .and. value /= ""
        if (said_units) call tide_set("timemory.memory_units", trim(value))
    end function said_units

    logical function is_off(variable)
        character(*), intent(in) :: variable
        character(8) :: value
        integer :: i, problem

        call get_environment_variable(variable, value, status=problem)
        do i = 1, len(value)
            if (value(i:i) >= "A" .and. value(i:i) <= "Z") &
                value(i:i) = achar(iachar(value(i:i)) + 32)
        end do
        is_off = problem == 0 .and. (value == "0" .or. value == "off" .or. &
            value == "no" .or. value == "false")
    end function is_off

end module timemory_mallocp
