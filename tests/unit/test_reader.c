/* unit/test_reader.c - opening a trace: header, chunks, notes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader_bench.h"
#include "trace/resolve.h"

/* --- Header --- */

static void refuses_what_is_no_trace(void **state)
{
    (void)state;
    struct tide_trace *trace;
    const uint8_t text[] =
        "#!/bin/sh\nexit 0\n and so on until it is long enough for all";
    assert_int_equal(open_bytes(text, sizeof(text), &trace), TIDE_ENOTTRACE);
    assert_null(trace);
    assert_string_not_equal(why, "");
}

static void refuses_half_a_header(void **state)
{
    (void)state;
    struct tide_trace *trace;
    struct tide_builder *builder = tide_builder_new();
    assert_int_equal(open_bytes(builder->file.bytes, 32, &trace), TIDE_ETRUNCATED);
    assert_null(trace);
    assert_non_null(strstr(why, "byte 32"));
    assert_int_equal(open_bytes(builder->file.bytes, 0, &trace), TIDE_ETRUNCATED);
    tide_builder_free(builder);
}

static void refuses_a_damaged_or_newer_header(void **state)
{
    (void)state;
    struct tide_trace *trace;
    struct tide_builder *builder = tide_builder_new();
    builder->file.bytes[20] ^= 1;
    assert_int_equal(open_bytes(builder->file.bytes, 64, &trace), TIDE_ECORRUPT);
    builder->file.bytes[20] ^= 1;
    builder->file.bytes[8] = 2;
    assert_int_equal(open_bytes(builder->file.bytes, 64, &trace), TIDE_EVERSION);
    assert_null(trace);
    tide_builder_free(builder);
}

/* A flag that nobody knows: in a whole chunk it is another version's, else it is damage. */
static void refuses_chunks_of_another_version(void **state)
{
    (void)state;
    struct tide_trace *trace;
    struct tide_builder *builder = tide_builder_new();
    tide_out_sync(tide_builder_lane(builder, 0, 0), 1500, 0);
    tide_builder_finish(builder);
    uint8_t *const bytes = builder->file.bytes, *const chunk = bytes + 64;
    const size_t flags = offsetof(struct tide_format_chunk, flags);
    chunk[flags] |= 0x40;
    assert_int_equal(open_bytes(bytes, builder->file.length, &trace), TIDE_OK);
    assert_int_equal(trace->bad_chunks, 1);
    tide_trace_close(trace);
    tide_builder_seal(chunk);
    assert_int_equal(open_bytes(bytes, builder->file.length, &trace), TIDE_EVERSION);
    assert_non_null(strstr(why, "byte 64 is of another version"));
    assert_null(trace);
    tide_builder_free(builder);
}

static void refuses_what_is_no_plain_file(void **state)
{
    (void)state;
    struct tide_trace *trace;
    assert_int_equal(tide_trace_open("/dev/null", why, sizeof(why), &trace),
                     TIDE_ENOTTRACE);
    assert_int_equal(tide_trace_open("/tmp", why, sizeof(why), &trace), TIDE_ENOTTRACE);
    assert_int_equal(tide_trace_open("/no/such/file", why, sizeof(why), &trace),
                     TIDE_ENOENT);
    assert_null(trace);
}

static void does_not_wait_for_a_pipe(void **state)
{
    (void)state;
    char folder[] = "/tmp/tide_reader_XXXXXX", path[64];
    struct tide_trace *trace;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tide_trace_open(path, why, sizeof(why), &trace), TIDE_ENOTTRACE);
    unlink(path);
    rmdir(folder);
}

/* --- Notes --- */

