/* capture/hooks_allocators.c - what jemalloc, tcmalloc and mimalloc offer beside malloc.
 *
 * mallocx(), tc_malloc(), mi_malloc() and their kin do not pass malloc.  Each is a row of
 * this table: their arguments are integers and pointers, six at most, so one signature
 * serves all.  Where nobody has the function, allocator_calls.c does it with malloc.
 */
#include <stdatomic.h>

#include "capture/allocator_calls.h"
#include "capture/hooks.h"
#include "trace/format.h"

/* NOLINTBEGIN(readability-function-size): six arguments are enough for all */
#define TIDE_CALL(symbol, does, allocator, as, ...)                                 \
    TIDE_HOOK tide_allocator_function symbol;                                       \
    TIDE_HOOK long symbol(long a, long b, long c, long d, long e, long f)           \
    {                                                                               \
        static const struct tide_allocator_call call = {.name = #symbol,            \
                                                        .shape = TIDE_##does,       \
                                                        .family = TIDE_##allocator, \
                                                        .kind = TIDE_KIND_##as,     \
                                                        __VA_ARGS__};               \
        static void *_Atomic cache;                                                 \
        return tide_allocator_call(&call, &cache, TIDE_CALLER,                      \
                                   (const long[]){a, b, c, d, e, f});               \
    }

/* name, shape, family, kind; then the arguments: .size = 2 is the second */
/* NOLINTBEGIN(readability-identifier-naming): their names */
TIDE_CALL(mallocx, GIVES, JEMALLOC, MALLOC, .size = 1, .flags = 2)
TIDE_CALL(rallocx, MOVES, JEMALLOC, REALLOC, .old = 1, .size = 2, .flags = 3)
TIDE_CALL(xallocx, XALLOCX, JEMALLOC, REALLOC, .old = 1, .size = 2, .flags = 4)
TIDE_CALL(dallocx, TAKES, JEMALLOC, MALLOC, .old = 1, .flags = 2)
TIDE_CALL(sdallocx, TAKES, JEMALLOC, MALLOC, .old = 1, .flags = 3)
TIDE_CALL(je_mallocx, GIVES, JE_PREFIXED, MALLOC, .size = 1, .flags = 2)
TIDE_CALL(je_rallocx, MOVES, JE_PREFIXED, REALLOC, .old = 1, .size = 2, .flags = 3)
TIDE_CALL(je_xallocx, XALLOCX, JE_PREFIXED, REALLOC, .old = 1, .size = 2, .flags = 4)
TIDE_CALL(je_dallocx, TAKES, JE_PREFIXED, MALLOC, .old = 1, .flags = 2)
TIDE_CALL(je_sdallocx, TAKES, JE_PREFIXED, MALLOC, .old = 1, .flags = 3)
TIDE_CALL(je_malloc, GIVES, JE_PREFIXED, MALLOC, .size = 1)
TIDE_CALL(je_calloc, GIVES, JE_PREFIXED, CALLOC, .count = 1, .size = 2)
TIDE_CALL(je_realloc, MOVES, JE_PREFIXED, REALLOC, .old = 1, .size = 2)
TIDE_CALL(je_posix_memalign, FILLS, JE_PREFIXED, POSIX_MEMALIGN, .old = 1, .size = 3,
          .align = 2)
TIDE_CALL(je_aligned_alloc, GIVES, JE_PREFIXED, ALIGNED_ALLOC, .size = 2, .align = 1)
TIDE_CALL(je_memalign, GIVES, JE_PREFIXED, MEMALIGN, .size = 2, .align = 1)
TIDE_CALL(je_valloc, GIVES, JE_PREFIXED, VALLOC, .size = 1)
TIDE_CALL(je_free, TAKES, JE_PREFIXED, MALLOC, .old = 1)
TIDE_CALL(tc_malloc, GIVES, TCMALLOC, MALLOC, .size = 1)
TIDE_CALL(tc_malloc_skip_new_handler, GIVES, TCMALLOC, MALLOC, .size = 1)
TIDE_CALL(tc_calloc, GIVES, TCMALLOC, CALLOC, .count = 1, .size = 2)
TIDE_CALL(tc_realloc, MOVES, TCMALLOC, REALLOC, .old = 1, .size = 2)
TIDE_CALL(tc_memalign, GIVES, TCMALLOC, MEMALIGN, .size = 2, .align = 1)
TIDE_CALL(tc_posix_memalign, FILLS, TCMALLOC, POSIX_MEMALIGN, .old = 1, .size = 3,
          .align = 2)
