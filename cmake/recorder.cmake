# cmake/recorder.cmake - libtidemark.so, which lives inside other people's programs.
#
# It links libc and nothing else, exports only what exports.map lists, and must not be
# taken apart by the compiler: no builtin malloc knowledge, static TLS.

file(GLOB recorder_sources CONFIGURE_DEPENDS
    src/capture/*.c src/base/raw/*.c)
add_library(tidemark_preload SHARED ${recorder_sources})
set_target_properties(tidemark_preload PROPERTIES
    OUTPUT_NAME tidemark
    NO_SONAME ON
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/capture/exports.map)
target_link_libraries(tidemark_preload PRIVATE tidemark_flags tidemark_small_stack)
target_compile_options(tidemark_preload PRIVATE
    -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
    -fno-tree-vectorize -fno-tree-slp-vectorize # states of frames stay in registers
    -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    # A line can be asked for to be written; where that is not known, it does nothing.
    target_compile_options(tidemark_preload PRIVATE -mprfchw)
endif()
set_source_files_properties(
    src/capture/hooks_other.c src/capture/hooks_omp.c src/capture/hooks_end.c
    src/capture/hooks_sandbox.c PROPERTIES
    COMPILE_OPTIONS "-O2;-foptimize-sibling-calls") # see there
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # As large as the environment, up to a limit: see TIDE_CHANGED_MOST.
    set_source_files_properties(src/capture/hooks_exec.c PROPERTIES
        COMPILE_OPTIONS "-Wno-stack-usage")
endif()
# What the recorder calls syscall() is in sandbox.c; the hook of that name is for others.
target_link_options(tidemark_preload PRIVATE
    -Wl,--wrap=syscall
    -Wl,-z,defs
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/capture/exports.map)
