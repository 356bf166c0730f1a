! examples/hydro_fortran.f90 - the gas of examples/hydro, in Fortran.
!
!     tidemark run hydro_fortran [--profile | --count] [CELLS [CYCLES]]
!
! The method is that of the C program, and so are its numbers.  Arrays are named for
! tidemark with their shapes, subroutines are regions.
module hydro_counts
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use tidemark
    implicit none
    private
    public :: named, print_counts

    integer, parameter :: labels_max = 16
    character(16) :: labels(labels_max)
    integer :: calls(labels_max) = 0
    integer(int64) :: bytes(labels_max) = 0
    integer :: label_count = 0

contains

    ! ARRAY was allocated: tell tidemark, and count it.
    subroutine named(array, label)
        real(real64), intent(in), target :: array(:, :, :, :)
        character(*), intent(in) :: label
        integer :: at

        call tide_label(array, label)
        do at = 1, label_count
            if (labels(at) == label) exit
        end do
        if (at > label_count) label_count = at
        labels(at) = label
        calls(at) = calls(at) + 1
        bytes(at) = bytes(at) + 8_int64 * size(array, kind=int64)
    end subroutine named

    subroutine print_counts()
        integer :: at

        print '(a)', '{"labels": ['
        do at = 1, label_count
            print '(3a, i0, a, i0, 2a)', '  {"label": "', trim(labels(at)), &
                '", "calls": ', calls(at), ', "bytes": ', bytes(at), '}', &
                merge(',', ' ', at < label_count)
        end do
        print '(a)', ']}'
    end subroutine print_counts

end module hydro_counts

module hydro_gas
    use, intrinsic :: iso_fortran_env, only: real64
    use hydro_counts
    use tidemark
    implicit none
    private
    public :: initialise, time_step, sweep, density

    integer, parameter :: fields = 5, density = 1, momentum = 2, energy = 5
    integer, parameter :: along = 2, across = 3, pressure = 5
    real(real64), parameter :: gamma = 1.4_real64, courant = 0.4_real64

