/* symbol/name_child.h - names are read in a process of their own.
 *
 * For: symbol/, model/, query/, tests/.  Debug information comes from anywhere, and may make
 * its reader crash, run for hours or take all memory.  So a child reads it, with limits of
 * memory and time; where it breaks, another one goes on with what the symbol table has, and
 * if that breaks as well, the module has no names.
 *
 * One child serves all modules that are opened with it, and is started when it is first
 * asked.  It belongs to one thread at a time.
 */
#ifndef TIDE_SYMBOL_NAME_CHILD_H
#define TIDE_SYMBOL_NAME_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "symbol/name_pool.h"
#include "symbol/symbolizer.h"

struct tide_name_child; /* opaque */

/* DEBUGINFOD (borrowed, or NULL) is asked by the child. */
enum tide_status tide_name_child_new(struct tide_debuginfod *debuginfod,
                                     struct tide_name_child **out);
/* End it; all symbolizers that were opened with it are closed before.  NULL is fine. */
void tide_name_child_free(struct tide_name_child *child);

/* What somebody who waits for the child grants it; zeros: all it wants. */
struct tide_name_limit {
    uint64_t until_ns;                /* of CLOCK_MONOTONIC */
    uint64_t memory;                  /* bytes */
    bool (*cancelled)(void *context); /* or NULL: shall it end?  Asked now and then */
    void *context;
};
/* CHILD, which was not asked yet, is stopped at LIMIT; from then on it answers nothing. */
void tide_name_child_limit(struct tide_name_child *child,
                           const struct tide_name_limit *limit);

/* A module as the child has it. */
struct tide_child_module {
    struct tide_name_child *child; /* borrowed */
    char *texts;                   /* owned: path, build-id and debug root */
    uint32_t text_bytes;
    struct tide_file_known file;
    uint32_t number;
    uint32_t opened_by; /* which child has it open, counted from 1; 0: none */
    bool symbols_only;  /* its debug information broke a child */
    bool hopeless;      /* and so did the rest */
    enum tide_module_state state;
};

/* Which file that is: as in tide_symbolizer_open(). */
struct tide_child_file {
    const char *path, *build_id, *debug_root; /* borrowed for the call */
    struct tide_file_known known;
};
enum tide_status tide_child_module_open(struct tide_child_module *module,
                                        struct tide_name_child *child,
                                        const struct tide_child_file *file);
void tide_child_module_close(struct tide_child_module *module);

/* What is known of one address, in a pool. */
struct tide_child_answer {
    struct tide_location *locations;
    size_t count;
};
/* Ask for COUNT addresses; ANSWERS has as many places.  TIDE_ENOMEM: want of memory in this
 * process; TIDE_ESYSTEM: there can be no child; TIDE_ELIMIT: its time is over. */
enum tide_status tide_child_module_ask(struct tide_child_module *module,
                                       const uint64_t *addresses, size_t count,
                                       struct tide_name_pool *pool,
                                       struct tide_child_answer *answers);

#endif
