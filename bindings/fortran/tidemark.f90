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
! thread; names are copied, and cut after 1000 characters.  They mean what they mean in
! tidemark.h.
module tidemark
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    implicit none
    private

    public :: tide_present
    public :: tide_region_begin, tide_region_end, tide_phase_begin, tide_phase_end
    public :: tide_loop_begin, tide_iteration, tide_loop_end
    public :: tide_label, tide_unlabel, tide_pool_alloc, tide_pool_free
    public :: tide_set, tide_set_address, tide_unset
    public :: tide_event, tide_snapshot, tide_pause, tide_resume
    public :: tide_start, tide_stop, tide_peek, tide_stats
    public :: tide_find, tide_found_block
    public :: tide_scope_process, tide_scope_thread
    public :: tide_done, tide_absent, tide_unknown, tide_unavailable

    ! Whose allocations are counted, or not.
    integer(c_int), parameter :: tide_scope_process = 0, tide_scope_thread = 1

    ! What tide_find() answers: enum tide_answer.
    integer(c_int), parameter :: tide_done = 0, tide_absent = 1, tide_unknown = 2, &
        tide_unavailable = 5

    ! What was allocated while a window was open: struct tide_stats.
    type, bind(C) :: tide_stats
        integer(c_int64_t) :: requested_bytes = 0
        integer(c_int64_t) :: used_bytes = 0
        integer(c_int64_t) :: freed_bytes = 0
        integer(c_int64_t) :: alloc_calls = 0
        integer(c_int64_t) :: free_calls = 0
        integer(c_int64_t) :: failed_calls = 0
        integer(c_int64_t) :: live_bytes = 0
        integer(c_int64_t) :: peak_bytes = 0
        integer(c_int64_t) :: smallest_bytes = 0
        integer(c_int64_t) :: largest_bytes = 0
        real(c_double) :: mean_bytes = 0
        real(c_double) :: stddev_bytes = 0
        real(c_double) :: seconds = 0
        integer(c_int64_t), private :: reserved(3) = 0
    end type tide_stats

    ! The block that holds an address; one without address is none.  Elements are counted
    ! from 1, dimensions in Fortran's order.
    type :: tide_found_block
        integer(int64) :: address = 0
        integer(int64) :: bytes = 0      ! requested
        integer(int64) :: used_bytes = 0
        integer(int64) :: offset = 0     ! of what was asked for, in bytes
        integer(int64) :: uid = 0
        integer(int64) :: element_bytes = 0
        integer(int64) :: index = 0      ! of the element, as it lies in memory
        integer :: dimensions = 0
        integer(int64) :: position(8) = 0
        integer(int64) :: holder = 0
        character(128) :: label = ""
        character(64) :: pool = ""
    end type tide_found_block

    ! struct tide_found_block.
    type, bind(C) :: c_found_block
        integer(c_int64_t) :: address, bytes, used_bytes, offset, uid, element_bytes, index
        integer(c_int64_t) :: dimensions, position(8), holder
        character(kind=c_char) :: label(128), pool(64)
        integer(c_int64_t) :: reserved(4)
    end type c_found_block

    ! Iteration NUMBER of the innermost loop begins; the one before it ends.
    interface tide_iteration
        module procedure iteration_int32, iteration_int64
    end interface tide_iteration

    ! Iteration NUMBER of the program's outer loop begins.
    interface tide_event
        module procedure event_int32, event_int64
    end interface tide_event

    ! tide_label(array, name): an array of any numerical kind and rank, with its shape; one
    ! that does not lie in one piece is passed over.  tide_label(c_loc(x), name, bytes): any
    ! memory.
    interface tide_label
        module procedure label_memory
        module procedure label_real32, label_real64
        module procedure label_complex32, label_complex64
        module procedure label_int8, label_int16, label_int32, label_int64
        module procedure label_logical
    end interface tide_label

    ! tide_set(name, value): queries see it, of what this thread does from here on.
    interface tide_set
        module procedure set_int32, set_int64, set_real32, set_real64, set_text
    end interface tide_set

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
    type(entry_point), save :: at_phase_begin = &
        entry_point("tide_recorder_phase_begin" // nul)
    type(entry_point), save :: at_phase_end = entry_point("tide_recorder_phase_end" // nul)
    type(entry_point), save :: at_loop_begin = &
        entry_point("tide_recorder_loop_begin" // nul)
    type(entry_point), save :: at_iteration = entry_point("tide_recorder_iteration" // nul)
    type(entry_point), save :: at_loop_end = entry_point("tide_recorder_loop_end" // nul)
    type(entry_point), save :: at_label = entry_point("tide_recorder_label" // nul)
    type(entry_point), save :: at_shape = entry_point("tide_recorder_label_shape" // nul)
    type(entry_point), save :: at_unlabel = entry_point("tide_recorder_unlabel" // nul)
    type(entry_point), save :: at_pool_alloc = &
        entry_point("tide_recorder_pool_alloc" // nul)
    type(entry_point), save :: at_pool_free = entry_point("tide_recorder_pool_free" // nul)
    type(entry_point), save :: at_set_int = entry_point("tide_recorder_set_int" // nul)
    type(entry_point), save :: at_set_double = &
        entry_point("tide_recorder_set_double" // nul)
    type(entry_point), save :: at_set_string = &
        entry_point("tide_recorder_set_string" // nul)
    type(entry_point), save :: at_set_address = &
        entry_point("tide_recorder_set_address" // nul)
    type(entry_point), save :: at_unset = entry_point("tide_recorder_unset" // nul)
    type(entry_point), save :: at_event = entry_point("tide_recorder_event" // nul)
    type(entry_point), save :: at_snapshot = entry_point("tide_recorder_snapshot" // nul)
    type(entry_point), save :: at_pause = entry_point("tide_recorder_pause" // nul)
    type(entry_point), save :: at_resume = entry_point("tide_recorder_resume" // nul)
    type(entry_point), save :: at_start = entry_point("tide_recorder_window_start" // nul)
    type(entry_point), save :: at_stop = entry_point("tide_recorder_stop" // nul)
    type(entry_point), save :: at_find = entry_point("tide_recorder_find" // nul)
    type(entry_point), save :: at_peek = entry_point("tide_recorder_peek" // nul)

    abstract interface
        subroutine takes_name(name) bind(C)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine takes_name

        subroutine takes_number(number) bind(C)
            import :: c_int64_t
            integer(c_int64_t), value :: number
        end subroutine takes_number

        subroutine takes_int(name, number) bind(C)
            import :: c_char, c_int64_t
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int64_t), value :: number
        end subroutine takes_int

        subroutine takes_double(name, number) bind(C)
            import :: c_char, c_double
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), value :: number
        end subroutine takes_double

        subroutine takes_string(name, text) bind(C)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*), text(*)
        end subroutine takes_string

        subroutine takes_address(name, address) bind(C)
            import :: c_char, c_ptr
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), value :: address
        end subroutine takes_address

        subroutine takes_block(start, name, bytes) bind(C)
            import :: c_ptr, c_char, c_size_t
            type(c_ptr), value :: start
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
        end subroutine takes_block

        subroutine takes_array(start, name, element_bytes, extents, dimensions) bind(C)
            import :: c_ptr, c_char, c_size_t
            type(c_ptr), value :: start
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: element_bytes
            integer(c_size_t), intent(in) :: extents(*)
            integer(c_size_t), value :: dimensions
        end subroutine takes_array

        subroutine takes_start(start) bind(C)
            import :: c_ptr
            type(c_ptr), value :: start
        end subroutine takes_start

        subroutine takes_scope(scope) bind(C)
            import :: c_int
            integer(c_int), value :: scope
        end subroutine takes_scope

        subroutine takes_pool_block(pool, start, bytes, label) bind(C)
            import :: c_ptr, c_char, c_size_t
            character(kind=c_char), intent(in) :: pool(*)
            type(c_ptr), value :: start
            integer(c_size_t), value :: bytes
            character(kind=c_char), intent(in) :: label(*)
        end subroutine takes_pool_block

        subroutine takes_pool_start(pool, start) bind(C)
            import :: c_ptr, c_char
            character(kind=c_char), intent(in) :: pool(*)
            type(c_ptr), value :: start
        end subroutine takes_pool_start

        integer(c_int64_t) function starts_window(name, scope) bind(C)
            import :: c_int64_t, c_ptr, c_int
            type(c_ptr), value :: name
            integer(c_int), value :: scope
        end function starts_window

        integer(c_int) function tells_stats(window, stats) bind(C)
            import :: c_int, c_int64_t, tide_stats
            integer(c_int64_t), value :: window
            type(tide_stats), intent(out) :: stats
        end function tells_stats

        integer(c_int) function finds_block(address, block) bind(C)
            import :: c_int, c_ptr, c_found_block
            type(c_ptr), value :: address
            type(c_found_block), intent(out) :: block
        end function finds_block
    end interface

    interface
        type(c_funptr) function c_dlsym(handle, name) bind(C, name="dlsym")
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
        end function c_dlsym
    end interface

contains

    ! Is the recorder there?
    logical function tide_present()
        tide_present = found(at_begin)
    end function tide_present

    ! --- Regions, loops, phases --------------------------------------------------------

    ! A phase of this thread begins; phases nest.
    subroutine tide_region_begin(name)
        character(*), intent(in) :: name

        if (found(at_begin)) call give_name(at_begin, name)
    end subroutine tide_region_begin

    ! The phase NAME of this thread ends.
    subroutine tide_region_end(name)
        character(*), intent(in) :: name

        if (found(at_end)) call give_name(at_end, name)
    end subroutine tide_region_end

    ! A part of what the whole process does: around the regions of all threads.
    subroutine tide_phase_begin(name)
        character(*), intent(in) :: name

        if (found(at_phase_begin)) call give_name(at_phase_begin, name)
    end subroutine tide_phase_begin

    subroutine tide_phase_end(name)
        character(*), intent(in) :: name

        if (found(at_phase_end)) call give_name(at_phase_end, name)
    end subroutine tide_phase_end

    ! A region that is a loop.
    subroutine tide_loop_begin(name)
        character(*), intent(in) :: name

        if (found(at_loop_begin)) call give_name(at_loop_begin, name)
    end subroutine tide_loop_begin

    subroutine iteration_int32(number)
        integer(int32), intent(in) :: number

        call iteration_int64(int(number, int64))
    end subroutine iteration_int32

    subroutine iteration_int64(number)
        integer(int64), intent(in) :: number

        if (found(at_iteration)) call give_number(at_iteration, number)
    end subroutine iteration_int64

    subroutine tide_loop_end(name)
        character(*), intent(in) :: name

        if (found(at_loop_end)) call give_name(at_loop_end, name)
    end subroutine tide_loop_end

    ! --- Marks -------------------------------------------------------------------------

    ! Remember this moment under NAME: reports can show what lived then.
    subroutine tide_snapshot(name)
        character(*), intent(in) :: name

        if (found(at_snapshot)) call give_name(at_snapshot, name)
    end subroutine tide_snapshot

    subroutine event_int32(number)
        integer(int32), intent(in) :: number

        call event_int64(int(number, int64))
    end subroutine event_int32

    subroutine event_int64(number)
        integer(int64), intent(in) :: number

        if (found(at_event)) call give_number(at_event, number)
    end subroutine event_int64

    ! What is allocated from here to tide_resume() appears nowhere.  Pauses nest.
    subroutine tide_pause(scope)
        integer(c_int), intent(in) :: scope

        if (found(at_pause)) call give_scope(at_pause, scope)
    end subroutine tide_pause

    subroutine tide_resume(scope)
        integer(c_int), intent(in) :: scope

        if (found(at_resume)) call give_scope(at_resume, scope)
    end subroutine tide_resume

    ! --- Values ------------------------------------------------------------------------

    subroutine set_int64(name, number)
        character(*), intent(in) :: name
        integer(int64), intent(in) :: number
        character(kind=c_char) :: text(name_max + 1)
        procedure(takes_int), pointer :: call_it

        if (.not. found(at_set_int)) return
        call c_f_procpointer(at_set_int%address, call_it)
        call c_string(name, text)
        call call_it(text, number)
    end subroutine set_int64

    subroutine set_int32(name, number)
        character(*), intent(in) :: name
        integer(int32), intent(in) :: number

        call set_int64(name, int(number, int64))
    end subroutine set_int32

    subroutine set_real64(name, number)
        character(*), intent(in) :: name
        real(real64), intent(in) :: number
        character(kind=c_char) :: text(name_max + 1)
        procedure(takes_double), pointer :: call_it

        if (.not. found(at_set_double)) return
        call c_f_procpointer(at_set_double%address, call_it)
        call c_string(name, text)
        call call_it(text, number)
    end subroutine set_real64

    subroutine set_real32(name, number)
        character(*), intent(in) :: name
        real(real32), intent(in) :: number

        call set_real64(name, real(number, real64))
    end subroutine set_real32

    subroutine set_text(name, value)
        character(*), intent(in) :: name, value
        character(kind=c_char) :: text(name_max + 1), value_text(name_max + 1)
        procedure(takes_string), pointer :: call_it

        if (.not. found(at_set_string)) return
        call c_f_procpointer(at_set_string%address, call_it)
        call c_string(name, text)
        call c_string(value, value_text)
        call call_it(text, value_text)
    end subroutine set_text

    ! An address, as c_loc() gives it: queries tell which block held it.
    subroutine tide_set_address(name, address)
        character(*), intent(in) :: name
        type(c_ptr), intent(in) :: address
        character(kind=c_char) :: text(name_max + 1)
        procedure(takes_address), pointer :: call_it

        if (.not. found(at_set_address)) return
        call c_f_procpointer(at_set_address%address, call_it)
        call c_string(name, text)
        call call_it(text, address)
    end subroutine tide_set_address

    ! NAME has no value any more.
    subroutine tide_unset(name)
        character(*), intent(in) :: name

        if (found(at_unset)) call give_name(at_unset, name)
    end subroutine tide_unset

    ! --- Counting ----------------------------------------------------------------------

    ! Count from here to tide_stop(); 0 when the recorder is not there.
    integer(c_int64_t) function tide_start(name, scope) result(window)
        character(*), intent(in), optional :: name
        integer(c_int), intent(in), optional :: scope
        character(kind=c_char), target :: text(name_max + 1)
        type(c_ptr) :: title
        integer(c_int) :: whose
        procedure(starts_window), pointer :: call_it

        window = 0
        if (.not. found(at_start)) return
        title = c_null_ptr
        if (present(name)) then
            call c_string(name, text)
            title = c_loc(text)
        end if
        whose = tide_scope_process
        if (present(scope)) whose = scope
        call c_f_procpointer(at_start%address, call_it)
        window = call_it(title, whose)
    end function tide_start

    ! End WINDOW and say what was counted; zeros for one that is not open.
    subroutine tide_stop(window, stats)
        integer(c_int64_t), intent(in) :: window
        type(tide_stats), intent(out), optional :: stats

        call ask_stats(at_stop, window, stats)
    end subroutine tide_stop

    ! What it has counted so far.
    subroutine tide_peek(window, stats)
        integer(c_int64_t), intent(in) :: window
        type(tide_stats), intent(out) :: stats

        call ask_stats(at_peek, window, stats)
    end subroutine tide_peek

    subroutine ask_stats(entry, window, stats)
        type(entry_point), intent(inout) :: entry
        integer(c_int64_t), intent(in) :: window
        type(tide_stats), intent(out), optional :: stats
        type(tide_stats) :: told
        integer(c_int) :: answer
        procedure(tells_stats), pointer :: call_it

        if (found(entry)) then
            call c_f_procpointer(entry%address, call_it)
            answer = call_it(window, told)
            if (answer /= 0) told = tide_stats()
        end if
        if (present(stats)) stats = told
    end subroutine ask_stats

    ! --- The recorder --------------------------------------------------------------------

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

    subroutine give_number(entry, number)
        type(entry_point), intent(in) :: entry
        integer(c_int64_t), intent(in) :: number
        procedure(takes_number), pointer :: call_it

        call c_f_procpointer(entry%address, call_it)
        call call_it(number)
    end subroutine give_number

    subroutine give_scope(entry, scope)
        type(entry_point), intent(in) :: entry
        integer(c_int), intent(in) :: scope
        procedure(takes_scope), pointer :: call_it

        call c_f_procpointer(entry%address, call_it)
        call call_it(scope)
    end subroutine give_scope

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

    ! The block at START, as c_loc() gives it, has no name from here on.
    subroutine tide_unlabel(start)
        type(c_ptr), intent(in) :: start
        procedure(takes_start), pointer :: call_it

        if (.not. found(at_unlabel)) return
        call c_f_procpointer(at_unlabel%address, call_it)
        call call_it(start)
    end subroutine tide_unlabel

    ! Which block holds ADDRESS, as c_loc() gives it?  ANSWER is tide_done; tide_unknown:
    ! none does; tide_unavailable: it needs `tidemark run --live-table`; or tide_absent.
    subroutine tide_find(address, block, answer)
        type(c_ptr), intent(in) :: address
        type(tide_found_block), intent(out) :: block
        integer(c_int), intent(out), optional :: answer
        type(c_found_block) :: told
        integer(c_int) :: status
        integer :: i
        procedure(finds_block), pointer :: call_it

        status = tide_absent
        if (found(at_find)) then
            call c_f_procpointer(at_find%address, call_it)
            status = call_it(address, told)
        end if
        if (present(answer)) answer = status
        if (status /= tide_done) return
        block%address = told%address
        block%bytes = told%bytes
        block%used_bytes = told%used_bytes
        block%offset = told%offset
        block%uid = told%uid
        block%element_bytes = told%element_bytes
        block%index = told%index + 1
        block%dimensions = int(told%dimensions)
        do i = 1, block%dimensions
            block%position(i) = told%position(block%dimensions + 1 - i) + 1
        end do
        block%holder = told%holder
        call f_string(told%label, block%label)
        call f_string(told%pool, block%pool)
    end subroutine tide_find

    subroutine f_string(text, string)
        character(kind=c_char), intent(in) :: text(:)
        character(*), intent(out) :: string
        integer :: i

        string = ""
        do i = 1, size(text)
            if (text(i) == nul) return
            string(i:i) = text(i)
        end do
    end subroutine f_string

    ! The program's own allocator POOL gave out BYTES at START.
    subroutine tide_pool_alloc(pool, start, bytes, label)
        character(*), intent(in) :: pool, label
        type(c_ptr), intent(in) :: start
        integer(c_size_t), intent(in) :: bytes
        character(kind=c_char) :: pool_text(name_max + 1), label_text(name_max + 1)
        procedure(takes_pool_block), pointer :: call_it

        if (.not. found(at_pool_alloc)) return
        call c_f_procpointer(at_pool_alloc%address, call_it)
        call c_string(pool, pool_text)
        call c_string(label, label_text)
        call call_it(pool_text, start, bytes, label_text)
    end subroutine tide_pool_alloc

    ! ...and takes it back.
    subroutine tide_pool_free(pool, start)
        character(*), intent(in) :: pool
        type(c_ptr), intent(in) :: start
        character(kind=c_char) :: text(name_max + 1)
        procedure(takes_pool_start), pointer :: call_it

        if (.not. found(at_pool_free)) return
        call c_f_procpointer(at_pool_free%address, call_it)
        call c_string(pool, text)
        call call_it(text, start)
    end subroutine tide_pool_free

    ! The recorder wants the slowest dimension first, which in Fortran is the last.
    subroutine label_array(array, name, element_bits)
        type(*), intent(in), target :: array(..)
        character(*), intent(in) :: name
        integer, intent(in) :: element_bits
        character(kind=c_char) :: text(name_max + 1)
        integer(c_size_t) :: extents(15)
        integer :: i, dimensions
        procedure(takes_array), pointer :: call_it

        if (.not. found(at_shape)) return
        if (.not. is_contiguous(array)) return
        dimensions = rank(array)
        do i = 1, dimensions
            extents(dimensions + 1 - i) = size(array, i, c_size_t)
        end do
        call c_f_procpointer(at_shape%address, call_it)
        call c_string(name, text)
        call call_it(c_loc(array), text, int(element_bits / 8, c_size_t), extents, &
            int(dimensions, c_size_t))
    end subroutine label_array

    subroutine label_real32(array, name)
        real(real32), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_real32

    subroutine label_real64(array, name)
        real(real64), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_real64

    subroutine label_complex32(array, name)
        complex(real32), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_complex32

    subroutine label_complex64(array, name)
        complex(real64), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_complex64

    subroutine label_int8(array, name)
        integer(int8), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_int8

    subroutine label_int16(array, name)
        integer(int16), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_int16

    subroutine label_int32(array, name)
        integer(int32), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_int32

    subroutine label_int64(array, name)
        integer(int64), intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_int64

    subroutine label_logical(array, name)
        logical, intent(in), target :: array(..)
        character(*), intent(in) :: name

        call label_array(array, name, storage_size(array))
    end subroutine label_logical

end module tidemark