TIDE_CALL(tc_valloc, GIVES, TCMALLOC, VALLOC, .size = 1)
TIDE_CALL(tc_pvalloc, GIVES, TCMALLOC, PVALLOC, .size = 1)
TIDE_CALL(tc_new, GIVES, TCMALLOC, NEW, .size = 1)
TIDE_CALL(tc_new_nothrow, GIVES, TCMALLOC, NEW, .size = 1)
TIDE_CALL(tc_new_aligned, GIVES, TCMALLOC, NEW, .size = 1, .align = 2)
TIDE_CALL(tc_new_aligned_nothrow, GIVES, TCMALLOC, NEW, .size = 1, .align = 2)
TIDE_CALL(tc_newarray, GIVES, TCMALLOC, NEW_ARRAY, .size = 1)
TIDE_CALL(tc_newarray_nothrow, GIVES, TCMALLOC, NEW_ARRAY, .size = 1)
TIDE_CALL(tc_newarray_aligned, GIVES, TCMALLOC, NEW_ARRAY, .size = 1, .align = 2)
TIDE_CALL(tc_newarray_aligned_nothrow, GIVES, TCMALLOC, NEW_ARRAY, .size = 1,
          .align = 2)
TIDE_CALL(tc_free, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_cfree, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_free_sized, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_delete, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_delete_nothrow, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_delete_sized, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_delete_aligned, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_delete_aligned_nothrow, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_delete_sized_aligned, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_deletearray, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_deletearray_nothrow, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_deletearray_sized, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_deletearray_aligned, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_deletearray_aligned_nothrow, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_deletearray_sized_aligned, TAKES, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_malloc, GIVES, MIMALLOC, MALLOC, .size = 1)
TIDE_CALL(mi_malloc_small, GIVES, MIMALLOC, MALLOC, .size = 1)
TIDE_CALL(mi_zalloc, GIVES, MIMALLOC, CALLOC, .size = 1)
TIDE_CALL(mi_calloc, GIVES, MIMALLOC, CALLOC, .count = 1, .size = 2)
TIDE_CALL(mi_mallocn, GIVES, MIMALLOC, MALLOC, .count = 1, .size = 2)
TIDE_CALL(mi_malloc_aligned, GIVES, MIMALLOC, MEMALIGN, .size = 1, .align = 2)
TIDE_CALL(mi_malloc_aligned_at, GIVES, MIMALLOC, MEMALIGN, .size = 1, .align = 2)
TIDE_CALL(mi_zalloc_aligned, GIVES, MIMALLOC, CALLOC, .size = 1, .align = 2)
TIDE_CALL(mi_zalloc_aligned_at, GIVES, MIMALLOC, CALLOC, .size = 1, .align = 2)
TIDE_CALL(mi_calloc_aligned, GIVES, MIMALLOC, CALLOC, .count = 1, .size = 2, .align = 3)
TIDE_CALL(mi_calloc_aligned_at, GIVES, MIMALLOC, CALLOC, .count = 1, .size = 2,
          .align = 3)
TIDE_CALL(mi_realloc, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2)
TIDE_CALL(mi_reallocf, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2)
TIDE_CALL(mi_rezalloc, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2)
TIDE_CALL(mi_reallocn, MOVES, MIMALLOC, REALLOC, .old = 1, .count = 2, .size = 3)
TIDE_CALL(mi_recalloc, MOVES, MIMALLOC, REALLOC, .old = 1, .count = 2, .size = 3)
TIDE_CALL(mi_realloc_aligned, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2, .align = 3)
TIDE_CALL(mi_realloc_aligned_at, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2,
          .align = 3)
