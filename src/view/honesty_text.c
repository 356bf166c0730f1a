/* view/honesty_text.c - how far the numbers can be trusted. */
#include <stdlib.h>
#include <string.h>

#include "model/ranks.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

enum { TIDE_LEFT = 2 };

/* A paragraph at the margin; SAFE may be NULL. */
static void add_paragraph(struct tide_page *page, enum tide_ink ink, const char *safe)
{
    if (!safe || !*safe)
        return;
    tide_page_tab(page, TIDE_LEFT);
    tide_page_wrap(page, ink, safe, TIDE_LEFT);
}

/* The counts of things gone wrong, each with its words when it is not 0. */
struct doubt {
    uint64_t count;
    const char *one, *many;
};

/* Add the doubts that are, joined; true when there are any. */
static bool add_doubts(struct tide_text *out, const struct doubt *doubts, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (doubts[i].count == 0)
            continue;
        tide_text_addf(out, "%s%s %s", any ? ", " : "",
                       tide_number_count(doubts[i].count).text,
                       doubts[i].count == 1 ? doubts[i].one : doubts[i].many);
        any = true;
    }
    return any;
}

/* Add what makes the numbers themselves wrong; true when there is any. */
static bool add_lost(struct tide_text *out, const struct tide_honesty *h)
{
    const struct doubt doubts[] = {
        {h->dropped, "event dropped", "events dropped"},
        {h->lost_records, "gap in the records", "gaps in the records"},
        {h->double_frees, "double free", "double frees"},
        {h->unmatched_frees - h->double_frees, "free of a block that was not recorded",
         "frees of blocks that were not recorded"},
        {h->replaced_blocks, "block replaced without a free",
         "blocks replaced without a free"},
        {h->reordered, "event out of order", "events out of order"},
    };
    return add_doubts(out, doubts, sizeof(doubts) / sizeof(doubts[0]));
}