static void knows_the_run(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t argc = 2;
    const char *texts[] = {"./prog",        "-x", "/home", "box", "0.1",
                           "--spaces heap", NULL};
    const char *line[] = {"the disk is full", NULL};
    tide_builder_note(&builder->run, TIDE_NOTE_RUN, &argc, 1, texts);
    tide_builder_note(&builder->run, TIDE_NOTE_TROUBLE, NULL, 0, line);
    builder->clock = 5000;
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_true(trace->complete);
    assert_string_equal(trace->problem, "");
    assert_int_equal(trace->good_bytes, trace->file_bytes);
    assert_string_equal(trace->argv[0], "./prog");
    assert_string_equal(trace->argv[1], "-x");
    assert_null(trace->argv[2]);
    assert_string_equal(trace->cwd, "/home");
    assert_string_equal(trace->host, "box");
    assert_string_equal(trace->version, "0.1");
    assert_string_equal(trace->options, "--spaces heap");
    assert_string_equal(trace->troubles[0], "the disk is full");
    assert_null(trace->troubles[1]);
    assert_int_equal(trace->end_ticks, 5000);
    assert_int_equal(trace->collector_rss_peak, 4096);
    assert_memory_equal(trace->id, "0123456789abcdef", 16);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

/* Process 1, pid 77, born at 2000: /bin/prog with two arguments. */
static void note_process_begin(struct tide_buffer *notes)
{
    const uint64_t born[] = {1, 77, 2000, 2500};
    struct tide_buffer fields = {0};
    for (size_t i = 0; i < 4; i++)
        tide_buffer_varint(&fields, born[i]);
    tide_buffer_string(&fields, "/bin/prog");
    tide_buffer_varint(&fields, 2);
    tide_buffer_string(&fields, "prog");
    tide_buffer_string(&fields, "--fast");
    tide_buffer_varint(notes, TIDE_NOTE_PROCESS_BEGIN);
    tide_buffer_varint(notes, fields.length);
    tide_buffer_put(notes, fields.bytes, fields.length);
    tide_buffer_release(&fields);
}

static void knows_processes_and_threads(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t process[] = {77, 70, 2000, 1500, TIDE_PROCESS_FORKED};
    const uint64_t ended[] = {1, 9000, 1, 0x8b, 3, TIDE_END_EXITED};
    const uint64_t thread[] = {4, 79, 2100};
    const char *name[] = {"worker", NULL}, *before[] = {"parent", NULL};
    const uint64_t rss[2][4] = {{1, 3000, 50, 60}, {1, 4000, 70, 60}};
    const uint64_t recorder = 12345;

    tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, ended, 6, NULL);
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss[0], 4, NULL);
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss[1], 4, NULL);
    tide_builder_note(&builder->notes[1], TIDE_NOTE_PROCESS, process, 5, NULL);
    tide_builder_note(&builder->notes[1], TIDE_NOTE_THREAD, thread, 3, before);
    tide_builder_note(&builder->notes[1], TIDE_NOTE_THREAD, thread, 3, name);
    tide_builder_note(&builder->notes[1], TIDE_NOTE_RECORDER, &recorder, 1, NULL);
    note_process_begin(&builder->run);
    add_chunk(builder, 1, 4);
    tide_builder_finish(builder);

    struct tide_trace *trace = opened(builder);
    assert_int_equal(trace->process_count, 2);
    assert_true(trace->processes[0].main);
    assert_string_equal(trace->processes[0].exe, "");
    assert_null(trace->processes[0].argv[0]);
    const struct tide_process *p = &trace->processes[1];
    assert_false(p->main);
    assert_int_equal(p->pid, 77);
    assert_int_equal(p->ppid, 70);
    assert_true(p->forked && p->ended && p->status_known);
    assert_int_equal(p->status, 0x8b);
    assert_int_equal(p->birth_ticks, 2000);
    assert_int_equal(p->parent_birth, 1500);
    assert_int_equal(p->end_ticks, 9000);
    assert_int_equal(p->dropped, 3);
    assert_int_equal(p->rss_peak, 70);
    assert_int_equal(p->recorder_bytes, 12345);
    assert_string_equal(p->exe, "/bin/prog");
    assert_string_equal(p->argv[1], "--fast");
    assert_null(p->argv[2]);
    assert_int_equal(trace->thread_count, 1);
    assert_int_equal(trace->threads[0].tid, 79);
    assert_int_equal(trace->threads[0].lane_number, 4);
    assert_string_equal(trace->threads[0].name, "worker");
    assert_int_equal(trace->rss_count, 2);
    assert_int_equal(trace->rss[1].bytes, 70);
    assert_int_equal(trace->lane_count, 1);
    assert_int_equal(trace->lanes[0].process, 1);
    assert_int_equal(trace->lanes[0].number, 4);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void equal_modules_are_one(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t low[] = {0, 0, 0x1000, 0x2000, 0x1000};
    const uint64_t high[] = {1, 0, 0x8000, 0x9000, 0x8000};
    const uint64_t gone[] = {1, 3};
    tide_builder_module(builder, 0, high, "/lib/libc.so");
    tide_builder_module(builder, 0, low, "/bin/prog");
    tide_builder_module(builder, 1, low, "/lib/libc.so");
    tide_builder_note(&builder->notes[0], TIDE_NOTE_MODULE_GONE, gone, 2, NULL);
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_int_equal(trace->module_count, 2);
    const struct tide_process *first = &trace->processes[0];
    assert_int_equal(first->mapping_count, 2);
    assert_int_equal(first->mappings[0].start, 0x1000);
    assert_string_equal(trace->modules[first->mappings[0].module].path, "/bin/prog");
    assert_string_equal(trace->modules[first->mappings[1].module].path, "/lib/libc.so");
    assert_string_equal(trace->modules[0].build_id, "0123abcd");
    assert_int_equal(first->mappings[1].last_epoch, 3);
    assert_true(first->mappings[0].last_epoch == UINT64_MAX);
    assert_int_equal(trace->processes[1].mappings[0].module, first->mappings[1].module);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

/* A thread may be behind by a few of the libraries that come and go, but not by many; and
 * what stands at an address now goes before what comes later. */
static void a_library_is_known_to_threads_that_have_not_heard_of_it(void **state)
{
    (void)state;
    static const uint64_t WHERE[] = {0x1010, 0x8010, 0x9010};
    struct tide_builder *const builder = tide_builder_new();
    tide_builder_module(builder, 0, (const uint64_t[]){0, 0, 0x1000, 0x2000, 0}, "/a");
    tide_builder_module(builder, 0, (const uint64_t[]){1, 3, 0x8000, 0x9000, 0}, "/b");
    tide_builder_module(builder, 0, (const uint64_t[]){2, 9, 0x9000, 0xa000, 0}, "/c");
    tide_builder_module(builder, 0, (const uint64_t[]){3, 2, 0x1000, 0x2000, 0}, "/d");
    tide_builder_note(&builder->notes[0], TIDE_NOTE_MODULE_GONE,
                      (const uint64_t[]){0, 1}, 2, NULL);
    tide_builder_finish(builder);
    struct tide_trace *const trace = opened(builder);
    struct tide_stacks stacks;
    struct tide_resolver resolver;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_resolver_init(&resolver, trace, &stacks), TIDE_OK);
    static const char *const EXPECTED[] = {"/a", "/b", NULL};
    for (size_t i = 0; i < 3; i++) {
        uint32_t frame;
        assert_int_equal(tide_resolve(&resolver, 0, 1, WHERE[i], &frame), TIDE_OK);
        const uint32_t module = stacks.frames[frame].module;
        if (EXPECTED[i])
            assert_string_equal(trace->modules[module].path, EXPECTED[i]);
        else
            assert_int_equal(module, TIDE_NO_MODULE);
    }
    tide_resolver_release(&resolver);
    tide_stacks_release(&stacks);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void names_are_found_by_process_and_id(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t ids[] = {7, 3, 1ull << 60};
    const char *texts[3][2] = {{"solve", NULL}, {"assemble", NULL}, {"", NULL}};
    for (size_t i = 0; i < 3; i++)
        tide_builder_note(&builder->notes[1], TIDE_NOTE_NAME, &ids[i], 1, texts[i]);
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_string_equal(tide_trace_name(trace, 1, 7), "solve");
    assert_string_equal(tide_trace_name(trace, 1, 3), "assemble");
    assert_string_equal(tide_trace_name(trace, 1, 1ull << 60), "");
    assert_null(tide_trace_name(trace, 0, 7));
    assert_null(tide_trace_name(trace, 1, 8));
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void regions_may_be_values_of_attributes(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t values[][2] = {{1, 2}, {2, 9}, {9, 2}}; /* 9: nobody's */
    const char *texts[][2] = {{"solve", NULL}, {"function", NULL}, {"solve", NULL}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t id = i + 1;
        tide_builder_note(&builder->notes[1], TIDE_NOTE_VALUE, values[i], 2, NULL);
        tide_builder_note(&builder->notes[1], TIDE_NOTE_NAME, &id, 1, texts[i]);
    }
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_string_equal(tide_trace_name_attribute(trace, 1, 1), "function");
    assert_string_equal(tide_trace_name(trace, 1, 1), "solve");
    assert_null(tide_trace_name_attribute(trace, 1, 2));
    assert_null(tide_trace_name_attribute(trace, 1, 3));
    assert_null(tide_trace_name_attribute(trace, 0, 1));
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void notes_may_grow_and_new_kinds_are_skipped(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t values[] = {5, 6, 7, 8, 1, 99, 98};
    const uint64_t short_one[] = {1};
    tide_builder_note(&builder->notes[0], 31, values, 7, NULL);
    tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS, values, 7, NULL);
    tide_builder_note(&builder->notes[0], TIDE_NOTE_THREAD, short_one, 1, NULL);
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_int_equal(trace->processes[0].pid, 5);
    assert_true(trace->processes[0].forked);
    assert_int_equal(trace->thread_count, 0);
    assert_int_equal(trace->bad_chunks, 0);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void ignores_processes_that_cannot_be(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t rss[] = {4000000000u, 3000, 50, 60};
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss, 4, NULL);
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_int_equal(trace->process_count, 0);
    assert_int_equal(trace->rss_count, 0);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

/* --- Time --- */

static void seconds_follow_the_clock_notes(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const uint64_t points[3][2] = {
        {1000, 1700000000000000000u},
        {400000, 1700000000200000000u},
        {2201000, 1700000002000000000u}, /* 1.1 MHz, not the header's 1 MHz */
    };
    for (size_t i = 0; i < 3; i++)
        tide_builder_note(&builder->run, TIDE_NOTE_CLOCK, points[i], 2, NULL);
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_true(trace->ticks_per_second > 1099999 && trace->ticks_per_second < 1100001);
    assert_true(tide_trace_seconds(trace, 1000) == 0);
    assert_true(tide_trace_seconds(trace, 1101000) > 0.9999999);
    assert_true(tide_trace_seconds(trace, 1101000) < 1.0000001);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void a_clock_that_was_set_is_not_believed(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    tide_builder_clock(builder, 1000, 2000000, 3600);
    tide_builder_finish(builder);
    struct tide_trace *trace = opened(builder);
    assert_true(trace->ticks_per_second == 1000000);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_trace),
        cmocka_unit_test(refuses_half_a_header),
        cmocka_unit_test(refuses_a_damaged_or_newer_header),
        cmocka_unit_test(refuses_chunks_of_another_version),
        cmocka_unit_test(refuses_what_is_no_plain_file),
        cmocka_unit_test(does_not_wait_for_a_pipe),
        cmocka_unit_test(knows_the_run),
        cmocka_unit_test(knows_processes_and_threads),
        cmocka_unit_test(equal_modules_are_one),
        cmocka_unit_test(a_library_is_known_to_threads_that_have_not_heard_of_it),
        cmocka_unit_test(names_are_found_by_process_and_id),
        cmocka_unit_test(regions_may_be_values_of_attributes),
        cmocka_unit_test(notes_may_grow_and_new_kinds_are_skipped),
        cmocka_unit_test(ignores_processes_that_cannot_be),
        cmocka_unit_test(seconds_follow_the_clock_notes),
        cmocka_unit_test(a_clock_that_was_set_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
