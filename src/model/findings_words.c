/* model/findings_words.c - what a finding says: what was measured, and what helps.
 */
#include "model/amounts.h"
#include "model/findings_parts.h"
#include "model/process_ends.h"

/* A rate of less is noise. */
static const double TIDE_RATE_LEAST_S = 1.0;

/* Who holds less than a twentieth of the peak is not told as the next. */
enum { TIDE_NEXT_PARTS = 20 };
/* Nor is who has less than a fifth of something said to have part in it. */
enum { TIDE_PARTS_SAID = 5 };
/* Of the run's time: what is less is not worth saying. */
static const double TIDE_SHARE_SAID = 0.005;

/* --- Numbers ------------------------------------------------------------------------- */

/* What all sentences are made of. */
struct sentence {
    struct tide_text *text;
    const struct tide_model *model;
    const struct tide_subject *subject;
    const struct tide_verdict_on *verdict;
    const struct tide_standing *standing;
    const char *who;
};

/* "1.5 MiB in 12 blocks" */
static void add_amount(const struct sentence *s)
{
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, " in ");
    tide_add_count(s->text, s->verdict->calls, "block");
}

static const char *were(const struct sentence *s)
{
    return s->verdict->calls == 1 ? "was" : "were";
}

/* " (8 % of the peak)" */
static void add_share_of_peak(const struct sentence *s)
{
    tide_text_add(s->text, ", ");
    tide_found_percent(s->text, s->verdict->share);
    tide_text_addf(s->text, " of the peak%s",
                   s->subject->space == TIDE_IN_HEAP ? "" : " of mapped memory");
}

/* How often that is in a second while it happens. */
static void add_rate(const struct sentence *s)
{
    const double first = tide_trace_seconds(s->model->trace, s->subject->first_ticks);
    const double last = tide_trace_seconds(s->model->trace, s->subject->last_ticks);
    if (last - first < TIDE_RATE_LEAST_S)
        return;
    tide_text_add(s->text, ", ");
    tide_add_count(s->text, (uint64_t)((double)s->verdict->calls / (last - first)),
                   "call");
    tide_text_add(s->text, " a second");
}

static double share_of_calls(const struct sentence *s)
{
    const uint64_t all = s->model->summary[TIDE_IN_HEAP].alloc_calls;
    return all ? (double)s->verdict->calls / (double)all : 0;
}

/* "12 calls, some 3 ms." */
static void add_calls_and_time(const struct sentence *s)
{
    tide_add_count(s->text, s->verdict->gain_calls, "call");
    tide_text_add(s->text, ", some ");
    tide_found_seconds(s->text, s->verdict->seconds);
    tide_text_add(s->text, ".");
}

static void add_gain_of_time(const struct sentence *s)
{
    tide_text_add(s->text, " saves about ");
    add_calls_and_time(s);
}

