! tidemark.f90 - tell tidemark what a Fortran program is doing.
!
!     use tidemark
!     call tide_region_begin("solve")
!     allocate (x(30, 20))
!     call tide_label(x, "x")
!     call tide_region_end("solve")
!
! Compile this file with your own; there is nothing to link.  When the program is not
! recorded every call is a test of one pointer.  All procedures may be called from any
! thread; names are copied, and cut after 1000 characters.
module tidemark
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    implicit none
    private

    public :: tide_region_begin, tide_region_end, tide_label, tide_event, tide_snapshot
    public :: tide_recorded

    ! tide_label(array, name): an array of any numerical kind and rank, which lies in one
    ! piece; tide_label(c_loc(x), name, bytes): any memory.
    interface tide_label
        module procedure label_memory
        module procedure label_real32, label_real64
        module procedure label_complex32, label_complex64
        module procedure label_int8, label_int16, label_int32, label_int64
    end interface tide_label

    integer, parameter :: name_max = 1000

    ! An entry point of the recorder: found when it is first needed, or not there.
    type :: entry_point
        character(kind=c_char, len=32) :: name
        logical :: looked = .false.
        type(c_funptr) :: address = c_null_funptr
    end type entry_point

    character, parameter :: nul = c_null_char
    type(entry_point), save :: at_begin = entry_point("tide_recorder_region_begin" // nul)
    type(entry_point), save :: at_end = entry_point("tide_recorder_region_end" // nul)
    type(entry_point), save :: at_label = entry_point("tide_recorder_label" // nul)
    type(entry_point), save :: at_event = entry_point("tide_recorder_event" // nul)
    type(entry_point), save :: at_snapshot = entry_point("tide_recorder_snapshot" // nul)

    abstract interface
        subroutine takes_name(name) bind(C)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine takes_name

        subroutine takes_number(number) bind(C)
            import :: c_int64_t
            integer(c_int64_t), value :: number
        end subroutine takes_number

        subroutine takes_block(start, name, bytes) bind(C)
            import :: c_ptr, c_char, c_size_t
            type(c_ptr), value :: start
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
        end subroutine takes_block
    end interface

    interface
        type(c_funptr) function c_dlsym(handle, name) bind(C, name="dlsym")
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
        end function c_dlsym
    end interface

contains

    ! Is this program recorded?
    logical function tide_recorded()
        tide_recorded = found(at_begin)
    end function tide_recorded

    ! A phase of this thread begins; phases nest.
    subroutine tide_region_begin(name)
        character(*), intent(in) :: name

        if (found(at_begin)) call give_name(at_begin, name)
    end subroutine tide_region_begin

    ! The innermost phase ends.  NAME is checked against it by the reports.
    subroutine tide_region_end(name)
        character(*), intent(in) :: name

        if (found(at_end)) call give_name(at_end, name)
    end subroutine tide_region_end

    ! Remember this moment under NAME: reports can show what lived then.
    subroutine tide_snapshot(name)
        character(*), intent(in) :: name

        if (found(at_snapshot)) call give_name(at_snapshot, name)
    end subroutine tide_snapshot

    ! Iteration NUMBER of the program's outer loop begins.
    subroutine tide_event(number)
        integer(int64), intent(in) :: number
        procedure(takes_number), pointer :: call_it

        if (.not. found(at_event)) return
        call c_f_procpointer(at_event%address, call_it)
        call call_it(number)
    end subroutine tide_event

    logical function found(entry)
        type(entry_point), intent(inout) :: entry

        if (.not. entry%looked) then
            entry%address = c_dlsym(c_null_ptr, entry%name)
            entry%looked = .true.
        end if
        found = c_associated(entry%address)
    end function found

    ! A C string in memory of our own: Fortran would take it from the heap, and count as
    ! the program.
    subroutine c_string(name, text)
        character(*), intent(in) :: name
        character(kind=c_char), intent(out) :: text(name_max + 1)
        integer :: i, length

        length = min(len_trim(name), name_max)
        do i = 1, length
            text(i) = name(i:i)
        end do
        text(length + 1) = c_null_char
    end subroutine c_string

    subroutine give_name(entry, name)
        type(entry_point), intent(in) :: entry
        character(*), intent(in) :: name
        character(kind=c_char) :: text(name_max + 1)
        procedure(takes_name), pointer :: call_it

        call c_f_procpointer(entry%address, call_it)
        call c_string(name, text)
        call call_it(text)
    end subroutine give_name

    ! --- Labels ------------------------------------------------------------------------

    subroutine label_memory(start, name, bytes)
        type(c_ptr), intent(in) :: start
        character(*), intent(in) :: name
        integer(c_size_t), intent(in) :: bytes
        character(kind=c_char) :: text(name_max + 1)
        procedure(takes_block), pointer :: call_it

        if (.not. found(at_label)) return
        call c_f_procpointer(at_label%address, call_it)
        call c_string(name, text)
        call call_it(start, text, bytes)
    end subroutine label_memory

    subroutine label_real32(array, name)
        real(real32), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 4)
    end subroutine label_real32

    subroutine label_real64(array, name)
        real(real64), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 8)
    end subroutine label_real64

    subroutine label_complex32(array, name)
        complex(real32), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 8)
    end subroutine label_complex32

    subroutine label_complex64(array, name)
        complex(real64), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 16)
    end subroutine label_complex64

    subroutine label_int8(array, name)
        integer(int8), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t))
    end subroutine label_int8

    subroutine label_int16(array, name)
        integer(int16), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 2)
    end subroutine label_int16

    subroutine label_int32(array, name)
        integer(int32), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 4)
    end subroutine label_int32

    subroutine label_int64(array, name)
        integer(int64), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_memory(c_loc(array), name, size(array, kind=c_size_t) * 8)
    end subroutine label_int64

end module tidemark
