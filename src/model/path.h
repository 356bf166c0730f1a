/* model/path.h - a stack as a list of calls, as people want to read it.
 *
 * For: model/, view/, tests/.  Inlined functions are calls of their own.  Left out are the
 * frames that carry a program or a thread to its first own function (_start and its
 * like, and libc's nameless ones beside them), and the recorder's own.  The innermost
 * call is never left out, so no path is empty.  If asked for, functions of the language's
 * library, at the inner end those that only hand on what they are asked for (wrappers.h),
 * and those that are hidden are left out too: they count as their callers.
 */
#ifndef TIDE_MODEL_PATH_H
#define TIDE_MODEL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/intern.h"
#include "model/model.h"

struct tide_call {
    uint32_t function;
    uint32_t line;    /* of the call inside the function, 0 when unknown */
    const char *file; /* NULL when unknown; borrowed from the model */
};

/* Which calls a frame is, innermost first: several where functions are inlined. */
struct tide_frame_calls {
    uint32_t first; /* in frame_calls */
    uint32_t count;
    bool known;
};

/* Turns stacks into calls; names each function once. */
struct tide_paths {
    const struct tide_model *model; /* borrowed */
    bool fold;                      /* leave library functions and wrappers out */
    const struct tide_model
        *beside;                /* borrowed: its wrappers are left out too; or NULL.
                                        Set it before the first walk. */
    const char *hide;           /* borrowed pattern: leave these out; or NULL */
    struct tide_arena arena;    /* names */
    struct tide_intern strings; /* in the arena */

    struct tide_function *functions; /* owned */
    size_t function_count, function_capacity;
    uint32_t *function_slots; /* owned: index + 1, by name and module */
    size_t function_mask;

    struct tide_frame_calls *frames; /* owned: per frame */
    struct tide_call *frame_calls;   /* owned: what frames have */
    size_t frame_call_count, frame_call_capacity;

    /* The last path that was asked for, innermost first. */
    struct tide_call *calls; /* owned */
    size_t call_count, call_capacity;
};

enum tide_status tide_paths_init(struct tide_paths *paths,
                                 const struct tide_model *model);
void tide_paths_release(struct tide_paths *paths);

/* Name the functions of FRAME, if that was not done yet: paths->frames[FRAME] is known
 * then. */
enum tide_status tide_paths_name(struct tide_paths *paths, uint32_t frame);

/* Put the calls of STACK into paths->calls. */
enum tide_status tide_paths_walk(struct tide_paths *paths, uint32_t stack);

/* The file name at the end of PATH. */
const char *tide_path_base(const char *path);
/* Is PATH the dynamic loader, as glibc has it or had it named? */
bool tide_path_is_loader(const char *path);

#endif
