/* view/chain.c - the functions of a chain of calls, as one line of a tree names them. */
#include "view/chain.h"

#include <stdio.h>
#include <stdlib.h>

#include "view/cycle.h"
#include "view/names.h"
#include "view/runtime.h"

#define TIDE_DOTS TIDE_NO_CALL /* in place of a function */

/* The functions of a chain, before they become names. */
struct calls {
    uint32_t *list; /* owned: functions, or TIDE_DOTS */
    uint32_t
        *runs; /* owned: how many each stands for: the first of a run without names */
    size_t count;
};

static bool is_runtime(const struct tide_rows *rows, uint32_t function)
{
    return function < rows->function_count &&
           tide_is_runtime(&rows->functions[function]);
}

static size_t count_rows(const struct tide_chain_request *request)
{
    size_t count = 1;
    for (uint32_t row = request->first; row != request->last;
         row = request->rows->tree[row].first_child)
        count++;
    return count;
}

/* The module of FUNCTION, if it has no name; else NULL. */
static const char *unnamed_in(const struct tide_rows *rows, uint32_t function)
{
    const bool unnamed = function < rows->function_count &&
                         !rows->functions[function].resolved &&
                         *rows->functions[function].module;
    return unnamed ? rows->functions[function].module : NULL;
}

/* Functions of one module without names, but for the last, become one step; the
 * first stands alone where it TELLS. */
static void join_unnamed(const struct tide_rows *rows, struct calls *calls, bool tells)
{
    size_t count = tells ? 1 : 0;
    for (size_t i = count; i < calls->count;) {
        const char *const module = unnamed_in(rows, calls->list[i]);
        size_t behind = i + 1;
        while (module && i + 1 < calls->count && behind + 1 < calls->count &&
               unnamed_in(rows, calls->list[behind]) == module)
            behind++;
        calls->list[count] = calls->list[i];
        calls->runs[count++] = (uint32_t)(behind - i);
        i = behind;
    }
    calls->count = count;
}

/* Runs of the library's inside become dots; the last function stays. */
static bool list_calls(const struct tide_chain_request *request, struct calls *out)
{
    const struct tide_rows *const rows = request->rows;
    bool inside = request->inside;
    const size_t count = count_rows(request);
    *out = (struct calls){calloc(count, sizeof(*out->list)),
                          calloc(count, sizeof(*out->runs)), 0};
    for (uint32_t row = request->first; out->list && out->runs;
         row = rows->tree[row].first_child) {
        const uint32_t function = rows->tree[row].function;
        const bool last = row == request->last;
        const bool runtime = is_runtime(rows, function);
        const bool hidden = inside && runtime && request->folds && !last;
        inside = runtime;
        if (!hidden)
            out->list[out->count++] = function;
        else if (out->count == 0 || out->list[out->count - 1] != TIDE_DOTS)
            out->list[out->count++] = TIDE_DOTS;
        out->runs[out->count - 1] = 1;
        if (last)
            break;
    }
    if (request->folds && out->count)
        join_unnamed(rows, out, request->tells);
    return out->count > 0;
}

static void release_calls(struct calls *calls)
{
    free(calls->list);
    free(calls->runs);
}

/* --- Recursion ----------------------------------------------------------------------- */

/* The cycle at AT that covers most; once when there is none.  The last call is shown with
 * its place, so it is in no cycle but its own. */
static struct tide_cycle find_cycle(const struct calls *calls, size_t at)
{
    const uint32_t *const list = calls->list + at;
    const size_t count = calls->count - at;
    const size_t turns = tide_cycle_turns(list, count, 1);
    if (turns > 1 || at == 0) /* the first name stands alone */
        return (struct tide_cycle){1, turns};
    return tide_cycle_find(list, count > 1 ? count - 1 : count);
}

/* --- Names --------------------------------------------------------------------------- */

struct writer {
    const struct tide_rows *rows;
    const struct tide_style *style;
    struct tide_chain *chain;
};

static struct tide_number turns_words(const struct writer *writer, size_t turns)
{
    struct tide_number words = {""};
    if (turns > 1)
        (void)snprintf(words.text, sizeof(words.text), " %s%zu",
                       tide_glyph(writer->style, TIDE_GLYPH_TIMES), turns);
    return words;
}