TIDE_CALL(mi_rezalloc_aligned, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2,
          .align = 3)
TIDE_CALL(mi_rezalloc_aligned_at, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2,
          .align = 3)
TIDE_CALL(mi_recalloc_aligned, MOVES, MIMALLOC, REALLOC, .old = 1, .count = 2,
          .size = 3, .align = 4)
TIDE_CALL(mi_recalloc_aligned_at, MOVES, MIMALLOC, REALLOC, .old = 1, .count = 2,
          .size = 3, .align = 4)
TIDE_CALL(mi_strdup, GIVES_STRING, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_strndup, GIVES_STRING, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_realpath, GIVES_STRING, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_wcsdup, GIVES_WIDE, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_dupenv_s, FILLS_STRING, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_heap_malloc, GIVES, MIMALLOC, MALLOC, .size = 2)
TIDE_CALL(mi_heap_malloc_small, GIVES, MIMALLOC, MALLOC, .size = 2)
TIDE_CALL(mi_heap_zalloc, GIVES, MIMALLOC, CALLOC, .size = 2)
TIDE_CALL(mi_heap_calloc, GIVES, MIMALLOC, CALLOC, .count = 2, .size = 3)
TIDE_CALL(mi_heap_mallocn, GIVES, MIMALLOC, MALLOC, .count = 2, .size = 3)
TIDE_CALL(mi_heap_malloc_aligned, GIVES, MIMALLOC, MEMALIGN, .size = 2, .align = 3)
TIDE_CALL(mi_heap_malloc_aligned_at, GIVES, MIMALLOC, MEMALIGN, .size = 2, .align = 3)
TIDE_CALL(mi_heap_zalloc_aligned, GIVES, MIMALLOC, CALLOC, .size = 2, .align = 3)
TIDE_CALL(mi_heap_zalloc_aligned_at, GIVES, MIMALLOC, CALLOC, .size = 2, .align = 3)
TIDE_CALL(mi_heap_calloc_aligned, GIVES, MIMALLOC, CALLOC, .count = 2, .size = 3,
          .align = 4)
TIDE_CALL(mi_heap_calloc_aligned_at, GIVES, MIMALLOC, CALLOC, .count = 2, .size = 3,
          .align = 4)
TIDE_CALL(mi_heap_realloc, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3)
TIDE_CALL(mi_heap_reallocf, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3)
TIDE_CALL(mi_heap_rezalloc, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3)
TIDE_CALL(mi_heap_reallocn, MOVES, MIMALLOC, REALLOC, .old = 2, .count = 3, .size = 4)
TIDE_CALL(mi_heap_recalloc, MOVES, MIMALLOC, REALLOC, .old = 2, .count = 3, .size = 4)
TIDE_CALL(mi_heap_realloc_aligned, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3,
          .align = 4)
TIDE_CALL(mi_heap_realloc_aligned_at, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3,
          .align = 4)
TIDE_CALL(mi_heap_rezalloc_aligned, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3,
          .align = 4)
TIDE_CALL(mi_heap_rezalloc_aligned_at, MOVES, MIMALLOC, REALLOC, .old = 2, .size = 3,
          .align = 4)
TIDE_CALL(mi_heap_recalloc_aligned, MOVES, MIMALLOC, REALLOC, .old = 2, .count = 3,
          .size = 4, .align = 5)
TIDE_CALL(mi_heap_recalloc_aligned_at, MOVES, MIMALLOC, REALLOC, .old = 2, .count = 3,
          .size = 4, .align = 5)
