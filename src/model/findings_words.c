/* model/findings_words.c - what a finding says: what was measured, and what helps.
 */
#include "model/findings_words.h"
#include <string.h>

#include "model/amounts.h"

/* A rate of less is noise. */
static const double TIDE_RATE_LEAST_S = 1.0;

/* Who holds less than a twentieth of the peak is not told as the next. */
enum { TIDE_NEXT_PARTS = 20 };
/* Nor is who has less than a fifth of something said to have part in it. */
enum { TIDE_PARTS_SAID = 5 };
/* A tenth less than it holds needs a word. */
enum { TIDE_REST_PARTS = 10 };
/* Of the peak: what is less is not worth saying. */
enum { TIDE_KEPT_PARTS = 100 };
/* Slabs: so many, of so many call paths, and all but a tenth of the bytes of whole pages. */
enum { TIDE_SLAB_PATHS = 50, TIDE_SLAB_PARTS = 10, TIDE_SLABS_LEAST = 16 };
/* Of the run's time: what is less is not worth saying. */
static const double TIDE_SHARE_SAID = 0.005;

/* --- Numbers ------------------------------------------------------------------------- */

/* Add " of 18 to 40 bytes". */
static void add_range(struct tide_text *text, uint64_t least, uint64_t most)
{
    struct tide_text first = {0}, last = {0};
    tide_add_bytes(&first, (double)least);
    tide_add_bytes(&last, (double)most);
    if (first.bytes && last.bytes) {
        const char *const unit = strrchr(first.bytes, ' ');
        const bool same = unit && strcmp(unit, strrchr(last.bytes, ' ')) == 0;
        tide_text_add(text, " of ");
        tide_text_add_bytes(text, first.bytes,
                            same ? (size_t)(unit - first.bytes) : first.length);
        tide_text_addf(text, " to %s", last.bytes);
    }
    text->failed |= first.failed || last.failed;
    tide_text_release(&first);
    tide_text_release(&last);
}

void tide_found_add_sizes(const struct tide_sentence *s)
{
    const uint64_t least = s->found->size_least, most = s->found->size_most;
    if (s->verdict->calls < 2 || s->subject->wide)
        return;
    if (least > 0 && least < most) {
        add_range(s->text, least, most);
        return;
    }
    tide_text_add(s->text, " of ");
    tide_add_bytes(s->text, (double)s->verdict->bytes / (double)s->verdict->calls);
    tide_text_add(s->text, least ? " each" : " on average");
}

void tide_found_add_amount(const struct tide_sentence *s)
{
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, " in ");
    tide_add_count(s->text, s->verdict->calls, "block");
    tide_found_add_sizes(s);
}

static const char *were(const struct tide_sentence *s)
{
    return s->verdict->calls == 1 ? "was" : "were";
}

/* " (8 % of the peak)" */
static void add_share_of_peak(const struct tide_sentence *s)
{
    tide_text_add(s->text, ", ");
    tide_found_percent(s->text, s->verdict->share);
    tide_text_addf(s->text, " of the peak%s",
                   s->subject->space == TIDE_IN_HEAP ? "" : " of mapped memory");
}

/* How often that is in a second while it happens, and when that is. */
static void add_rate(const struct tide_sentence *s)
{
    const double first = tide_trace_seconds(s->model->trace, s->subject->first_ticks);
    const double last = tide_trace_seconds(s->model->trace, s->subject->last_ticks);
    if (last - first < TIDE_RATE_LEAST_S)
        return;
    tide_text_add(s->text, ", ");
    tide_add_number(s->text, (uint64_t)((double)s->verdict->calls / (last - first)));
    tide_text_add(s->text, " a second from ");
    tide_found_seconds(s->text, first);
    tide_text_add(s->text, " to ");
    tide_found_seconds(s->text, last);
}

static double share_of_calls(const struct tide_sentence *s)
{
    const uint64_t all = s->model->summary[TIDE_IN_HEAP].alloc_calls;
    return all ? (double)s->verdict->calls / (double)all : 0;
}

