/* unit/test_format.c - the worked example of docs/format.md is a trace, and says what the
 * page says. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "trace_walk.h"

#define TIDE_PAGE_NAME TIDE_SOURCE_DIR "/docs/format.md"

/* A program that allocates 100 bytes, frees them and allocates 5000 at the same place. */
static struct tide_builder *make_example(void)
{
    static const uint64_t words[] = {0x401050, 0x401146};
    const struct tide_out_stack stack = {.words = words, .depth = 2};
    const uint64_t process[] = {4242, 4241, 1010, 0, 0};
    const uint64_t module[] = {0, 0, 0x400000, 0x405000, 0x400000};
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    builder->plain = true;
    builder->clock = 2000;
    tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS, process, 5, NULL);
    tide_builder_module(builder, 0, module, "/bin/demo");
    tide_builder_cut_notes(builder);
    tide_out_sync(lane, 1500, 0);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 0x4052a0, .size = 100},
                   stack);
    tide_out_free(lane, 0x4052a0);
    tide_out_time(lane, 1700);
    tide_out_alloc(
        lane,
        (struct tide_out_birth){
            .address = 0x4052a0, .size = 5000, .usable = 8000, .kind = TIDE_KIND_NEW},
        stack);
    tide_builder_finish(builder);
    return builder;
}

/* Where LINE's bytes begin, and its offset; NULL when it is no line of bytes. */
static const char *bytes_of_line(const char *line, unsigned long *offset)
{
    char *end;
    *offset = strtoul(line, &end, 16);
    return end == line + 4 && strncmp(end, "  ", 2) == 0 ? end + 2 : NULL;
}

/* The bytes that the page shows: lines of "offset, two blanks, bytes, two blanks, words". */
static size_t read_page(uint8_t *bytes, size_t most)
{
    char line[200];
    size_t length = 0;
    unsigned long offset;
    FILE *page = fopen(TIDE_PAGE_NAME, "re");
    assert_non_null(page);
    while (fgets(line, sizeof(line), page)) {
        const char *at = bytes_of_line(line, &offset);
        if (!at)
            continue;
        assert_int_equal(offset, length);
        while (isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]) &&
               length < most) {
            bytes[length++] = (uint8_t)strtoul(at, NULL, 16);
            at += at[2] == ' ' ? 3 : 2;
        }
    }
    fclose(page);
    return length;
}

static void print_bytes(const struct tide_buffer *file)
{
    for (size_t i = 0; i < file->length; i++)
        printf("%s%02x", i % 16 ? " " : "\n", file->bytes[i]);
    printf("\n");
}

static void the_page_shows_the_bytes(void **state)
{
    (void)state;
    uint8_t shown[1024] = {0};
    struct tide_builder *builder = make_example();
    const size_t length = read_page(shown, sizeof(shown));
    if (length != builder->file.length ||
        memcmp(shown, builder->file.bytes, length) != 0) {
        print_bytes(&builder->file);
        fail_msg("%s shows other bytes than these", TIDE_PAGE_NAME);
    }
    tide_builder_free(builder);
}

/* Read the page's bytes, not the builder's. */
static void the_bytes_say_what_the_page_says(void **state)
{
    (void)state;
    uint8_t shown[1024] = {0};
    const size_t length = read_page(shown, sizeof(shown));
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_fd_of_bytes(shown, length), 10, &walked), TIDE_OK);
    const struct tide_event *e = walked.events;
    assert_true(walked.trace->complete);
    assert_int_equal(walked.trace->processes[0].pid, 4242);
    assert_string_equal(walked.trace->modules[0].path, "/bin/demo");
    assert_string_equal(walked.trace->modules[0].build_id, "0123abcd");
    assert_int_equal(walked.count, 5);
    assert_int_equal(e[0].kind, TIDE_EVENT_SPAN);
    assert_int_equal(e[0].ticks, 1500);
    assert_int_equal(e[1].kind, TIDE_EVENT_ALLOC);
    assert_int_equal(e[1].address, 0x4052a0);
    assert_int_equal(e[1].size, 100);
    assert_int_equal(e[1].usable, 104);
    assert_int_equal(e[2].kind, TIDE_EVENT_FREE);
    assert_int_equal(e[2].address, 0x4052a0);
    assert_int_equal(e[4].ticks, 1700);
    assert_int_equal(e[4].size, 5000);
    assert_int_equal(e[4].usable, 8000);
    assert_int_equal(e[4].alloc_kind, TIDE_KIND_NEW);
    assert_int_equal(e[4].stack, e[1].stack);
    const struct tide_frame *frame =
        &walked.stacks.frames[walked.stacks.nodes[e[1].stack].frame];
    assert_int_equal(frame->module, 0);
    assert_int_equal(frame->value, 0x1146);
    tide_walk_release(&walked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_shows_the_bytes),
        cmocka_unit_test(the_bytes_say_what_the_page_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
