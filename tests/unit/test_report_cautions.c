/* unit/test_report_cautions.c - what weakens a report: which lines, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/report_cautions.h"
#include "model_fixture.h"

enum { TIDE_MIB = 1 << 20 };

static struct fixture f;
static struct tide_cautions cautions;

static int set_up(void **state)
{
    (void)state;
    fixture_init(&f);
    f.trace.complete = true;
    f.trace.options = "";
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tide_cautions_release(&cautions);
    fixture_release(&f);
    return 0;
}

/* The cautions are of these KINDS, a NULL behind the last. */
static void find_kinds(const char *const *kinds)
{
    tide_cautions_release(&cautions);
    assert_int_equal(tide_cautions_find(&f.model, &cautions), TIDE_OK);
    for (size_t i = 0; i < cautions.count; i++) {
        assert_non_null(kinds[i]);
        assert_string_equal(cautions.list[i].kind, kinds[i]);
    }
    assert_null(kinds[cautions.count]);
}

#define FIND(...) find_kinds((const char *const[]){__VA_ARGS__, NULL})

static void a_whole_trace_needs_none(void **state)
{
    (void)state;
    FIND(NULL);
}

static void each_reason_has_its_count(void **state)
{
    (void)state;
    struct tide_process *const process = &f.trace.processes[0];
    process->pid = 7;
    process->exe = "/usr/sbin/sshd";
    process->dropped = 98;
    f.model.honesty.dropped = 98;
    process->drops[TIDE_DROP_NESTED] = 60;
    process->drops[TIDE_DROP_MEMORY] = 30;
    FIND("dropped_events");
    assert_string_equal(
        cautions.list[0].text,
        "98 events of sshd (pid 7) were dropped: 60 because signal handlers interrupted "
        "the recorder, 30 because there was no memory for the rings of its threads, 8 "
        "because of something that this trace does not name; what they allocated is "
        "missing, and what they freed counts as live");
    assert_int_equal(cautions.list[0].pid, 7);
    assert_int_equal(cautions.list[0].count, 98);
}

static void one_reason_needs_no_count(void **state)
{
    (void)state;
    struct tide_process *const process = &f.trace.processes[0];
    process->exe = "";
    process->dropped = process->drops[TIDE_DROP_EARLY] = f.model.honesty.dropped = 1;
    FIND("dropped_events");
    assert_non_null(strstr(cautions.list[0].text,
                           "was dropped because they came before the recorder could "));
    assert_non_null(strstr(cautions.list[0].text, "1 event of [unnamed] (pid "));
}

/* Three have a line, and the others one together. */
static void many_processes_do_not_fill_the_page(void **state)
{
    (void)state;
    struct tide_process processes[6] = {{0}};
    for (uint32_t i = 0; i < 6; i++) {
        processes[i].pid = i + 1;
        processes[i].dropped = i == 4 ? 0 : 10 + i % 2; /* 10, 11, 10, 11, 0, 11 */
        f.model.honesty.dropped += processes[i].dropped;
    }
    f.trace.processes = processes;
    f.trace.process_count = 6;
    FIND("dropped_events", "dropped_events", "dropped_events", "dropped_events");
    assert_int_equal(cautions.list[0].pid, 2);
    assert_int_equal(cautions.list[1].pid, 4);
    assert_int_equal(cautions.list[2].pid, 6);
    assert_string_equal(cautions.list[3].text,
                        "20 more events of other processes were dropped; tidemark info "
                        "lists them");
}

static void the_worst_comes_first(void **state)
{
    (void)state;
    static const char *lines[] = {
        "the program uses more names of regions and labels than are kept",
        "3 programs were not recorded: find (statically linked)",
        "something that nobody has heard of",
        "/lib/a.so was loaded with RTLD_DEEPBIND: its heap was not recorded",
        "/bin/a defines malloc itself: its heap was not recorded; see tidemark doctor",
        "the trace could not be written further: No space left on device",
        NULL,
    };
    f.trace.troubles = lines;
    f.trace.complete = false;
    f.model.honesty.lost_records = 2;
    FIND("trace_cut", "heap_not_recorded", "recording_stopped", "lost_records",
         "library_not_recorded", "programs_not_recorded", "trouble");
    f.trace.troubles = NULL;
}

/* BYTES of anonymous memory beside so much of the HEAP. */
static void hold(uint64_t bytes, uint64_t heap)
{
    struct tide_summary *const summary = &f.model.summary[TIDE_IN_HEAP];
    f.trace.processes[0].anonymous_peak = bytes;
    summary->peak_bytes = summary->peak_usable_bytes = heap;
}

static void memory_that_nothing_accounts_for_is_said(void **state)
{
    (void)state;
    hold(100ull * TIDE_MIB, 60ull * TIDE_MIB);
    FIND(NULL);
    hold(100ull * TIDE_MIB, 40ull * TIDE_MIB);
    FIND("unexplained_memory");
    assert_int_equal(cautions.list[0].bytes, 100ull * TIDE_MIB);
    hold(100ull * TIDE_MIB, TIDE_MIB);
    FIND("hidden_allocator");
    hold(31ull * TIDE_MIB,
         1000); /* stacks and what libraries keep: no more than that */
    FIND(NULL);
    hold(100ull * TIDE_MIB, TIDE_MIB);
    f.trace.options = "unwind=cfi spaces=mmap ";
    FIND(NULL);
}

static void old_traces_know_nothing_of_anonymous_memory(void **state)
{
    (void)state;
    hold(0, 1000);
    f.model.rss_peak_bytes = 1000ull * TIDE_MIB;
    FIND(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_whole_trace_needs_none),
        CASE(each_reason_has_its_count),
        CASE(one_reason_needs_no_count),
        CASE(many_processes_do_not_fill_the_page),
        CASE(the_worst_comes_first),
        CASE(memory_that_nothing_accounts_for_is_said),
        CASE(old_traces_know_nothing_of_anonymous_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