/* "12 calls, some 3 ms of an unrecorded run."  What is recorded runs slower. */
static void add_calls_and_time(const struct tide_sentence *s)
{
    tide_add_count(s->text, s->verdict->gain_calls, "call");
    tide_text_add(s->text, ", some ");
    tide_found_seconds(s->text, s->verdict->seconds);
    tide_text_add(s->text, " of an unrecorded run.");
}

static void add_gain_of_time(const struct tide_sentence *s)
{
    tide_text_add(s->text, " saves about ");
    add_calls_and_time(s);
}

static void add_gain_of_bytes(const struct tide_sentence *s)
{
    tide_text_add(s->text, " saves ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes);
}

/* --- Calls --------------------------------------------------------------------------- */

static void say_growth(const struct tide_sentence *s)
{
    const struct tide_subject *const subject = s->subject;
    const bool by_realloc = s->verdict->bytes == subject->copied_bytes;
    tide_text_addf(s->text, "%s grows what it holds in ", s->who);
    if (by_realloc) {
        tide_add_count(s->text, subject->crept_calls, "small realloc step");
        tide_text_add(s->text, ", of ");
        tide_add_bytes(s->text,
                       (double)subject->crept_bytes / (double)subject->crept_calls);
        tide_text_add(s->text, " on average; ");
        tide_add_number(s->text, subject->copied_calls);
        tide_text_add(s->text, " of them copied it elsewhere, ");
    } else {
        tide_add_count(s->text, s->verdict->calls, "step");
        tide_text_add(s->text, ", which made ");
    }
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, by_realloc ? " in all" : "");
    tide_text_add(s->text, ". Reserving the size here, or doubling it,");
    add_gain_of_time(s);
}

static void say_churn(const struct tide_sentence *s)
{
    tide_text_addf(s->text, "%s makes ", s->who);
    tide_add_count(s->text, s->verdict->calls, "temporary block");
    tide_found_add_sizes(s);
    tide_text_add(s->text, ", ");
    tide_found_percent(s->text, share_of_calls(s));
    tide_text_add(s->text, " of all allocation calls");
    add_rate(s);
    tide_text_add(s->text, ". Keeping one and using it again");
    add_gain_of_time(s);
}

/* What is told twice is said to be. */
static void add_inside(const struct tide_sentence *s)
{
    const struct tide_holder *const parts = s->found->standing.parts;
    if (parts[0].bytes == 0)
        return;
    tide_text_add(s->text, " It includes most of what ");
    tide_found_name(s->text, parts[0].name);
    if (parts[1].bytes) {
        tide_text_add(s->text, " and ");
        tide_found_name(s->text, parts[1].name);
    }
    tide_text_addf(s->text, " make%s.", parts[1].bytes ? "" : "s");
}

/* Keeping blocks costs memory: what is kept stands at the peak, too. */
static void add_advice(const struct tide_sentence *s)
{
    const uint64_t peak = s->model->summary[TIDE_IN_HEAP].peak_bytes;
    const uint64_t kept = s->subject->most_bytes;
    if (s->subject->wide) {
        tide_text_add(
            s->text,
            ". Call it less, or have what it calls use blocks again: fewer calls; what is kept adds to the peak.");
        return;
    }
    tide_text_add(s->text,
                  ". Blocks that are kept and used again: fewer calls, hardly less "
                  "time, and ");
    if (kept < peak / TIDE_KEPT_PARTS) {
        tide_text_add(s->text, "the same peak.");
        return;
    }
    tide_text_add(s->text, "a peak that is up to ");
    tide_add_bytes(s->text, (double)kept);
    tide_text_add(s->text, " higher.");
}