TIDE_CALL(mi_heap_strdup, GIVES_STRING, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_heap_strndup, GIVES_STRING, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_heap_realpath, GIVES_STRING, MIMALLOC, MALLOC, .old = 0)
TIDE_CALL(mi_zalloc_small, GIVES, MIMALLOC, CALLOC, .size = 1)
TIDE_CALL(mi_heap_alloc_new, GIVES, MIMALLOC, NEW, .size = 2)
TIDE_CALL(mi_heap_alloc_new_n, GIVES, MIMALLOC, NEW, .count = 2, .size = 3)
TIDE_CALL(mi_new, GIVES, MIMALLOC, NEW, .size = 1)
TIDE_CALL(mi_new_nothrow, GIVES, MIMALLOC, NEW, .size = 1)
TIDE_CALL(mi_new_n, GIVES, MIMALLOC, NEW, .count = 1, .size = 2)
TIDE_CALL(mi_new_aligned, GIVES, MIMALLOC, NEW, .size = 1, .align = 2)
TIDE_CALL(mi_new_aligned_nothrow, GIVES, MIMALLOC, NEW, .size = 1, .align = 2)
TIDE_CALL(mi_new_realloc, MOVES, MIMALLOC, REALLOC, .old = 1, .size = 2)
TIDE_CALL(mi_new_reallocn, MOVES, MIMALLOC, REALLOC, .old = 1, .count = 2, .size = 3)
TIDE_CALL(mi_reallocarray, MOVES, MIMALLOC, REALLOCARRAY, .old = 1, .count = 2,
          .size = 3)
TIDE_CALL(mi_reallocarr, MOVES_IN, MIMALLOC, REALLOCARRAY, .old = 1, .count = 2,
          .size = 3)
TIDE_CALL(mi_memalign, GIVES, MIMALLOC, MEMALIGN, .size = 2, .align = 1)
TIDE_CALL(mi_aligned_alloc, GIVES, MIMALLOC, ALIGNED_ALLOC, .size = 2, .align = 1)
TIDE_CALL(mi_posix_memalign, FILLS, MIMALLOC, POSIX_MEMALIGN, .old = 1, .size = 3,
          .align = 2)
TIDE_CALL(mi_valloc, GIVES, MIMALLOC, VALLOC, .size = 1)
TIDE_CALL(mi_pvalloc, GIVES, MIMALLOC, PVALLOC, .size = 1)
TIDE_CALL(mi_expand, RESIZES, MIMALLOC, REALLOC, .old = 1, .size = 2)
TIDE_CALL(mi_free, TAKES, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_cfree, TAKES, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_free_size, TAKES, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_free_size_aligned, TAKES, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_free_aligned, TAKES, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_heap_delete, WRAPS, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_heap_destroy, DESTROYS, MIMALLOC, MALLOC, .old = 1)
/* Who finds one name of an allocator's takes it that these are there, too. */
TIDE_CALL(sallocx, ASKS, JEMALLOC, MALLOC, .old = 1)
TIDE_CALL(nallocx, ASKS, JEMALLOC, MALLOC, .size = 1)
TIDE_CALL(je_sallocx, ASKS, JE_PREFIXED, MALLOC, .old = 1)
TIDE_CALL(je_nallocx, ASKS, JE_PREFIXED, MALLOC, .size = 1)
TIDE_CALL(je_malloc_usable_size, ASKS, JE_PREFIXED, MALLOC, .old = 1)
TIDE_CALL(tc_malloc_size, ASKS, TCMALLOC, MALLOC, .old = 1)
TIDE_CALL(tc_nallocx, ASKS, TCMALLOC, MALLOC, .size = 1)
TIDE_CALL(mi_usable_size, ASKS, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_malloc_size, ASKS, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_malloc_usable_size, ASKS, MIMALLOC, MALLOC, .old = 1)
TIDE_CALL(mi_good_size, ASKS, MIMALLOC, MALLOC, .size = 1)
TIDE_CALL(mi_malloc_good_size, ASKS, MIMALLOC, MALLOC, .size = 1)
/* NOLINTEND(readability-identifier-naming) */
/* NOLINTEND(readability-function-size) */