static void add_gain_of_bytes(const struct sentence *s)
{
    tide_text_add(s->text, " saves ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes);
}

/* --- Leaks --------------------------------------------------------------------------- */

static bool made_at_once(const struct sentence *s)
{
    return tide_found_same_time(s->text, s->verdict->leak.first_s,
                                s->verdict->leak.last_s);
}

static void add_births(const struct sentence *s)
{
    const struct tide_leak *const leak = &s->verdict->leak;
    tide_found_times(s->text, leak->first_s,
                     s->verdict->calls == 1 ? leak->first_s : leak->last_s);
}

static void begin_leak(const struct sentence *s)
{
    add_amount(s);
    tide_text_addf(s->text, " from %s %s never freed", s->who, were(s));
    add_births(s);
}

/* It did not stand at the peak, or not all of it. */
static void end_late_leak(const struct sentence *s)
{
    const struct tide_verdict_on *const verdict = s->verdict;
    tide_text_add(s->text, " saves ");
    tide_add_bytes(s->text, (double)verdict->bytes);
    /* Processes end at different times. */
    tide_text_add(s->text, verdict->leak.processes > 1 ? " in all" : " at the end");
    if (verdict->gain_bytes == 0) {
        tide_text_add(s->text, ", nothing at the peak.");
        return;
    }
    tide_text_add(s->text, verdict->gain_at_most ? " and up to " : " and ");
    tide_add_bytes(s->text, (double)verdict->gain_bytes);
    tide_text_add(s->text, " at the peak, ");
    tide_found_percent(s->text, verdict->share);
    tide_text_add(s->text, " of it.");
}

static void end_leak(const struct sentence *s)
{
    const struct tide_verdict_on *const verdict = s->verdict;
    tide_text_add(s->text, ". Freeing ");
    tide_text_add(s->text, verdict->calls == 1 ? "it" : "them");
    if (verdict->gain_bytes < verdict->bytes - verdict->bytes / 100) {
        end_late_leak(s);
        return;
    }
    add_gain_of_bytes(s);
    tide_text_add(s->text, verdict->gain_at_most ? ", up to " : ", ");
    tide_found_percent(s->text, verdict->share);
    tide_text_add(s->text, " of the peak.");
}

/* ", by 1.5 MiB a second, 3 bytes per event" */
static void add_growth(const struct sentence *s)
{
    const struct tide_leak *const leak = &s->verdict->leak;
    if (leak->bytes_per_second > 0) {
        tide_text_add(s->text, ", by ");
        tide_add_bytes(s->text, leak->bytes_per_second);
        tide_text_add(s->text, " a second");
    }
    if (leak->bytes_per_event > 0) {
        tide_text_add(s->text, ", ");
        tide_add_bytes(s->text, (double)leak->bytes_per_event);
        tide_text_add(s->text, " per event");
    }
}

static void say_leak_growing(const struct sentence *s)
{
    const struct tide_leak *const leak = &s->verdict->leak;
    begin_leak(s);
    if (leak->ended && made_at_once(s)) {
        end_leak(s);
        return;
    }
    tide_text_add(s->text, leak->ended ? ", growing until then" : " and still growing");
    add_growth(s);
    end_leak(s);
}

static void say_leak_per_thread(const struct sentence *s)
{
    begin_leak(s);
    tide_text_add(s->text, ", a few by each of ");
    tide_add_count(s->text, s->verdict->leak.threads, "thread");
    end_leak(s);
}

static void say_leak_once(const struct sentence *s)
{
    begin_leak(s);
    if (s->verdict->leak.processes > 1) {
        tide_text_add(s->text, ", once in each of ");
        tide_add_number(s->text, s->verdict->leak.processes);
        tide_text_add(s->text, " processes");
    } else {
        tide_text_add(s->text, ", once");
    }
    end_leak(s);
}

static void say_leak(const struct sentence *s)
{
    begin_leak(s);
    end_leak(s);
}

static void say_growing(const struct sentence *s)
{
    const bool killed = tide_model_killed_by(s->model) != 0;
    add_amount(s);
    tide_text_addf(s->text, " from %s stood when the %s", s->who,
                   killed ? "program was killed" : "record ends");
    add_births(s);
    tide_text_add(s->text, ", and still growing");
    add_growth(s);
    tide_text_addf(s->text, ". If %s not kept on purpose, %s.",
                   s->verdict->calls == 1 ? "it is" : "they are",
                   s->verdict->calls == 1 ? "it leaks" : "they leak");
}

/* --- Calls --------------------------------------------------------------------------- */

static void say_growth(const struct sentence *s)
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

static void say_churn(const struct sentence *s)
{
    tide_text_addf(s->text, "%s makes ", s->who);
    tide_add_count(s->text, s->verdict->calls, "temporary block");
    tide_text_add(s->text, " of ");
    tide_add_bytes(s->text, (double)s->verdict->bytes / (double)s->verdict->calls);
    tide_text_add(s->text, ", ");
    tide_found_percent(s->text, share_of_calls(s));
    tide_text_add(s->text, " of all allocation calls");
    add_rate(s);
    tide_text_add(s->text, ". Keeping one and using it again");
    add_gain_of_time(s);
}

/* A saving of time is said where it is one; else so many bytes are. */
static void say_turnover(const struct sentence *s)
{
    const struct tide_summary *const heap = &s->model->summary[TIDE_IN_HEAP];
    const double times =
        heap->peak_bytes ? (double)s->verdict->bytes / (double)heap->peak_bytes : 0;
    tide_text_addf(s->text, "%s makes and frees ", s->who);
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, " in ");
    tide_add_count(s->text, s->verdict->calls, "block");
    tide_text_add(s->text, ": ");
    tide_found_percent(s->text,
                       (double)s->verdict->bytes / (double)(heap->allocated_bytes + 1));
    tide_text_add(s->text, " of all bytes that the run allocates, ");
    tide_found_percent(s->text, share_of_calls(s));
    tide_text_add(s->text, " of all calls");
    add_rate(s);
    if (s->verdict->share >= TIDE_SHARE_SAID) {
        tide_text_add(
            s->text, s->subject->wide
                         ? ". Calling it less, or keeping blocks below it, saves up to "
                         : ". Blocks that are kept and used again save up to ");
        add_calls_and_time(s);
    } else {
        if (times >= 2)
            tide_text_addf(s->text, ", %.0f times the peak", times);
        tide_text_add(
            s->text,
            s->subject->wide
                ? ". Call it less, or keep blocks below it: fewer calls, not a lower peak."
                : ". Keep blocks, and use them again: fewer calls, not a lower peak.");
    }
}

