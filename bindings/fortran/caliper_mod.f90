! caliper_mod.f90 - Caliper's module for Fortran, for tidemark.
!
!     use caliper_mod
!     call cali_begin_region("solve")
!     ...
!     call cali_end_region("solve")
!
! Compile it with tidemark.f90; there is nothing to link.  Regions and attributes are those
! of caliper/cali.h.  ConfigManager accepts every configuration and starts nothing: what is
! recorded and shown is chosen by tidemark's options, and reports say so once.
module caliper_mod
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use tidemark, only: tide_iteration, tide_loop_begin, tide_loop_end, tide_present, &
        tide_set
    implicit none
    private

    public :: cali_init, cali_flush, cali_begin_region, cali_end_region
    public :: cali_begin_phase, cali_end_phase
    public :: cali_begin_byname, cali_begin_int_byname, cali_begin_double_byname
    public :: cali_begin_string_byname, cali_end_byname
    public :: cali_set_int_byname, cali_set_double_byname, cali_set_string_byname
    public :: cali_set_global_int_byname, cali_set_global_double_byname
    public :: cali_set_global_string_byname
    public :: ScopeAnnotation, ScopeAnnotation_begin, ScopeAnnotation_end
    public :: Annotation, Annotation_new, Annotation_new_with_properties, Annotation_delete
    public :: ConfigManager, ConfigManager_new, ConfigManager_delete

    integer, parameter, public :: CALI_ATTR_DEFAULT = 0, CALI_ATTR_ASVALUE = 1, &
        CALI_ATTR_NOMERGE = 2, CALI_ATTR_SCOPE_PROCESS = 12, CALI_ATTR_SCOPE_THREAD = 20, &
        CALI_ATTR_SKIP_EVENTS = 64, CALI_ATTR_HIDDEN = 128, CALI_ATTR_NESTED = 256, &
        CALI_ATTR_GLOBAL = 512, CALI_ATTR_UNALIGNED = 1024, CALI_ATTR_AGGREGATABLE = 2048

    integer, parameter :: name_max = 120

    ! Functions of the recorder.
    character, parameter :: nul = c_null_char
    character(*), parameter :: at_begin = "tide_recorder_region_begin_as" // nul
    character(*), parameter :: at_end = "tide_recorder_region_end_as" // nul
    character(*), parameter :: at_begin_int = "tide_recorder_begin_int" // nul
    character(*), parameter :: at_begin_double = "tide_recorder_begin_double" // nul
    character(*), parameter :: at_begin_string = "tide_recorder_begin_string" // nul
    character(*), parameter :: at_value_end = "tide_recorder_end" // nul
    character(*), parameter :: at_idle = "tide_recorder_idle" // nul

    ! A region until ScopeAnnotation_end().
    type :: ScopeAnnotation
        logical :: open = .false.
    end type ScopeAnnotation

    ! An attribute by its name.
    type :: Annotation
        character(name_max) :: name = ""
        integer :: properties = CALI_ATTR_DEFAULT
    contains
        procedure :: begin_int => annotation_begin_int
        procedure :: begin_string => annotation_begin_string
        procedure :: set_int => annotation_set_int
        procedure :: set_string => annotation_set_string
        procedure :: end => annotation_end
    end type Annotation

    type :: ConfigManager
    contains
        procedure :: add => manager_add
        procedure :: set_default_parameter => manager_set_default_parameter
        procedure :: error => manager_error
        procedure :: error_msg => manager_error_msg
        procedure :: start => manager_start
        procedure :: stop => manager_stop
        procedure :: flush => manager_flush
    end type ConfigManager

    abstract interface
        subroutine takes_text(text) bind(C)
            import :: c_ptr
            type(c_ptr), value :: text
        end subroutine takes_text

        subroutine takes_texts(one, other) bind(C)
            import :: c_ptr
            type(c_ptr), value :: one, other
        end subroutine takes_texts

        subroutine takes_int(name, number) bind(C)
            import :: c_int64_t, c_ptr
            type(c_ptr), value :: name
            integer(c_int64_t), value :: number
        end subroutine takes_int

        subroutine takes_double(name, number) bind(C)
            import :: c_double, c_ptr
            type(c_ptr), value :: name
            real(c_double), value :: number
        end subroutine takes_double
    end interface

    interface
        type(c_funptr) function c_dlsym(handle, name) bind(C, name="dlsym")
            import :: c_char, c_funptr, c_ptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
        end function c_dlsym
    end interface

