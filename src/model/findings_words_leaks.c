/* model/findings_words_leaks.c - what is said of what was never freed. */
#include "model/amounts.h"
#include "model/findings_words.h"
#include "model/process_ends.h"

static const char *were(const struct tide_sentence *s)
{
    return s->verdict->calls == 1 ? "was" : "were";
}

static bool made_at_once(const struct tide_sentence *s)
{
    return tide_found_same_time(s->text, s->verdict->leak.first_s,
                                s->verdict->leak.last_s);
}

static void add_births(const struct tide_sentence *s)
{
    const struct tide_leak *const leak = &s->verdict->leak;
    tide_found_times(s->text, leak->first_s,
                     s->verdict->calls == 1 ? leak->first_s : leak->last_s);
}

static void begin_leak(const struct tide_sentence *s)
{
    tide_found_add_amount(s);
    tide_text_addf(s->text, " from %s %s never freed", s->who, were(s));
    add_births(s);
}

/* It did not stand at the peak, or not all of it. */
static void end_late_leak(const struct tide_sentence *s)
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

static void end_leak(const struct tide_sentence *s)
{
    const struct tide_verdict_on *const verdict = s->verdict;
    const bool unsure = verdict->leak.kind == TIDE_LEAK_GROWING && !verdict->stands_out;
    tide_text_addf(s->text, ". %s %s", unsure ? "If a leak, freeing" : "Freeing",
                   verdict->calls == 1 ? "it" : "them");
    if (verdict->gain_bytes < verdict->bytes - verdict->bytes / 100) {
        end_late_leak(s);
        return;
    }
    tide_text_add(s->text, " saves ");
    tide_add_bytes(s->text, (double)verdict->gain_bytes);
    tide_text_add(s->text, verdict->gain_at_most ? ", up to " : ", ");
    tide_found_percent(s->text, verdict->share);
    tide_text_add(s->text, " of the peak.");
}

/* ", by 1.5 MiB a second, 3 bytes per event" */
static void add_growth(const struct tide_sentence *s)
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

/* Whether it was only kept is not seen; what speaks for a leak is said. */
static void add_certainty(const struct tide_sentence *s)
{
    const struct tide_subject *const subject = s->subject;
    if (s->verdict->stands_out) {
        tide_text_add(s->text, ". Probably a leak: the program frees nearly all else");
        return;
    }
    if (subject->freed_calls == 0) {
        tide_text_add(s->text, ". None that it makes is ever freed");
    } else {
        tide_text_add(s->text, ". Of those that it makes ");
        tide_found_percent(s->text,
                           (double)subject->freed_calls / (double)subject->calls);
        tide_text_add(s->text, " are freed");
    }
    tide_text_add(s->text, ": data in use or a leak, tidemark cannot tell");
}

void tide_say_leak_growing(const struct tide_sentence *s)
{
    const struct tide_leak *const leak = &s->verdict->leak;
    begin_leak(s);
    if (leak->ended && made_at_once(s)) {
        end_leak(s);
        return;
    }
    tide_text_add(s->text,
                  leak->ended ? ", growing until then" : ". They grow with the run");
    add_growth(s);
    add_certainty(s);
    end_leak(s);
}

void tide_say_leak_per_thread(const struct tide_sentence *s)
{
    begin_leak(s);
    tide_text_add(s->text, ", a few by each of ");
    tide_add_count(s->text, s->verdict->leak.threads, "thread");
    end_leak(s);
}

void tide_say_leak_once(const struct tide_sentence *s)
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

void tide_say_leak(const struct tide_sentence *s)
{
    begin_leak(s);
    end_leak(s);
}

void tide_say_growing(const struct tide_sentence *s)
{
    const bool killed = tide_model_killed_by(s->model) != 0;
    tide_found_add_amount(s);
    tide_text_addf(s->text, " from %s stood when the %s", s->who,
                   killed ? "program was killed" : "record ends");
    add_births(s);
    tide_text_add(s->text, ". They grow with the run");
    add_growth(s);
    add_certainty(s);
    tide_text_add(s->text, ".");
}
