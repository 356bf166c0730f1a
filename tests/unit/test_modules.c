/* unit/test_modules.c - the reader finds the libraries that the recorder has told of.
 *
 * The loader is the test's: what is loaded stands in a table.  What the recorder notes goes
 * into a trace, and the reader is asked what was where.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "capture/modules.h"
#include "capture/process.h"
#include "capture/stack.h"
#include "reader_bench.h"
#include "trace/mappings.h"

enum { TIDE_TEST_BYTES = 4096, TIDE_TEST_PLACES = 3 };

/* Where libraries lie.  None of them begins as an ELF file: they have no build-id. */
static char ground[TIDE_TEST_PLACES][TIDE_TEST_BYTES];
static struct link_map loaded[TIDE_TEST_PLACES]; /* no name: nothing is there */

static struct tide_process_state all;
static struct tide_stream notes_stream;
static struct tide_builder *builder;

struct tide_process_state *tide_process = &all;
_Thread_local struct tide_self tide_self;

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,
 * readability-inconsistent-declaration-parameter-name): libc's */
int _dl_find_object(void *address, struct dl_find_object *out)
{
    const uintptr_t at = (uintptr_t)address - (uintptr_t)ground;
    const uintptr_t place = at / TIDE_TEST_BYTES;
    if (at >= sizeof(ground) || !loaded[place].l_name)
        return -1;
    *out = (struct dl_find_object){.dlfo_map_start = ground[place],
                                   .dlfo_map_end = ground[place] + TIDE_TEST_BYTES,
                                   .dlfo_link_map = &loaded[place]};
    return 0;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,
 * readability-inconsistent-declaration-parameter-name) */

void tide_lock(_Atomic uint32_t *lock)
{
    assert_int_equal(atomic_exchange(lock, 1), 0);
}

void tide_unlock(_Atomic uint32_t *lock)
{
    atomic_store(lock, 0);
}

void tide_process_note_locked(uint64_t kind, const uint8_t *payload, uint32_t bytes)
{
    assert_int_equal(all.lock, 1);
    tide_buffer_varint(&builder->notes[0], kind);
    tide_buffer_varint(&builder->notes[0], bytes);
    tide_buffer_put(&builder->notes[0], payload, bytes);
}

void tide_stack_flush(void)
{
}

void tide_stream_call_all(uint32_t bits)
{
    assert_int_equal(bits, TIDE_ATTENTION_MODULES);
}

static int set_up(void **state)
{
    (void)state;
    all = (struct tide_process_state){.notes_stream = &notes_stream};
    memset(loaded, 0, sizeof(loaded));
    builder = tide_builder_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tide_builder_free(builder);
    return 0;
}

static void load(int place, const char *name)
{
    static char names[TIDE_TEST_PLACES][16];
    snprintf(names[place], sizeof(names[place]), "%s", name);
    loaded[place].l_name = names[place];
}

static void unload(int place)
{
    loaded[place].l_name = NULL;
    tide_modules_check();
}

/* A thread whose lane is in EPOCH meets what is at PLACE. */
static void meet(int place, uint64_t epoch)
{
    tide_modules_see((uintptr_t)ground[place] + 100, epoch);
}

/* So many libraries come and go at the last place, and are met. */
static void pass(int count)
{
    for (int i = 0; i < count; i++) {
        load(TIDE_TEST_PLACES - 1, "/passing");
        meet(TIDE_TEST_PLACES - 1, all.epoch);
        unload(TIDE_TEST_PLACES - 1);
    }
}

/* Wherever two were in the same place, one went before the other came. */
static void check_turns(const struct tide_process *process)
{
    for (size_t i = 0; i + 1 < process->mapping_count; i++) {
        const struct tide_mapping *const one = &process->mappings[i], *next = one + 1;
        assert_true(one->start != next->start || one->last_epoch < next->first_epoch);
    }
}

static struct tide_trace *trace_of_notes(void)
{
    tide_builder_finish(builder);
    struct tide_trace *const trace = opened(builder);
    check_turns(&trace->processes[0]);
    return trace;
}

/* By the letter of docs/format.md; NULL: nothing. */
static const char *path_at(const struct tide_trace *trace, int place, uint64_t epoch)
{
    const struct tide_mapping *const mapping =
        tide_mapping_find(&trace->processes[0], epoch, (uintptr_t)ground[place] + 100);
    return mapping ? trace->modules[mapping->module].path : NULL;
}

static void met_in_an_event_that_took_long(void **state)
{
    (void)state;
    pass(2);
    load(0, "/stays");
    pass(7);
    assert_int_equal(all.epoch, 9);
    meet(0, 2); /* an event that began when two had gone */
    struct tide_trace *const trace = trace_of_notes();
    for (uint64_t epoch = 2; epoch < 12; epoch++)
        assert_string_equal(path_at(trace, 0, epoch), "/stays");
    assert_null(path_at(trace, 0, 1));
    assert_string_equal(path_at(trace, 2, 8), "/passing");
    assert_null(path_at(trace, 2, 9));
    tide_trace_close(trace);
}

static void met_by_a_thread_that_is_further_behind(void **state)
{
    (void)state;
    load(0, "/stays");
    pass(9);
    meet(0, 9);
    meet(0, 3);
    meet(0, 6);
    meet(0, 1);
    unload(0);
    load(0, "/comes");
    meet(0, 10);
    struct tide_trace *const trace = trace_of_notes();
    assert_null(path_at(trace, 0, 0));
    for (uint64_t epoch = 1; epoch < 10; epoch++)
        assert_string_equal(path_at(trace, 0, epoch), "/stays");
    assert_string_equal(path_at(trace, 0, 10), "/comes");
    assert_int_equal(all.next_module_id, 9 + 4); /* not told twice */
    tide_trace_close(trace);
}

/* Should another thread load a library before the hook of dlclose has noticed that one went. */
static void not_while_another_was_in_its_place(void **state)
{
    (void)state;
    pass(3);
    load(0, "/first");
    meet(0, 3);
    unload(0);
    load(0, "/second");
    meet(0, 3);
    struct tide_trace *const trace = trace_of_notes();
    assert_string_equal(path_at(trace, 0, 3), "/first");
    assert_string_equal(path_at(trace, 0, 4), "/second");
    tide_trace_close(trace);
}

/* A hook that a fork has torn goes on in the child with what it knew in the parent. */
static void an_epoch_that_has_not_come_yet(void **state)
{
    (void)state;
    load(0, "/stays");
    meet(0, 7);
    struct tide_trace *const trace = trace_of_notes();
    assert_string_equal(path_at(trace, 0, 0), "/stays");
    tide_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(met_in_an_event_that_took_long, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(met_by_a_thread_that_is_further_behind, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(not_while_another_was_in_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_epoch_that_has_not_come_yet, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
