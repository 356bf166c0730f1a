/* model/findings_frees.c - findings of frees that were wrong: double and wild ones.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/amounts.h"
#include "model/bad_frees.h"
#include "model/findings_parts.h"

static const char *const KINDS[] = {
    [TIDE_FREED_TWICE] = "double_free",
    [TIDE_FREED_INSIDE] = "wild_free",
    [TIDE_FREED_UNKNOWN] = "wild_free",
};

/* What one sentence is made of. */
struct telling {
    struct tide_text text;
    const struct tide_model *model;
    struct tide_blamer *blamer;
    struct tide_paths *paths;
    const struct tide_bad_free *free;
    uint64_t calls; /* of this and all that are like it */
    enum tide_status status;
};

/* Add BEFORE and who is to blame for STACK; nothing for no stack. */
static void add_whom(struct telling *telling, const char *before, uint32_t stack)
{
    struct tide_blame blame = {0};
    if (!stack || telling->status)
        return;
    telling->status = tide_paths_walk(telling->paths, stack);
    if (!telling->status)
        telling->status = tide_blame_path(telling->blamer, telling->paths, &blame);
    if (telling->status || blame.call >= telling->paths->call_count)
        return;
    tide_text_add(&telling->text, before);
    tide_found_who(&telling->text, telling->paths, blame.call,
                   &(struct tide_found){.lines = 1});
}

static void add_time(struct telling *telling, uint64_t ticks)
{
    tide_text_addf(&telling->text, "at %.3f s",
                   tide_trace_seconds(telling->model->trace, ticks));
}

/* "a block of 500 bytes made by make (a.c:9)" */
static void add_block(struct telling *telling, const char *article)
{
    tide_text_add(&telling->text, article);
    tide_add_bytes(&telling->text, (double)telling->free->size);
    add_whom(telling, " made by ", telling->free->made_stack);
}

static void tell_twice(struct telling *telling)
{
    add_block(telling, "A block of ");
    tide_text_add(&telling->text, " was freed ");
    add_time(telling, telling->free->freed_ticks);
    add_whom(telling, " by ", telling->free->freed_stack);
    tide_text_add(&telling->text, " and again ");
    add_time(telling, telling->free->ticks);
    add_whom(telling, " by ", telling->free->stack);
    tide_text_add(&telling->text, "; no recorded call had returned it in between.");
}

static void tell_wild(struct telling *telling)
{
    const struct tide_bad_free *const wild = telling->free;
    tide_text_add(&telling->text, "free was called ");
    add_time(telling, wild->ticks);
    add_whom(telling, " by ", wild->stack);
    if (wild->kind == TIDE_FREED_INSIDE) {
        tide_text_add(&telling->text, " with an address ");
        tide_add_count(&telling->text, wild->address - wild->block_start, "byte");
        add_block(telling, " into a live block of ");
        tide_text_add(&telling->text, ".");
    } else {
        tide_text_addf(&telling->text,
                       " with 0x%" PRIx64
                       ", which no recorded call had returned: it is "
                       "not of the heap, or of an allocator that is not recorded.",
                       wild->address);
    }
}

/* What is missing in these words, and how often it happened. */
static void tell_rest(struct telling *telling)
{
    if (telling->calls > 1) {
        tide_text_add(&telling->text, " There are ");
        tide_add_count(&telling->text, telling->calls, "such free");
        tide_text_add(&telling->text, ".");
    }
    if (!telling->free->stack)
        tide_text_add(&telling->text, " tidemark run --free-stacks shows where.");
}

static bool are_alike(const struct tide_bad_free *one,
                      const struct tide_bad_free *other)
{
    return one->kind == other->kind && one->stack == other->stack &&
           one->made_stack == other->made_stack;
}

/* Was one like number I told already? */
static bool is_told(const struct tide_bad_frees *frees, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (are_alike(&frees->list[before], &frees->list[i]))
            return true;
    return false;
}

static enum tide_status tell(struct telling *telling, struct tide_finding *out)
{
    const struct tide_bad_free *const bad = telling->free;
    if (bad->kind == TIDE_FREED_TWICE)
        tell_twice(telling);
    else
        tell_wild(telling);
    tell_rest(telling);
    if (telling->text.failed || telling->status) {
        tide_text_release(&telling->text);
        return telling->status ? telling->status : TIDE_ENOMEM;
    }
    const double at = tide_trace_seconds(telling->model->trace, bad->ticks);
    *out = (struct tide_finding){
        .kind = KINDS[bad->kind],
        .text = telling->text.bytes,
        .bytes = bad->size,
        .calls = telling->calls,
        .stack = bad->stack ? bad->stack : bad->made_stack,
        .stacks = 1,
        .first_s = at,
        .last_s = at,
    };
    return TIDE_OK;
}

enum tide_status tide_found_frees(const struct tide_model *model,
                                  const struct tide_bad_frees *frees,
                                  struct tide_blamer *blamer, struct tide_paths *paths,
                                  struct tide_findings *out)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; frees && i < frees->count && !status; i++) {
        struct telling telling = {
            .model = model, .blamer = blamer, .paths = paths, .free = &frees->list[i]};
        if (is_told(frees, i) || out->count == TIDE_FOUND_FREES_MAX)
            continue;
        for (size_t other = i; other < frees->count; other++)
            telling.calls += are_alike(&frees->list[i], &frees->list[other])
                                 ? frees->list[other].calls
                                 : 0;
        status = tell(&telling, &out->list[out->count]);
        out->count += !status;
    }
    return status;
}