/* A saving of time is said where it is one; else so many bytes are. */
static void say_turnover(const struct tide_sentence *s)
{
    const struct tide_summary *const heap = &s->model->summary[TIDE_IN_HEAP];
    const double times =
        heap->peak_bytes ? (double)s->verdict->bytes / (double)heap->peak_bytes : 0;
    tide_text_addf(s->text, "%s makes and frees ", s->who);
    tide_found_add_amount(s);
    tide_text_add(s->text, ": ");
    tide_found_percent(s->text,
                       (double)s->verdict->bytes / (double)(heap->allocated_bytes + 1));
    tide_text_add(s->text, " of all bytes that the run allocates, ");
    tide_found_percent(s->text, share_of_calls(s));
    tide_text_add(s->text, " of all calls");
    add_rate(s);
    if (s->verdict->share >= TIDE_SHARE_SAID) {
        tide_text_add(
            s->text,
            s->subject->wide
                ? ". Calling it less, or using the same blocks again, saves up to "
                : ". Blocks that are kept and used again save up to ");
        add_calls_and_time(s);
    } else {
        if (times >= 2)
            tide_text_addf(s->text, ", %.0f times the peak", times);
        add_advice(s);
    }
    add_inside(s);
}

static void say_pool(const struct tide_sentence *s)
{
    tide_text_addf(s->text, "%s makes and frees ", s->who);
    tide_add_count(s->text, s->verdict->calls, "block");
    tide_text_add(s->text, " of ");
    tide_add_bytes(s->text, (double)s->verdict->bytes / (double)s->subject->calls);
    tide_text_add(s->text, ", of which ");
    tide_add_count(s->text, s->subject->equal_blocks, "block");
    tide_text_addf(s->text, " at most %s there at once",
                   s->subject->equal_blocks == 1 ? "was" : "were");
    add_rate(s);
    tide_text_add(s->text, ". A pool");
    add_gain_of_time(s);
}

static void say_foreign_free(const struct tide_sentence *s)
{
    tide_found_add_amount(s);
    tide_text_addf(s->text,
                   " from %s %s freed by another thread than the one that made %s",
                   s->who, were(s), s->verdict->calls == 1 ? "it" : "them");
    add_rate(s);
    tide_text_add(s->text, ". Giving them back to their maker, or handing over more at "
                           "once, saves up to ");
    tide_found_seconds(s->text, s->verdict->seconds);
    tide_text_add(s->text, " of waiting for the allocator in an unrecorded run.");
}

/* --- Bytes --------------------------------------------------------------------------- */

static void say_oversized(const struct tide_sentence *s)
{
    tide_text_addf(s->text, "%s holds ", s->who);
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, ", but the whole process never had more than ");
    tide_add_bytes(s->text, (double)(s->verdict->bytes - s->verdict->gain_bytes));
    tide_text_add(s->text, " in memory: at least ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes);
    tide_text_add(s->text, " of it were never touched. A smaller buffer will do.");
}

static void say_late_free(const struct tide_sentence *s)
{
    const struct tide_hold *const late = &s->subject->late;
    tide_found_add_amount(s);
    tide_text_addf(s->text, " from %s stayed for ", s->who);
    tide_found_seconds(s->text, late->until_s - late->from_s);
    tide_text_add(s->text, " after the last of ");
    tide_add_count(s->text, late->siblings, "other");
    tide_text_addf(s->text, " like %s %s gone. Freeing %s with them",
                   s->verdict->calls == 1 ? "it" : "them",
                   late->siblings == 1 ? "was" : "were",
                   s->verdict->calls == 1 ? "it" : "them");
    add_gain_of_bytes(s);
    tide_text_add(s->text, " for that long");
    add_share_of_peak(s);
    tide_text_add(s->text, ".");
}

