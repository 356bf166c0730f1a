/* unit/hand_model.h - a model put together by hand, with symbols from a table.
 *
 * For tests of what the model makes of its sites: names, rows, findings.  Module 0 is
 * "/bin/app", 1 "/lib/libc.so.6", 2 "/opt/libtidemark.so", 3 "/lib/ld-linux-x86-64.so.2",
 * 4 "/usr/lib/libstdc++.so.6".
 */
#ifndef TIDE_UNIT_HAND_MODEL_H
#define TIDE_UNIT_HAND_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "model/symbolize.h"

enum {
    TIDE_HAND_APP,
    TIDE_HAND_LIBC,
    TIDE_HAND_OWN,
    TIDE_HAND_LOADER,
    TIDE_HAND_STDCXX,
    TIDE_HAND_MODULES,
};

/* What hand_source answers: at the return address VALUE in MODULE, innermost first.  An
 * entry with the value of the one before it stands for the caller it is inlined into. */
struct hand_symbol {
    uint64_t module, value;
    const char *function, *file;
    uint64_t line;
};

struct hand_frame {
    uint32_t module;
    uint64_t value;
};

struct hand_model {
    struct tide_model *model; /* owned */
    struct tide_trace trace;
    struct tide_module modules[TIDE_HAND_MODULES];
    struct tide_process process;
};

/* SYMBOLS (borrowed, ends with function NULL and value 0) is what hand_source knows. */
void hand_model_init(struct hand_model *hand, const struct hand_symbol *symbols);
void hand_model_release(struct hand_model *hand);

/* The node of the stack of COUNT frames, outermost first. */
uint32_t hand_stack(struct hand_model *hand, const struct hand_frame *frames,
                    size_t count);
/* The same of the model that a test calls `hand`. */
#define STACK(...)                                                \
    hand_stack(&hand, (const struct hand_frame[]){__VA_ARGS__},   \
               sizeof((const struct hand_frame[]){__VA_ARGS__}) / \
                   sizeof(struct hand_frame))
uint32_t hand_synthetic(struct hand_model *hand, uint32_t parent, uint64_t synthetic);
/* Add SITE as it is; it is also counted in the summary of its space. */
void hand_site(struct hand_model *hand, struct tide_site site);

/* Symbols from the table of the last hand_model_init(). */
extern const struct tide_symbol_source hand_source;
/* How often hand_source was opened and closed. */
extern size_t hand_opened, hand_closed;

#endif
