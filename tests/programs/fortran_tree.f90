! tests/programs/fortran_tree.f90 - Fortran as it is written: allocatable components, arrays
! made for an expression, strings that grow, internal procedures, formatted output.
!
! Usage: fortran_tree.  Prints a sum; the allocations are in the program, in libgfortran and
! under both.
module trees
    implicit none
    type :: node
        integer :: value = 0
        real, allocatable :: weights(:)
        character(len=:), allocatable :: name
        type(node), pointer :: left => null(), right => null()
    end type node
contains
    recursive function grow(depth) result(tree)
        integer, intent(in) :: depth
        type(node), pointer :: tree
        allocate (tree)
        tree%value = depth
        tree%name = name_of(depth)
        tree%weights = scaled(depth)
        if (depth > 0) then
            tree%left => grow(depth - 1)
            tree%right => grow(depth - 1)
        end if
    end function grow

    function name_of(number) result(name)
        integer, intent(in) :: number
        character(len=:), allocatable :: name
        character(len=20) :: digits
        write (digits, '(I0)') number
        name = 'a node at depth '//trim(digits)//repeat('.', number)
    end function name_of

    function scaled(number) result(values)
        integer, intent(in) :: number
        real, allocatable :: values(:)
        integer :: i
        values = [(real(i), i=1, 3*number + 1)]
        values = values*2.0 + [(1.0, i=1, size(values))]
    end function scaled

    recursive subroutine fell(tree, total)
        type(node), pointer, intent(inout) :: tree
        real, intent(inout) :: total
        if (.not. associated(tree)) return
        call fell(tree%left, total)
        call fell(tree%right, total)
        total = total + sum(tree%weights) + len(tree%name)
        deallocate (tree)
    end subroutine fell
end module trees

program fortran_tree
    use trees
    implicit none
    type(node), pointer :: root
    real :: total
    integer :: round
    total = 0.0
    do round = 1, 4
        root => grow(7)
        call fell(root, total)
        call line(round)
    end do
    print '(A,F12.1)', 'sum ', total
contains
    subroutine line(number)
        integer, intent(in) :: number
        real :: square(number*10, number*10)
        character(len=200) :: text
        call random_seed()
        square = real(number)
        write (text, *) sum(matmul(square, transpose(square))), name_of(number)
        total = total + len_trim(text)
    end subroutine line
end program fortran_tree
