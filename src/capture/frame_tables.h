/* capture/frame_tables.h - frame tables of large files, without their pages staying.
 *
 * For: cfi_row.c, stack.c.  A compiler's libraries have 11 MiB of frame tables, and rows are
 * found all over them: read where the program has them, these pages would be its own from
 * then on.  So what is large at start is mapped a second time, and read there; what was not
 * touched for the longest time is let go, which only this second mapping can be: pages of
 * the program's may hold what it wrote.
 *
 * Files are opened at start only, since later the program may be in a sandbox that kills for
 * it, in another root, or somebody may have put another file in its place.
 */
#ifndef TIDE_CAPTURE_FRAME_TABLES_H
#define TIDE_CAPTURE_FRAME_TABLES_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    TIDE_WINDOW_SHIFT = 16, /* the kernel maps what is around a page, so far at least */
    TIDE_TABLES_WINDOWS = 1024,
};

enum tide_window { TIDE_WINDOW_AWAY, TIDE_WINDOW_THERE, TIDE_WINDOW_USED };

/* All but `header` and `window` is fixed once recording has begun. */
struct tide_frame_tables {
    _Atomic uintptr_t header; /* .eh_frame_hdr, where the program has it; 0: closed */
    uintptr_t from, to;       /* what is mapped of the file */
    uintptr_t elsewhere;      /* to be added to a place here, to have the program's */
    uint32_t windows;
    _Atomic uint8_t window[TIDE_TABLES_WINDOWS]; /* enum tide_window */
};

extern _Atomic int32_t tide_windows_there; /* in all tables */

/* Map what is large of the files that are loaded. */
void tide_frame_tables_begin(void);

/* Where to read what the program has at HEADER; NULL: there.  Relocations that the loader
 * has made are missing: a row that is not found may be found in the program's own. */
struct tide_frame_tables *tide_frame_tables_of(uintptr_t header);

/* Libraries may have gone: others may come where they were. */
void tide_frame_tables_check(void);

/* A row was found: let go what is too much. */
void tide_frame_tables_rest(void);

/* AT, which is in TABLES, is about to be read.  NULL: somewhere else. */
static inline void tide_frame_tables_touch(struct tide_frame_tables *tables,
                                           uintptr_t at)
{
    if (!tables)
        return;
    const uintptr_t first = tables->from >> TIDE_WINDOW_SHIFT;
    _Atomic uint8_t *const window = &tables->window[(at >> TIDE_WINDOW_SHIFT) - first];
    if (atomic_load_explicit(window, memory_order_relaxed) != TIDE_WINDOW_USED &&
        atomic_exchange(window, TIDE_WINDOW_USED) == TIDE_WINDOW_AWAY)
        atomic_fetch_add(&tide_windows_there, 1);
}

#endif