static void say_pool(const struct sentence *s)
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

static void say_foreign_free(const struct sentence *s)
{
    add_amount(s);
    tide_text_addf(s->text,
                   " from %s %s freed by another thread than the one that made %s",
                   s->who, were(s), s->verdict->calls == 1 ? "it" : "them");
    add_rate(s);
    tide_text_add(s->text, ". Giving them back to their maker, or handing over more at "
                           "once, saves up to ");
    tide_found_seconds(s->text, s->verdict->seconds);
    tide_text_add(s->text, " of waiting for the allocator.");
}

/* --- Bytes --------------------------------------------------------------------------- */

static void say_oversized(const struct sentence *s)
{
    tide_text_addf(s->text, "%s holds ", s->who);
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, ", but the whole process never had more than ");
    tide_add_bytes(s->text, (double)(s->verdict->bytes - s->verdict->gain_bytes));
    tide_text_add(s->text, " in memory: at least ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes);
    tide_text_add(s->text, " of it were never touched. A smaller buffer will do.");
}

static void say_late_free(const struct sentence *s)
{
    const struct tide_hold *const late = &s->subject->late;
    add_amount(s);
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

static void say_tiny(const struct sentence *s)
{
    const uint64_t blocks = s->subject->peak_blocks;
    tide_text_addf(s->text, "%s holds ", s->who);
    tide_add_count(s->text, blocks, "block");
    tide_text_add(s->text, " of ");
    tide_add_bytes(s->text, (double)s->subject->peak_bytes / (double)blocks);
    tide_text_add(s->text, " at the peak; the allocator adds ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes / (double)blocks);
    tide_text_add(s->text, " to each. Keeping them in one array");
    add_gain_of_bytes(s);
    add_share_of_peak(s);
    tide_text_add(s->text, ".");
}

static void say_start_up(const struct sentence *s)
{
    add_amount(s);
    tide_text_addf(s->text, " from %s %s made within the first ", s->who, were(s));
    tide_found_seconds(s->text, s->subject->start_up.from_s);
    tide_text_add(s->text,
                  " and held until the end: what every run costs from its start");
    add_share_of_peak(s);
    tide_text_add(s->text, ". Making it when it is needed saves that for runs that do "
                           "not need it.");
}

static void say_reserved(const struct sentence *s)
{
    tide_text_addf(s->text, "%s maps ", s->who);
    tide_add_bytes(s->text, (double)s->verdict->bytes);
    tide_text_add(s->text, ", but the process never had more than ");
    tide_add_bytes(s->text, (double)(s->verdict->bytes - s->verdict->gain_bytes));
    tide_text_add(s->text,
                  " in memory: the rest is reserved, and takes addresses only.");
}

/* When what stands at the peak was made, and until when it stayed. */
static void add_span(const struct sentence *s)
{
    const struct tide_standing *const standing = s->standing;
    const double first = tide_trace_seconds(s->model->trace, s->subject->first_ticks);
    const double last = tide_trace_seconds(s->model->trace, s->subject->last_ticks);
    const double peak = s->model->summary[s->subject->space].peak_time_s;
    tide_found_times(s->text, first, last < peak || peak <= first ? last : peak);
    if (s->subject->freed_calls == 0)
        tide_text_add(s->text, " and never freed");
    else if (standing->known && standing->to_end)
        tide_text_add(s->text, " and held until the end");
    else if (standing->known) {
        tide_text_add(s->text, " and gone by ");
        tide_found_seconds(s->text, standing->until_s);
    }
}

/* A part of it was never touched, for certain. */
static void add_untouched(const struct sentence *s)
{
    const uint64_t resident = tide_found_resident(s->model);
    if (resident == 0 || s->verdict->bytes <= resident)
        return;
    tide_text_add(s->text, " At least ");
    tide_add_bytes(s->text, (double)(s->verdict->bytes - resident));
    tide_text_add(s->text, " of it was never touched.");
}

static void add_holder(const struct sentence *s, const char *words,
                       const struct tide_holder *holder)
{
    tide_text_add(s->text, words);
    tide_found_name(s->text, holder->name);
    tide_text_add(s->text, " with ");
    tide_add_bytes(s->text, (double)holder->bytes);
}

/* Who makes most of it, or stands beside it. */
static void add_holders(const struct sentence *s, uint64_t peak)
{
    const struct tide_standing *const standing = s->standing;
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

static void say_peak_owner(const struct sentence *s)
{
    const uint64_t peak = s->model->summary[s->subject->space].peak_bytes;
    const bool heap = s->subject->space == TIDE_IN_HEAP;
    tide_text_addf(s->text, "%s holds ", s->who);
    add_amount(s);
    tide_text_addf(s->text, " at the peak%s, ", heap ? "" : " of mapped memory");
    tide_found_percent(s->text, (double)s->verdict->bytes / (double)peak);
    tide_text_add(s->text, " of it");
    add_span(s);
    tide_text_add(s->text, ".");
    add_untouched(s);
    add_holders(s, peak);
    tide_text_add(s->text, s->subject->root
                               ? " Not running it saves up to "
                               : " Less of it, or freed earlier, saves up to ");
    tide_add_bytes(s->text, (double)s->verdict->gain_bytes);
    tide_text_add(s->text, ".");
}

/* --- All ----------------------------------------------------------------------------- */

static void (*const SAY[TIDE_FOUND_KINDS])(const struct sentence *) = {
    [TIDE_FOUND_LEAK_GROWING] = say_leak_growing,
    [TIDE_FOUND_LEAK_PER_THREAD] = say_leak_per_thread,
    [TIDE_FOUND_GROWING] = say_growing,
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
    [TIDE_FOUND_LEAK_ONCE] = say_leak_once,
    [TIDE_FOUND_LEAK] = say_leak,
    [TIDE_FOUND_PEAK_OWNER] = say_peak_owner,
};

/* On whose behalf it is. */
static void add_callers(const struct sentence *s, const struct tide_found *found)
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
    const struct sentence sentence = {
        .text = out,
        .model = model,
        .subject = subject,
        .verdict = &found->verdict,
        .standing = &found->standing,
        .who = who,
    };
    SAY[found->kind](&sentence);
    add_callers(&sentence, found);
}