static void say_tiny(const struct tide_sentence *s)
{
    const uint64_t blocks = s->subject->peak_blocks;
    tide_text_addf(s->text, "%s holds ", s->who);
    tide_add_count(s->text, blocks, "block");
    tide_found_add_sizes(s);
    tide_text_add(s->text, " at the peak; the allocator adds ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes / (double)blocks);
    tide_text_add(s->text, " to each. Keeping them in one array");
    add_gain_of_bytes(s);
    tide_text_add(s->text, ", ");
    tide_found_percent(s->text, s->verdict->share);
    tide_text_add(s->text,
                  " of all that the allocator holds then; tables count what was "
                  "asked for.");
}

/* What stays until the end may be freed then, or never. */
static bool freed_at_end(const struct tide_subject *subject)
{
    return subject->freed_calls > 0 &&
           subject->bytes - subject->freed_bytes < subject->peak_bytes / 2;
}

static void say_start_up(const struct tide_sentence *s)
{
    tide_found_add_amount(s);
    tide_text_addf(s->text, " from %s %s made within the first ", s->who, were(s));
    tide_found_seconds(s->text, s->subject->start_up.from_s);
    tide_text_addf(s->text, " and %s: what every run costs from its start",
                   freed_at_end(s->subject) ? "freed at the end"
                                            : "held until the end");
    add_share_of_peak(s);
    tide_text_add(s->text, ". Making it when it is needed saves that for runs that do "
                           "not need it.");
}

static void say_reserved(const struct tide_sentence *s)
{
    tide_text_addf(s->text, "%s maps ", s->who);
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, ", but the process never had more than ");
    tide_add_bytes(s->text, (double)(s->verdict->bytes - s->verdict->gain_bytes));
    tide_text_add(s->text,
                  " in memory: the rest is reserved, and takes addresses only.");
}

/* When what stands at the peak was made, and until when it stayed. */
static void add_span(const struct tide_sentence *s)
{
    const struct tide_standing *const standing = &s->found->standing;
    const double first = tide_trace_seconds(s->model->trace, s->subject->first_ticks);
    const double last = tide_trace_seconds(s->model->trace, s->subject->last_ticks);
    const double peak = s->model->summary[s->subject->space].peak_time_s;
    tide_found_times(s->text, first, last < peak || peak <= first ? last : peak);
    if (s->subject->freed_calls == 0)
        tide_text_add(s->text, " and never freed");
    else if (standing->known && standing->to_end)
        tide_text_add(s->text, freed_at_end(s->subject) ? " and freed at the end"
                                                        : " and held until the end");
    else if (standing->known) {
        tide_text_add(s->text, " and gone by ");
        tide_found_seconds(s->text, standing->until_s);
    }
}

/* A part of it was never touched, for certain. */
static void add_untouched(const struct tide_sentence *s)
{
    const uint64_t resident = tide_model_resident_most(s->model);
    if (resident == 0 || s->verdict->bytes <= resident)
        return;
    tide_text_add(s->text, " At least ");
    tide_add_bytes(s->text, (double)(s->verdict->bytes - resident));
    tide_text_add(s->text, " of it was never touched.");
}

static void add_holder(const struct tide_sentence *s, const char *words,
                       const struct tide_holder *holder)
{
    tide_text_add(s->text, words);
    tide_found_name(s->text, holder->name);
    tide_text_add(s->text, " with ");
    tide_add_bytes(s->text, (double)holder->bytes);
}

/* Who makes most of it, or stands beside it. */
static void add_holders(const struct tide_sentence *s, uint64_t peak)
{
    const struct tide_standing *const standing = &s->found->standing;
    const struct tide_holder *const parts = standing->parts;
    if (standing->next.bytes && standing->next.bytes >= peak / TIDE_NEXT_PARTS) {
        add_holder(s, " Beside it: ", &standing->next);
        tide_text_add(s->text, ".");
    }
    if (parts[0].bytes < s->verdict->bytes / TIDE_PARTS_SAID)
        return;
    add_holder(s, " Most in it: ", &parts[0]);
    if (parts[1].bytes >= s->verdict->bytes / TIDE_PARTS_SAID)
        add_holder(s, ", ", &parts[1]);
    tide_text_add(s->text, ".");
}

/* What many ask for, and what always is of whole pages, is cut into pieces by somebody. */
static void add_slabs(const struct tide_sentence *s)
{
    const uint64_t bytes = s->verdict->bytes;
    if (s->subject->space == TIDE_IN_HEAP && !s->subject->wide &&
        s->subject->stacks >= TIDE_SLAB_PATHS &&
        s->verdict->calls >= TIDE_SLABS_LEAST &&
        s->found->page_bytes >= bytes - bytes / TIDE_SLAB_PARTS)
        tide_text_add(s->text,
                      " Probably slabs, which an allocator of the program cuts "
                      "into small blocks: they are of whole pages.");
}

