# cmake/flags.cmake - how everything of ours is compiled.
#
#   tidemark_includes     include folders and _GNU_SOURCE
#   tidemark_flags        warnings, hardening, sanitizers
#   tidemark_small_stack  no function of ours needs more than 4 KiB of stack (not: tests)
#
# Programs under tests/programs and examples are users' programs: they get neither.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE) # -O2 -g -DNDEBUG
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(tidemark_includes INTERFACE)
target_include_directories(tidemark_includes INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(tidemark_includes INTERFACE
    _GNU_SOURCE TIDE_VERSION="${PROJECT_VERSION}")

add_library(tidemark_flags INTERFACE)
target_link_libraries(tidemark_flags INTERFACE tidemark_includes)
target_compile_options(tidemark_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wcast-align
    -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wswitch-enum -Wimplicit-fallthrough
    -Wnull-dereference -Wdouble-promotion
    -fno-common)
# Not in the recorder, which copies nothing of others' to the stack and counts each cycle.
target_compile_options(tidemark_flags INTERFACE
    $<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,tidemark_preload>>:-fstack-protector-strong>)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tidemark_flags INTERFACE
        -Wlogical-op -Wduplicated-cond -Wduplicated-branches)
else()
    # clang 19 has it in -Wextra: enumerators are our integer constants, also beside doubles.
    target_compile_options(tidemark_flags INTERFACE -Wno-enum-float-conversion)
endif()
if(TIDE_WERROR)
    target_compile_options(tidemark_flags INTERFACE -Werror)
endif()

# Tests do less where each step costs a multiple; not every sanitizer says that it is there.
set(sanitized 0)
if(TIDE_SANITIZE)
    set(sanitized 1)
endif()
target_compile_definitions(tidemark_flags INTERFACE TIDE_SANITIZED=${sanitized})
if(TIDE_SANITIZE)
    target_compile_options(tidemark_flags INTERFACE
        -fsanitize=${TIDE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(tidemark_flags INTERFACE -fsanitize=${TIDE_SANITIZE})
else()
    target_compile_options(tidemark_flags INTERFACE
        -fstack-clash-protection
        $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
        $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
    target_link_options(tidemark_flags INTERFACE -Wl,-z,relro -Wl,-z,now)
endif()

# What is fuzzed must say where it has been.
if(TIDE_FUZZ)
    target_compile_options(tidemark_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Instrumented frames are larger than the limit; clang has no such warning.
add_library(tidemark_small_stack INTERFACE)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT TIDE_SANITIZE)
    target_compile_options(tidemark_small_stack INTERFACE -Wstack-usage=4096)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(tidemark_flags INTERFACE -fcf-protection)
endif()