contains

    subroutine cali_init()
    end subroutine cali_init

    subroutine cali_flush(options)
        integer, intent(in), optional :: options

        if (present(options)) continue
    end subroutine cali_flush

    ! --- Regions ------------------------------------------------------------------------

    subroutine cali_begin_region(name)
        character(*), intent(in) :: name

        call tell_texts(at_begin, "annotation", name)
    end subroutine cali_begin_region

    subroutine cali_end_region(name)
        character(*), intent(in) :: name

        call tell_texts(at_end, "annotation", name)
    end subroutine cali_end_region

    subroutine cali_begin_phase(name)
        character(*), intent(in) :: name

        call tell_texts(at_begin, "phase", name)
    end subroutine cali_begin_phase

    subroutine cali_end_phase(name)
        character(*), intent(in) :: name

        call tell_texts(at_end, "phase", name)
    end subroutine cali_end_phase

    function ScopeAnnotation_begin(name) result(region)
        character(*), intent(in) :: name
        type(ScopeAnnotation) :: region

        call cali_begin_region(name)
        region%open = .true.
    end function ScopeAnnotation_begin

    subroutine ScopeAnnotation_end(region)
        type(ScopeAnnotation), intent(inout) :: region

        if (region%open) call tell_texts(at_end, "annotation")
        region%open = .false.
    end subroutine ScopeAnnotation_end

    ! --- Attributes by name ----------------------------------------------------------------

    ! Is the attribute NAME a region by another name?
    logical function names_regions(name)
        character(*), intent(in) :: name

        select case (name)
        case ("function", "region", "annotation", "phase", "statement", "comm.region")
            names_regions = .true.
        case default
            names_regions = .false.
        end select
    end function names_regions

    subroutine cali_begin_byname(name)
        character(*), intent(in) :: name

        call cali_begin_string_byname(name, "true")
    end subroutine cali_begin_byname

    subroutine cali_begin_string_byname(name, value)
        character(*), intent(in) :: name, value

        if (name == "loop") then
            call tide_loop_begin(value)
        else if (name == "region") then
            call cali_begin_region(value)
        else if (names_regions(name)) then
            call tell_texts(at_begin, name, value)
        else
            call tell_texts(at_begin_string, name, value)
        end if
    end subroutine cali_begin_string_byname

    subroutine cali_begin_int_byname(name, value)
        character(*), intent(in) :: name
        integer, intent(in) :: value
        character(kind=c_char), target :: text(name_max + 1)
        type(c_funptr) :: address
        procedure(takes_int), pointer :: call_it

        address = entry(at_begin_int)
        if (.not. c_associated(address)) return
        call c_string(name, text)
        call c_f_procpointer(address, call_it)
        call call_it(c_loc(text), int(value, c_int64_t))
    end subroutine cali_begin_int_byname

    subroutine cali_begin_double_byname(name, value)
        character(*), intent(in) :: name
        real(real64), intent(in) :: value
        character(kind=c_char), target :: text(name_max + 1)
        type(c_funptr) :: address
        procedure(takes_double), pointer :: call_it

        address = entry(at_begin_double)
        if (.not. c_associated(address)) return
        call c_string(name, text)
        call c_f_procpointer(address, call_it)
        call call_it(c_loc(text), real(value, c_double))
    end subroutine cali_begin_double_byname

    subroutine cali_end_byname(name)
        character(*), intent(in) :: name

        if (name == "region") then
            call tell_texts(at_end, "annotation")
        else if (name == "loop" .or. names_regions(name)) then
            call tell_texts(at_end, name)
        else
            call tell_text(at_value_end, name)
        end if
    end subroutine cali_end_byname

    subroutine cali_set_int_byname(name, value)
        character(*), intent(in) :: name
        integer, intent(in) :: value

        call tide_set(name, value)
    end subroutine cali_set_int_byname

    subroutine cali_set_double_byname(name, value)
        character(*), intent(in) :: name
        real(real64), intent(in) :: value

        call tide_set(name, value)
    end subroutine cali_set_double_byname

    subroutine cali_set_string_byname(name, value)
        character(*), intent(in) :: name, value

        call tide_set(name, value)
    end subroutine cali_set_string_byname

    subroutine cali_set_global_int_byname(name, value)
        character(*), intent(in) :: name
        integer, intent(in) :: value

        call tide_set(name, value)
    end subroutine cali_set_global_int_byname

    subroutine cali_set_global_double_byname(name, value)
        character(*), intent(in) :: name
        real(real64), intent(in) :: value

        call tide_set(name, value)
    end subroutine cali_set_global_double_byname

    subroutine cali_set_global_string_byname(name, value)
        character(*), intent(in) :: name, value

        call tide_set(name, value)
    end subroutine cali_set_global_string_byname

    ! --- Annotations --------------------------------------------------------------------

    function Annotation_new(name) result(made)
        character(*), intent(in) :: name
        type(Annotation) :: made

        made%name = name
    end function Annotation_new

    function Annotation_new_with_properties(name, properties) result(made)
        character(*), intent(in) :: name
        integer, intent(in) :: properties
        type(Annotation) :: made

        made%name = name
        made%properties = properties
    end function Annotation_new_with_properties

    subroutine Annotation_delete(made)
        type(Annotation), intent(inout) :: made

        made%name = ""
    end subroutine Annotation_delete

    subroutine annotation_begin_int(self, value)
        class(Annotation), intent(in) :: self
        integer, intent(in) :: value

        call cali_begin_int_byname(self%name, value)
    end subroutine annotation_begin_int

    subroutine annotation_begin_string(self, value)
        class(Annotation), intent(in) :: self
        character(*), intent(in) :: value

        if (iand(self%properties, CALI_ATTR_NESTED) /= 0) then
            call tell_texts(at_begin, self%name, value)
        else
            call cali_begin_string_byname(self%name, value)
        end if
    end subroutine annotation_begin_string

    subroutine annotation_set_int(self, value)
        class(Annotation), intent(in) :: self
        integer, intent(in) :: value

        call tide_set(self%name, value)
    end subroutine annotation_set_int

    subroutine annotation_set_string(self, value)
        class(Annotation), intent(in) :: self
        character(*), intent(in) :: value

        call tide_set(self%name, value)
    end subroutine annotation_set_string

    subroutine annotation_end(self)
        class(Annotation), intent(in) :: self

        if (iand(self%properties, CALI_ATTR_NESTED) /= 0) then
            call tell_texts(at_end, self%name)
        else
            call cali_end_byname(self%name)
        end if
    end subroutine annotation_end

    ! --- Configuration ------------------------------------------------------------------

    function ConfigManager_new() result(made)
        type(ConfigManager) :: made

        made = ConfigManager()
    end function ConfigManager_new

    subroutine ConfigManager_delete(self)
        type(ConfigManager), intent(inout) :: self

        self = ConfigManager()
    end subroutine ConfigManager_delete

    subroutine manager_add(self, configuration)
        class(ConfigManager), intent(in) :: self
        character(*), intent(in) :: configuration

        if (same_type_as(self, self) .and. len(configuration) > 0) continue
    end subroutine manager_add

    subroutine manager_set_default_parameter(self, key, value)
        class(ConfigManager), intent(in) :: self
        character(*), intent(in) :: key, value

        if (same_type_as(self, self) .and. len(key) + len(value) > 0) continue
    end subroutine manager_set_default_parameter

    logical function manager_error(self)
        class(ConfigManager), intent(in) :: self

        manager_error = .not. same_type_as(self, self)
    end function manager_error

    function manager_error_msg(self) result(text)
        class(ConfigManager), intent(in) :: self
        character(:), allocatable :: text

        text = ""
        if (same_type_as(self, self)) continue
    end function manager_error_msg

    subroutine manager_start(self)
        class(ConfigManager), intent(in) :: self

        if (same_type_as(self, self)) call tell_text(at_idle, "ConfigManager%start()")
    end subroutine manager_start

    subroutine manager_stop(self)
        class(ConfigManager), intent(in) :: self

        if (same_type_as(self, self)) continue
    end subroutine manager_stop

    subroutine manager_flush(self)
        class(ConfigManager), intent(in) :: self

        if (same_type_as(self, self)) continue
    end subroutine manager_flush

    ! --- The recorder ------------------------------------------------------------------------

    ! Its function NAME, if it is there.  Texts are not put together: Fortran would take
    ! memory for that.
    type(c_funptr) function entry(name)
        character(*), intent(in) :: name

        entry = c_null_funptr
        if (tide_present()) entry = c_dlsym(c_null_ptr, name)
    end function entry

    ! A C string in memory of our own: Fortran would take it from the heap.
    subroutine c_string(name, text)
        character(*), intent(in) :: name
        character(kind=c_char), intent(out) :: text(:)
        integer :: i, length

        length = min(len_trim(name), size(text) - 1)
        do i = 1, length
            text(i) = name(i:i)
        end do
        text(length + 1) = c_null_char
    end subroutine c_string

    subroutine tell_text(name, text)
        character(*), intent(in) :: name, text
        character(kind=c_char), target :: copy(name_max + 1)
        type(c_funptr) :: address
        procedure(takes_text), pointer :: call_it

        address = entry(name)
        if (.not. c_associated(address)) return
        call c_f_procpointer(address, call_it)
        call c_string(text, copy)
        call call_it(c_loc(copy))
    end subroutine tell_text

    ! Call its function NAME with two texts, or one and none.
    subroutine tell_texts(name, one, other)
        character(*), intent(in) :: name, one
        character(*), intent(in), optional :: other
        character(kind=c_char), target :: first(name_max + 1), second(1001)
        type(c_funptr) :: address
        procedure(takes_texts), pointer :: call_it

        address = entry(name)
        if (.not. c_associated(address)) return
        call c_f_procpointer(address, call_it)
        call c_string(one, first)
        if (present(other)) then
            call c_string(other, second)
            call call_it(c_loc(first), c_loc(second))
        else
            call call_it(c_loc(first), c_null_ptr)
        end if
    end subroutine tell_texts
end module caliper_mod