static void add_dots(const struct writer *writer)
{
    struct tide_chain *const chain = writer->chain;
    if (chain->count > 0 && chain->hidden[chain->count - 1])
        return;
    chain->hidden[chain->count] = true;
    tide_text_add(&chain->names[chain->count++],
                  tide_glyph(writer->style, TIDE_GLYPH_ELLIPSIS));
}

/* The call at AT of CALLS. */
static void add_name(const struct writer *writer, const struct calls *calls, size_t at,
                     const char *before, const char *after)
{
    struct tide_chain *const chain = writer->chain;
    const uint32_t function = calls->list[at];
    const char *const name = function < writer->rows->function_count
                                 ? writer->rows->functions[function].name
                                 : "";
    if (function == TIDE_DOTS) {
        add_dots(writer);
        return;
    }
    chain->named[chain->count] = function < writer->rows->function_count &&
                                 writer->rows->functions[function].resolved;
    struct tide_text *const out = &chain->names[chain->count++];
    tide_text_add(out, before);
    if (calls->runs[at] > 1)
        tide_name_unnamed(out, writer->rows->functions[function].module,
                          calls->runs[at], writer->style);
    else
        tide_name_brief(out, name, writer->style);
    tide_text_add(out, after);
}

/* "(f", "g) x4" */
static void add_cycle(const struct writer *writer, const struct calls *calls, size_t at,
                      struct tide_cycle cycle)
{
    struct tide_chain *const chain = writer->chain;
    const size_t first = chain->count, behind = first + cycle.period;
    struct tide_text end = {0};
    tide_text_addf(&end, ")%s", turns_words(writer, cycle.turns).text);
    chain->names[first].failed = end.failed;
    for (size_t i = 0; i < cycle.period; i++) {
        const bool last = i + 1 == cycle.period;
        add_name(writer, calls, at + i, i == 0 ? "(" : "",
                 last && end.bytes ? end.bytes : "");
        if (i > 0)
            chain->behind[first + i] = behind;
    }
    tide_text_release(&end);
}

static void add_names(const struct writer *writer, const struct calls *calls,
                      bool folds)
{
    struct tide_chain *const chain = writer->chain;
    for (size_t at = 0; at < calls->count;) {
        const struct tide_cycle cycle =
            folds ? find_cycle(calls, at) : (struct tide_cycle){1, 1};
        const size_t next = at + cycle.period * cycle.turns;
        if (next == calls->count) {
            chain->again = turns_words(writer, cycle.turns);
            add_name(writer, calls, at, "", "");
        } else if (chain->count + cycle.period > TIDE_CHAIN_NAMES - 2) {
            add_dots(writer);
        } else if (cycle.period > 1) {
            add_cycle(writer, calls, at, cycle);
        } else {
            add_name(writer, calls, at, "", turns_words(writer, cycle.turns).text);
        }
        at = next;
    }
}

static bool has_failed(const struct tide_chain *chain)
{
    bool failed = false;
    for (size_t i = 0; i < chain->count; i++)
        failed |= chain->names[i].failed;
    return failed;
}

struct tide_chain *tide_chain_new(const struct tide_chain_request *request,
                                  const struct tide_style *style)
{
    struct calls calls = {0};
    struct tide_chain *const chain = calloc(1, sizeof(*chain));
    const struct writer writer = {
        .rows = request->rows, .style = style, .chain = chain};
    if (!chain || !list_calls(request, &calls)) {
        release_calls(&calls);
        free(chain);
        return NULL;
    }
    add_names(&writer, &calls, request->folds);
    release_calls(&calls);
    if (!has_failed(chain))
        return chain;
    tide_chain_free(chain);
    return NULL;
}

void tide_chain_free(struct tide_chain *chain)
{
    for (size_t i = 0; chain && i < chain->count; i++)
        tide_text_release(&chain->names[i]);
    free(chain);
}

const char *tide_chain_name(const struct tide_chain *chain, size_t i)
{
    return chain->names[i].bytes ? chain->names[i].bytes : "";
}
