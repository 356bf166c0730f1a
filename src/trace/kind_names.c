/* trace/kind_names.c - what the calls that make blocks are called. */
#include "trace/kind_names.h"

#include "trace/format.h"

const char *tide_alloc_kind_name(unsigned kind)
{
    static const char *const NAMES[TIDE_KINDS] = {
        [TIDE_KIND_MALLOC] = "malloc",
        [TIDE_KIND_CALLOC] = "calloc",
        [TIDE_KIND_REALLOC] = "realloc",
        [TIDE_KIND_REALLOCARRAY] = "reallocarray",
        [TIDE_KIND_POSIX_MEMALIGN] = "posix_memalign",
        [TIDE_KIND_ALIGNED_ALLOC] = "aligned_alloc",
        [TIDE_KIND_MEMALIGN] = "memalign",
        [TIDE_KIND_VALLOC] = "valloc",
        [TIDE_KIND_PVALLOC] = "pvalloc",
        [TIDE_KIND_NEW] = "new",
        [TIDE_KIND_NEW_ARRAY] = "new[]",
    };
    return kind < TIDE_KINDS ? NAMES[kind] : "unknown";
}

const char *tide_map_call_name(unsigned call)
{
    static const char *const NAMES[TIDE_MAP_CALLS] = {
        [TIDE_MAP_MMAP] = "mmap",       [TIDE_MAP_MUNMAP] = "munmap",
        [TIDE_MAP_MREMAP] = "mremap",   [TIDE_MAP_MPROTECT] = "mprotect",
        [TIDE_MAP_MADVISE] = "madvise",
    };
    return call < TIDE_MAP_CALLS ? NAMES[call] : "unknown";
}