contains

    ! A hot ball in the middle of a box, at rest.  Indices: x, y, z, field.
    subroutine initialise(gas, cells)
        real(real64), allocatable, target, intent(out) :: gas(:, :, :, :)
        integer, intent(in) :: cells
        real(real64) :: place(3)
        integer :: x, y, z

        call tide_region_begin("initialise")
        allocate (gas(cells, cells, cells, fields))
        call named(gas, "gas")
        gas = 0
        gas(:, :, :, density) = 1
        gas(:, :, :, energy) = 0.1_real64 / (gamma - 1)
        do z = 1, cells
            do y = 1, cells
                do x = 1, cells
                    place = [x, y, z] - 0.5_real64 - 0.5_real64 * cells
                    if (sqrt(sum(place**2)) / cells < 0.15_real64) &
                        gas(x, y, z, energy) = 10 / (gamma - 1)
                end do
            end do
        end do
        call tide_region_end("initialise")
    end subroutine initialise

    pure real(real64) function pressure_of(cell)
        real(real64), intent(in) :: cell(fields)

        pressure_of = (gamma - 1) * &
            (cell(energy) - 0.5_real64 * sum(cell(momentum:energy - 1)**2) / cell(density))
    end function pressure_of

    ! The longest time step that is stable.
    real(real64) function time_step(gas) result(step)
        real(real64), intent(in) :: gas(:, :, :, :)
        real(real64) :: cell(fields), fastest
        integer :: x, y, z

        call tide_region_begin("time_step")
        fastest = 0
        do z = 1, size(gas, 3)
            do y = 1, size(gas, 2)
                do x = 1, size(gas, 1)
                    cell = gas(x, y, z, :)
                    fastest = max(fastest, sqrt(gamma * pressure_of(cell) / cell(density)) + &
                        maxval(abs(cell(momentum:energy - 1))) / cell(density))
                end do
            end do
        end do
        step = courant / size(gas, 1) / fastest
        call tide_region_end("time_step")
    end function time_step

    ! The states at both ends of the middle one of three cells, half a time step ahead.
    pure subroutine cell_ends(seen, ratio, low, high)
        real(real64), intent(in) :: seen(fields, 3), ratio
        real(real64), intent(out) :: low(fields), high(fields)
        real(real64) :: before(fields), after(fields), slope(fields), change(fields)
        real(real64) :: middle(fields)

        before = seen(:, 2) - seen(:, 1)
        after = seen(:, 3) - seen(:, 2)
        slope = merge(before, after, abs(before) < abs(after))
        slope = merge(slope, 0.0_real64, before * after > 0)
        change = seen(along, 2) * slope
        change(density) = change(density) + seen(density, 2) * slope(along)
        change(along) = change(along) + slope(pressure) / seen(density, 2)
        change(pressure) = change(pressure) + gamma * seen(pressure, 2) * slope(along)
        middle = seen(:, 2) - 0.5_real64 * ratio * change
        low = middle - 0.5_real64 * slope
        high = middle + 0.5_real64 * slope
    end subroutine cell_ends

    ! What a state holds, and what of that flows along the axis.
    pure subroutine conserve(state, held, flowing)
        real(real64), intent(in) :: state(fields)
        real(real64), intent(out) :: held(fields), flowing(fields)

        held = state(density) * state
        held(density) = state(density)
        held(energy) = state(pressure) / (gamma - 1) + &
            0.5_real64 * state(density) * sum(state(along:energy - 1)**2)
        flowing = state(along) * held
        flowing(along) = flowing(along) + state(pressure)
        flowing(energy) = flowing(energy) + state(along) * state(pressure)
    end subroutine conserve

    ! What passes between two states, after Harten, Lax and van Leer.
    pure function flux_between(left, right) result(flux)
        real(real64), intent(in) :: left(fields), right(fields)
        real(real64) :: flux(fields), held(fields, 2), flowing(fields, 2)
        real(real64) :: sound(2), slowest, fastest

        call conserve(left, held(:, 1), flowing(:, 1))
        call conserve(right, held(:, 2), flowing(:, 2))
        sound = sqrt(gamma * [left(pressure), right(pressure)] / &
            [left(density), right(density)])
        slowest = min(0.0_real64, left(along) - sound(1), right(along) - sound(2))
        fastest = max(0.0_real64, left(along) + sound(1), right(along) + sound(2))
        flux = (fastest * flowing(:, 1) - slowest * flowing(:, 2) + &
            fastest * slowest * (held(:, 2) - held(:, 1))) / (fastest - slowest)
    end function flux_between

    ! Cell I of row J of plane K along AXIS: where that is in the box.
    pure function place_of(axis, i, j, k) result(place)
        integer, intent(in) :: axis, i, j, k
        integer :: place(3)

        place(axis) = i
        place(mod(axis, 3) + 1) = j
        place(mod(axis + 1, 3) + 1) = k
    end function place_of

    ! What one sees of a row, with mirrored cells beyond both walls.
    subroutine see_row(gas, axis, j, k, seen)
        real(real64), intent(in) :: gas(:, :, :, :)
        integer, intent(in) :: axis, j, k
        real(real64), intent(out) :: seen(:, :)
        real(real64) :: cell(fields)
        integer :: i, n, place(3), turn

        n = size(gas, 1)
        do i = 1, n
            place = place_of(axis, i, j, k)
            cell = gas(place(1), place(2), place(3), :)
            seen(density, i + 2) = cell(density)
            do turn = 0, 2
                seen(along + turn, i + 2) = &
                    cell(momentum + mod(axis - 1 + turn, 3)) / cell(density)
            end do
            seen(pressure, i + 2) = pressure_of(cell)
        end do
        do i = 1, 2
            seen(:, 3 - i) = seen(:, 2 + i)
            seen(:, n + 2 + i) = seen(:, n + 3 - i)
            seen(along, 3 - i) = -seen(along, 3 - i)
            seen(along, n + 2 + i) = -seen(along, n + 2 + i)
        end do
    end subroutine see_row

    subroutine fluxes(gas, axis, ratio, flux)
        real(real64), intent(in) :: gas(:, :, :, :), ratio
        integer, intent(in) :: axis
        real(real64), allocatable, target, intent(out) :: flux(:, :, :, :)
        real(real64), allocatable, target :: row(:, :, :, :)
        real(real64) :: low(fields), high(fields), next(fields)
        integer :: i, j, k, n

        call tide_region_begin("fluxes")
        n = size(gas, 1)
        allocate (flux(fields, 0:n, n, n))
        call named(flux, "flux_" // achar(iachar("x") + axis - 1))
        do k = 1, n
            allocate (row(fields, n + 4, 1, 1))
            call named(row, "row")
            do j = 1, n
                call see_row(gas, axis, j, k, row(:, :, 1, 1))
                call cell_ends(row(:, 1:3, 1, 1), ratio, low, high)
                do i = 0, n
                    call cell_ends(row(:, i + 2:i + 4, 1, 1), ratio, low, next)
                    flux(:, i, j, k) = flux_between(high, low)
                    high = next
                end do
            end do
            deallocate (row)
        end do
        call tide_region_end("fluxes")
    end subroutine fluxes

    ! What moves along AXIS (1, 2, 3).
    subroutine sweep(gas, axis, ratio)
        real(real64), intent(inout) :: gas(:, :, :, :)
        integer, intent(in) :: axis
        real(real64), intent(in) :: ratio
        real(real64), allocatable :: flux(:, :, :, :)
        integer :: i, j, k, place(3), order(fields), f

        call tide_region_begin("sweep_" // achar(iachar("x") + axis - 1))
        order = [density, (momentum + mod(axis - 1 + f, 3), f=0, 2), energy]
        call fluxes(gas, axis, ratio, flux)
        do k = 1, size(gas, 3)
            do j = 1, size(gas, 2)
                do i = 1, size(gas, 1)
                    place = place_of(axis, i, j, k)
                    do f = 1, fields
                        associate (value => gas(place(1), place(2), place(3), order(f)))
                            value = value - ratio * (flux(f, i, j, k) - flux(f, i - 1, j, k))
                        end associate
                    end do
                end do
            end do
        end do
        deallocate (flux)
        call tide_region_end("sweep_" // achar(iachar("x") + axis - 1))
    end subroutine sweep

end module hydro_gas

program hydro_fortran
    use, intrinsic :: iso_fortran_env, only: real64
    use hydro_counts
    use hydro_gas
    use tidemark
    implicit none

    real(real64), allocatable, target :: gas(:, :, :, :)
    real(real64) :: time, step, before
    integer :: cells = 24, cycles = 20, cycle, i
    logical :: profile = .false., count = .false.

    call parse()
    call tide_region_begin("main")
    call initialise(gas, cells)
    before = sum(gas(:, :, :, density))
    time = 0
    call tide_loop_begin("cycle")
    do cycle = 0, cycles - 1
        call tide_event(cycle)
        call tide_iteration(cycle)
        step = time_step(gas)
        do i = 1, 3
            call sweep(gas, merge(i, 4 - i, mod(cycle, 2) == 0), step * cells)
        end do
        time = time + step
    end do
    call tide_loop_end("cycle")
    if (profile) call print_profile()
    if (count) call print_counts()
    if (.not. profile .and. .not. count) &
        print '(i0, a, f8.6, a, es7.1, a)', cycles, " cycles to t = ", time, &
        "; mass changed by ", abs(sum(gas(:, :, :, density)) - before) / before, " of itself"
    deallocate (gas)
    call tide_region_end("main")

contains

    subroutine parse()
        character(32) :: word
        integer :: at, numbers

        numbers = 0
        do at = 1, command_argument_count()
            call get_command_argument(at, word)
            if (word == "--profile") then
                profile = .true.
            else if (word == "--count") then
                count = .true.
            else if (numbers == 0) then
                read (word, *) cells
                numbers = 1
            else
                read (word, *) cycles
            end if
        end do
    end subroutine parse

    subroutine print_profile()
        integer :: x

        print '(a, es24.17, a)', '{"time": ', time, ', "density": ['
        do x = 1, cells
            print '(es24.17, a)', gas(x, cells / 2 + 1, cells / 2 + 1, density), &
                merge(',', ' ', x < cells)
        end do
        print '(a)', ']}'
    end subroutine print_profile

end program hydro_fortran
