/* model/suppress.h - leaks that nobody wants to hear of.
 *
 * For: model/, view/, cli/, tests/.  A file of suppressions is one of LeakSanitizer's: a
 * line "leak:PATTERN" for each, # begins a comment.  A pattern is looked for anywhere in
 * the name of a function, its source file or its module, of any call of a stack; * stands
 * for anything, ^ at its start and $ at its end for the ends of the name.
 *
 * The built-in list has what the C and C++ libraries and the loader keep on purpose, once;
 * it does not cover what is still growing.
 */
#ifndef TIDE_MODEL_SUPPRESS_H
#define TIDE_MODEL_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

struct tide_suppression {
    char *pattern;          /* owned; of a built-in one: what it is */
    uint64_t blocks, bytes; /* that it suppressed */
    bool built_in;
};

/* All zeros is ready for use: the built-in list only. */
struct tide_suppressions {
    struct tide_suppression *list; /* owned */
    size_t count, capacity;
    bool without_built_in;
    /* After tide_suppressions_apply(). */
    bool *sites; /* owned, per site: its blocks are suppressed; NULL: none are */
    uint64_t blocks, bytes;
};

/* Add the patterns of TEXT.  TIDE_ECORRUPT: line *LINE is none. */
enum tide_status tide_suppressions_read(struct tide_suppressions *suppressions,
                                        const char *text, size_t length, size_t *line);
void tide_suppressions_release(struct tide_suppressions *suppressions);

/* Find out which sites of SPACE of MODEL, which is symbolized, are suppressed: only the
 * heap has any.  When a trace was read up to some moment, none are: nothing has leaked
 * yet. */
enum tide_status tide_suppressions_apply(struct tide_suppressions *suppressions,
                                         const struct tide_model *model,
                                         enum tide_space space);

/* Does PATTERN, as a file has it, mean NAME? */
bool tide_suppression_means(const char *pattern, const char *name);

/* Which stacks, by node, are those of suppressed sites; *OUT is owned by the caller, NULL:
 * none are.  COUNT: how many nodes it has. */
enum tide_status tide_suppressed_stacks(const struct tide_model *model,
                                        const struct tide_suppressions *suppressions,
                                        bool **out, size_t *count);

#endif