static void add_losses(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_honesty *const h = &model->honesty;
    const char *const *const troubles = model->trace->troubles;
    struct tide_text words = {0};
    tide_words_count(&words, h->events, "event");
    tide_text_add(&words, " recorded; ");
    const size_t before = words.length;
    const bool any = add_lost(&words, h);
    if (!any && troubles && troubles[0])
        tide_text_add(&words, "there was more, see below");
    else if (!any)
        tide_text_add(
            &words, h->events ? "none dropped, all frees matched a recorded allocation"
                              : "there is nothing to judge by");
    tide_text_add(&words, ".");
    if (any && words.bytes) {
        const char *const doubt = words.bytes + before;
        struct tide_text start = {0};
        tide_text_add_bytes(&start, words.bytes, before);
        tide_page_tab(page, TIDE_LEFT);
        tide_page_add(page, TIDE_INK_PLAIN, start.bytes ? start.bytes : "");
        tide_page_wrap(page, TIDE_INK_HOT, doubt, TIDE_LEFT);
        page->out->failed |= start.failed;
        tide_text_release(&start);
    } else {
        add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    }
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* Add what only makes them less telling, but for frames without names if NAMES_TOLD; true
 * when there is any. */
static bool add_limited(struct tide_text *out, const struct tide_model *model,
                        bool names_told)
{
    const struct tide_honesty *const h = &model->honesty;
    const bool deepest = tide_view_is_deepest(model->trace);
    const struct doubt doubts[] = {
        {deepest ? 0 : h->truncated_stacks,
         "stack cut at the depth limit (run --depth)",
         "stacks cut at the depth limit (run --depth)"},
        {deepest ? h->truncated_stacks : 0,
         "stack cut at the depth limit, the highest there is",
         "stacks cut at the depth limit, the highest there is"},
        {h->unfinished_stacks, "stack that ends in [unknown]",
         "stacks that end in [unknown]"},
        {names_told ? 0 : h->unresolved_frames, "frame without a name",
         "frames without a name"},
        {h->inherited_frees, "free of a block inherited by fork",
         "frees of blocks inherited by fork"},
        {h->region_mismatches,
         "end of a region that was not open, or not the innermost",
         "ends of regions that were not open, or not the innermost"},
        {h->unmatched_labels, "label given to something that is not a block",
         "labels given to something that is not a block"},
        {h->oversized_labels, "name of more bytes than its block has",
         "names of more bytes than their blocks have"},
        {h->paused_frees, "free of what was made in a pause, it seems",
         "frees of what was made in a pause, it seems"},
    };
    return add_doubts(out, doubts, sizeof(doubts) / sizeof(doubts[0]));
}

static void add_limits(struct tide_page *page, const struct tide_model *model)
{
    const bool callers = tide_view_knows_callers(model->trace);
    struct tide_text words = {0};
    if (!callers)
        tide_text_add(&words, "No stacks were recorded, as --no-stacks asks; ");
    if (!add_limited(&words, model, false))
        tide_text_add(&words, callers ? "No stack was too deep, every frame has a name"
                                      : "every function has a name");
    tide_text_add(&words, ".");
    add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* "a, libb.so, libc.so and 3 more".  Files of several folders may have one name, which is
 * said once. */
enum { TIDE_NAMED = 3 };
struct naming {
    const char **names; /* owned: of these, each once */
    size_t count;
};

/* Room for MOST names. */
static struct naming naming_of(size_t most)
{
    return (struct naming){.names = calloc(most + 1, sizeof(char *))};
}

static void add_name(struct naming *naming, const char *name)
{
    bool known = !naming->names;
    for (size_t i = 0; i < naming->count && !known; i++)
        known = strcmp(naming->names[i], name) == 0;
    if (!known)
        naming->names[naming->count++] = name;
}

/* Add the names to OUT, and let go of them. */
static void tell_names(struct tide_text *out, struct naming *naming)
{
    const size_t count = naming->count;
    for (size_t i = 0; i < count && i < TIDE_NAMED; i++)
        tide_text_addf(out, "%s%s", i ? ", " : "", naming->names[i]);
    if (count > TIDE_NAMED)
        tide_text_addf(out, " and %s more", tide_number_count(count - TIDE_NAMED).text);
    out->failed |= !naming->names;
    free(naming->names);
    naming->names = NULL;
}

/* What is said alike by all verbs. */
#define TIDE_ONE_OTHER  "it is another build than the one that ran"
#define TIDE_MANY_OTHER "they are other builds than those that ran"

/* In whose code stacks end, what that means, and what can be done. */
static void add_unfinished(struct tide_page *page, const struct tide_honesty *h)
{
    if (h->unfinished_count == 0)
        return;
    struct tide_text modules = {0}, safe = {0}, words = {0};
    struct naming naming = naming_of(h->unfinished_count);
    for (size_t i = 0; i < h->unfinished_count; i++) {
        const char *const module = h->unfinished[i].module;
        add_name(&naming, module ? tide_name_base(module) : "code made at run time");
    }
    tell_names(&modules, &naming);
    tide_name_safe(&safe, modules.bytes ? modules.bytes : "", page->style);
    tide_text_addf(
        &words,
        "[unknown] stands where nothing tells who called: in code without unwind "
        "tables, in code made at run time, at the root of a coroutine. Here: %s. If that "
        "code keeps frame pointers: tidemark run --unwind fp.",
        safe.bytes ? safe.bytes : "");
    add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    page->out->failed |= modules.failed || safe.failed || words.failed;
    tide_text_release(&modules);
    tide_text_release(&safe);
    tide_text_release(&words);
}

/* Which blocks a sanitizer keeps to itself. */
static void add_sanitizer(struct tide_page *page, const struct tide_honesty *h)
{
    struct tide_text safe = {0}, words = {0};
    if (!h->sanitizer)
        return;
    tide_name_safe(&safe, tide_name_base(h->sanitizer), page->style);
    tide_text_addf(&words,
                   "What %s return is made inside %s and is not recorded, though its "
                   "frees are; a build without that sanitizer has all.",
                   h->past_malloc, safe.bytes ? safe.bytes : "");
    add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    page->out->failed |= safe.failed || words.failed;
    tide_text_release(&safe);
    tide_text_release(&words);
}

/* Those that are unnamed for this reason; how many names that are. */
static size_t add_modules(struct tide_text *out, const struct tide_honesty *h,
                          enum tide_module_state why)
{
    struct naming naming = naming_of(h->unnamed_count);
    for (size_t i = 0; i < h->unnamed_count; i++) {
        if (h->unnamed[i].why == why)
            add_name(&naming, tide_name_base(h->unnamed[i].module));
    }
    tell_names(out, &naming);
    return naming.count;
}

/* "Names are missing from a, b and 2 more: " */
static void begin_unnamed(struct tide_text *out, const char *modules)
{
    tide_text_addf(out, "Names are missing from %s: ", modules ? modules : "");
}

void tide_view_other_builds(struct tide_text *out, const struct tide_trace *trace)
{
    struct tide_text modules = {0};
    struct naming naming = naming_of(trace->module_count);
    for (size_t i = 0; i < trace->module_count; i++)
        if (trace->modules[i].other_build)
            add_name(&naming, tide_name_base(trace->modules[i].path));
    const size_t count = naming.count;
    tell_names(&modules, &naming);
    if (count > 0) {
        begin_unnamed(out, modules.bytes);
        tide_text_addf(out, "%s.", count == 1 ? TIDE_ONE_OTHER : TIDE_MANY_OTHER);
    }
    out->failed |= modules.failed;
    tide_text_release(&modules);
}

/* Whose names are missing, why, and what can be done. */
static void add_unnamed(struct tide_page *page, const struct tide_model *model)
{
    static const struct {
        enum tide_module_state why;
        const char *one, *many, *cure;
    } KINDS[] = {
        {TIDE_MODULE_GONE, "the file is gone", "the files are gone",
         "Once back in place: tidemark pack TRACE."},
        {TIDE_MODULE_OTHER, TIDE_ONE_OTHER, TIDE_MANY_OTHER,
         "With the old build in its place: tidemark pack TRACE."},
        {TIDE_MODULE_STRIPPED, "it is stripped", "they are stripped",
         "Debug symbols would help, or: tidemark report --debuginfod."},
        {TIDE_MODULE_TOO_BIG, "its debug information needs more memory than there is",
         "their debug information needs more memory than there is",
         "Functions are as its symbol table has them, without lines; more memory: "
         "--max-memory."},
        {TIDE_MODULE_BROKEN, "to read its debug information failed, or took too long",
         "to read their debug information failed, or took too long",
         "Functions are as its symbol table has them, if it could be read."},
    };
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        struct tide_text modules = {0}, safe = {0}, words = {0};
        const size_t count = add_modules(&modules, &model->honesty, KINDS[i].why);
        tide_name_safe(&safe, modules.bytes ? modules.bytes : "", page->style);
        begin_unnamed(&words, safe.bytes);
        tide_text_addf(&words, "%s. %s", count == 1 ? KINDS[i].one : KINDS[i].many,
                       KINDS[i].cure);
        if (count > 0)
            add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
        page->out->failed |= modules.failed || safe.failed || words.failed;
        tide_text_release(&modules);
        tide_text_release(&safe);
        tide_text_release(&words);
    }
}

/* Which functions count as their callers though they are no library's. */
static void add_wrappers(struct tide_page *page, const struct tide_model *model)
{
    struct tide_text names = {0}, safe = {0}, words = {0};
    struct naming naming = naming_of(model->wrapper_count);
    for (size_t i = 0; i < model->wrapper_count; i++)
        add_name(&naming, model->wrappers[i].name);
    const bool any = naming.count > 0;
    tell_names(&names, &naming);
    tide_name_safe(&safe, names.bytes ? names.bytes : "", page->style);
    tide_text_addf(&words,
                   "Taken for wrappers of malloc, which count as their callers: %s "
                   "(--no-fold shows them).",
                   safe.bytes ? safe.bytes : "");
    if (any)
        add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    page->out->failed |= names.failed || safe.failed || words.failed;
    tide_text_release(&names);
    tide_text_release(&safe);
    tide_text_release(&words);
}

/* What the ± beside the peak means. */
static void add_margin(struct tide_page *page, const struct tide_model *model)
{
    const uint64_t margin = model->summary[TIDE_IN_HEAP].peak_uncertainty_bytes;
    if (margin == 0)
        return;
    struct tide_text words = {0};
    tide_text_addf(
        &words,
        "The peak%s may have been %s more or less: the order of two threads is "
        "only known where both use the same block.",
        tide_ranks_up_to_two(model->trace) < 2 ? "" : " of all ranks together",
        tide_number_bytes(margin, page->style->units).text);
    add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* What the RSS says of heap and mmap.  Where it is a sample, nothing that a higher peak
 * would make false. */
static void add_explained(struct tide_text *words, const struct tide_model *model,
                          enum tide_units units)
{
    const double part = model->honesty.rss_explained;
    const bool exact = model->rss_peak_exact;
    const uint64_t beyond = model->honesty.beyond_rss_bytes;
    const char *const what = model->summary[TIDE_IN_MMAP].shared_peak_bytes
                                 ? "Heap, mmap and shared memory"
                                 : "Heap and mmap";
    if (beyond > 0 && exact)
        tide_text_addf(words,
                       "%s held %s more than the RSS peak: as much of it was not in "
                       "memory, never touched or swapped out. ",
                       what, tide_number_bytes(beyond, units).text);
    else if (part > 0 && beyond == 0)
        tide_text_addf(words, "%s explain %s%.0f %% of the RSS peak%s. ", what,
                       exact ? "" : "at most ", 100.0 * part,
                       part < 0.8 ? "; programs, libraries and stacks are not counted"
                                  : "");
}

static void add_costs(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_honesty *const h = &model->honesty;
    const enum tide_units units = page->style->units;
    struct tide_text words = {0};
    add_explained(&words, model, units);
    /* Neither is known of a run that was cut short. */
    if (h->recorder_bytes > 0) {
        tide_text_add(&words, "Recorder ");
        tide_words_recorder(&words, model, units);
        tide_text_add(&words, h->collector_bytes > 0 ? ", " : ".");
    }
    if (h->collector_bytes > 0)
        tide_text_addf(&words, "%sollector %s %s.", h->recorder_bytes > 0 ? "c" : "C",
                       tide_number_bytes(h->collector_bytes, units).text,
                       tide_words_beside(model));
    if (words.length > 0)
        add_paragraph(page, TIDE_INK_PLAIN, words.bytes);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* Is anything missing that the reader must know of? */
static bool lacks_something(const struct tide_model *model)
{
    const struct tide_honesty *const h = &model->honesty;
    const char *const *const troubles = model->trace->troubles;
    return h->dropped || h->lost_records || h->unmatched_frees || h->replaced_blocks ||
           h->reordered || h->events == 0 || h->sanitizer || !model->trace->complete ||
           model->trace->problem[0] || (troubles && troubles[0]);
}

/* All is well, in one line; what makes the answer less telling may follow. */
static void add_trust(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_honesty *const h = &model->honesty;
    const enum tide_units units = page->style->units;
    const uint64_t margin = model->summary[TIDE_IN_HEAP].peak_uncertainty_bytes;
    struct tide_text words = {0}, limits = {0};
    tide_words_count(&words, h->events, "event");
    tide_text_add(&words, ", nothing dropped or unmatched");
    if (h->beyond_rss_bytes > 0 && model->rss_peak_exact)
        tide_text_addf(&words,
                       "; held %s beyond the RSS peak, untouched or swapped out",
                       tide_number_bytes(h->beyond_rss_bytes, units).text);
    else if (h->rss_explained > 0 && h->beyond_rss_bytes == 0)
        tide_text_addf(&words, "; %s%.0f %% of RSS explained",
                       model->rss_peak_exact ? "" : "at most ",
                       100.0 * h->rss_explained);
    if (margin > 0 && tide_ranks_up_to_two(model->trace) < 2)
        tide_text_addf(&words, "; peak %s %s",
                       tide_glyph(page->style, TIDE_GLYPH_ABOUT),
                       tide_number_bytes(margin, units).text);
    if (!tide_view_knows_callers(model->trace))
        tide_text_add(&words, "; no stacks were recorded");
    if (add_limited(&limits, model, h->unnamed_count > 0)) /* said below */
        tide_text_addf(&words, "; %s (details: -v)", limits.bytes ? limits.bytes : "");
    tide_text_add(&words, ".");
    tide_page_add(page, TIDE_INK_TITLE, "Trust");
    tide_page_add(page, TIDE_INK_PLAIN, "  ");
    tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "", TIDE_LEFT);
    page->out->failed |= words.failed || limits.failed;
    tide_text_release(&words);
    tide_text_release(&limits);
}

void tide_view_honesty(struct tide_page *page, const struct tide_model *model, bool all)
{
    const char **const troubles = model->trace->troubles;
    if (!all && !lacks_something(model)) {
        add_trust(page, model);
        add_unnamed(page, model);
        return;
    }
    tide_page_heading(page, "How far to trust this", "");
    add_losses(page, model);
    add_sanitizer(page, &model->honesty);
    add_margin(page, model);
    if (model->honesty.events > 0)
        add_limits(page, model);
    add_unfinished(page, &model->honesty);
    add_unnamed(page, model);
    add_wrappers(page, model);
    add_costs(page, model);
    for (size_t i = 0; troubles && troubles[i]; i++)
        tide_view_alarm(page, troubles[i]);
}