/* Why less can be saved than it holds: the heap stands high without it, too. */
static void add_rest(const struct tide_sentence *s, uint64_t peak)
{
    const uint64_t bytes = s->verdict->bytes;
    if (s->verdict->gain_bytes >= bytes - bytes / TIDE_REST_PARTS)
        return;
    tide_text_add(s->text, ": at another time the rest stands at ");
    tide_add_bytes(s->text, (double)(peak - s->verdict->gain_bytes));
}

static void say_peak_owner(const struct tide_sentence *s)
{
    const uint64_t peak = s->model->summary[s->subject->space].peak_bytes;
    const bool heap = s->subject->space == TIDE_IN_HEAP;
    tide_text_addf(s->text, "%s holds ", s->who);
    tide_found_add_amount(s);
    tide_text_addf(s->text, " at the peak%s, ", heap ? "" : " of mapped memory");
    tide_found_percent(s->text, (double)s->verdict->bytes / (double)peak);
    tide_text_add(s->text, " of it");
    add_span(s);
    tide_text_add(s->text, ".");
    add_untouched(s);
    add_slabs(s);
    add_holders(s, peak);
    tide_text_add(s->text, s->subject->root
                               ? " Not running it saves up to "
                               : " Less of it, or freed earlier, saves up to ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes);
    add_rest(s, peak);
    tide_text_add(s->text, ".");
}

/* --- All ----------------------------------------------------------------------------- */

static void (*const SAY[TIDE_FOUND_KINDS])(const struct tide_sentence *) = {
    [TIDE_FOUND_LEAK_GROWING] = tide_say_leak_growing,
    [TIDE_FOUND_LEAK_PER_THREAD] = tide_say_leak_per_thread,
    [TIDE_FOUND_GROWING] = tide_say_growing,
    [TIDE_FOUND_OVERSIZED] = say_oversized,
    [TIDE_FOUND_GROWTH] = say_growth,
    [TIDE_FOUND_CHURN] = say_churn,
    [TIDE_FOUND_POOL] = say_pool,
    [TIDE_FOUND_FOREIGN_FREE] = say_foreign_free,
    [TIDE_FOUND_RESERVED] = say_reserved,
    [TIDE_FOUND_TURNOVER] = say_turnover,
    [TIDE_FOUND_LATE_FREE] = say_late_free,
    [TIDE_FOUND_TINY] = say_tiny,
    [TIDE_FOUND_START_UP] = say_start_up,
    [TIDE_FOUND_LEAK_ONCE] = tide_say_leak_once,
    [TIDE_FOUND_LEAK] = tide_say_leak,
    [TIDE_FOUND_PEAK_OWNER] = say_peak_owner,
};

/* On whose behalf it is. */
static void add_callers(const struct tide_sentence *s, const struct tide_found *found)
{
    if (found->caller_count == 0)
        return;
    tide_text_add(s->text, " Of its ");
    tide_add_count(s->text, s->subject->stacks, "call path");
    tide_text_addf(s->text, ", those %s ", found->callers_below ? "below" : "from");
    for (uint32_t i = 0; i < found->caller_count; i++) {
        if (i > 0)
            tide_text_add(s->text, ", below ");
        tide_found_name(s->text, found->callers[i].name);
        tide_text_add(s->text, i ? " " : " have ");
        tide_found_percent(s->text, found->callers[i].share);
    }
    tide_text_add(s->text, ".");
}

void tide_found_words(struct tide_text *out, const struct tide_model *model,
                      const struct tide_subject *subject,
                      const struct tide_found *found, const char *who)
{
    const struct tide_sentence sentence = {
        .text = out,
        .model = model,
        .subject = subject,
        .found = found,
        .verdict = &found->verdict,
        .who = who,
    };
    SAY[found->kind](&sentence);
    if (subject->module)
        tide_text_add(out,
                      " None of its functions stands out: this is probably how the "
                      "library works.");
    add_callers(&sentence, found);
}
