/* unit/test_notes_out.c - the collector's notes, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/notes_out.h"
#include "trace/cursor.h"

static struct tide_cursor open_note(const struct tide_text *notes, uint64_t kind)
{
    struct tide_cursor cursor =
        tide_cursor_over((const uint8_t *)notes->bytes, notes->length);
    assert_false(notes->failed);
    assert_int_equal(tide_cursor_varint(&cursor), kind);
    const uint64_t length = tide_cursor_varint(&cursor);
    assert_int_equal(length, tide_cursor_left(&cursor));
    return cursor;
}

static void next_is(struct tide_cursor *cursor, const char *expected)
{
    const struct tide_bytes found = tide_cursor_string(cursor);
    assert_false(cursor->failed);
    assert_int_equal(found.length, strlen(expected));
    assert_memory_equal(found.start, expected, found.length);
}

static void a_rss_note_is_these_bytes(void **state)
{
    (void)state;
    struct tide_text notes = {0};
    struct tide_rss_facts facts = {
        .process = 3, .ticks = 300, .bytes = 127, .peak = 128};
    tide_notes_out_rss(&notes, &facts);
    static const char expected[] = {36, 6, 3, (char)0xac, 2, 127, (char)0x80, 1};
    assert_int_equal(notes.length, sizeof(expected));
    assert_memory_equal(notes.bytes, expected, sizeof(expected));
    tide_text_clear(&notes);
    facts.anonymous = 100; /* stands last, where it is known */
    tide_notes_out_rss(&notes, &facts);
    static const char more[] = {36, 7, 3, (char)0xac, 2, 127, (char)0x80, 1, 100};
    assert_int_equal(notes.length, sizeof(more));
    assert_memory_equal(notes.bytes, more, sizeof(more));
    tide_text_release(&notes);
}

/* What readers of before do not know stands last, and only where it says something. */
static void an_end_without_a_word_is_one_byte_more(void **state)
{
    (void)state;
    for (int silent = 0; silent < 2; silent++) {
        struct tide_text notes = {0};
        const struct tide_end_facts facts = {.process = 3,
                                             .ticks = 100,
                                             .dropped = 5,
                                             .reason = TIDE_END_EXITED,
                                             .silent = silent};
        tide_notes_out_end(&notes, &facts);
        const char expected[] = {34, (char)(6 + silent), 3, 100, 0, 0, 5, 0, 1};
        assert_int_equal(notes.length, 8 + silent);
        assert_memory_equal(notes.bytes, expected, notes.length);
        tide_text_release(&notes);
    }
}

/* As many as are needed up to the last that is not 0. */
static void reasons_of_drops_stand_behind_the_end(void **state)
{
    (void)state;
    struct tide_text notes = {0};
    const struct tide_end_facts facts = {
        .process = 3,
        .ticks = 100,
        .dropped = 5,
        .drops = {[TIDE_DROP_EARLY] = 1, [TIDE_DROP_MEMORY] = 4}};
    tide_notes_out_end(&notes, &facts);
    static const char expected[] = {34, 11, 3, 100, 0, 0, 5, 0, 0, 0, 1, 0, 4};
    assert_int_equal(notes.length, sizeof(expected));
    assert_memory_equal(notes.bytes, expected, sizeof(expected));
    tide_text_release(&notes);
}

static void a_run_is_described_in_full(void **state)
{
    (void)state;
    struct tide_text notes = {0};
    char *argv[] = {(char[]){"prog"}, (char[]){""}, (char[]){"a b"}, NULL};
    const struct tide_run_facts facts = {argv, "1.2", "x=y"};
    tide_notes_out_run(&notes, &facts);
    struct tide_cursor cursor = open_note(&notes, TIDE_NOTE_RUN);
    assert_int_equal(tide_cursor_varint(&cursor), 3);
    next_is(&cursor, "prog");
    next_is(&cursor, "");
    next_is(&cursor, "a b");
    char *const cwd = getcwd(NULL, 0);
    next_is(&cursor, cwd);
    free(cwd);
    char host[256] = "";
    (void)gethostname(host, sizeof(host) - 1);
    next_is(&cursor, host);
    next_is(&cursor, "1.2");
    next_is(&cursor, "x=y");
    assert_int_equal(tide_cursor_left(&cursor), 0);
    tide_text_release(&notes);
}

static void a_command_line_of_a_megabyte_is_cut_short(void **state)
{
    (void)state;
    enum { TIDE_WORDS = 1000, TIDE_WORD_BYTES = 1000 };
    static char word[TIDE_WORD_BYTES];
    static char *argv[TIDE_WORDS + 1];
    memset(word, 'x', sizeof(word) - 1);
    for (int i = 0; i < TIDE_WORDS; i++)
        argv[i] = word;
    struct tide_text notes = {0};
    const struct tide_run_facts facts = {argv, "", ""};
    tide_notes_out_run(&notes, &facts);
    assert_true(notes.length < TIDE_CHUNK_MAX / 2);
    struct tide_cursor cursor = open_note(&notes, TIDE_NOTE_RUN);
    const uint64_t count = tide_cursor_varint(&cursor);
    assert_int_equal(count, TIDE_NOTE_WORDS_BYTES / TIDE_WORD_BYTES + 1);
    for (uint64_t i = 0; i + 1 < count; i++)
        next_is(&cursor, word);
    next_is(&cursor, "...");
    tide_text_release(&notes);
}

static void a_process_begins_with_its_command_line(void **state)
{
    (void)state;
    struct tide_text notes = {0};
    char exe[] = "/bin/ls", words[] = "ls\0-l\0";
    struct tide_image image = {.exe = exe, .words = words, .words_bytes = 6};
    const struct tide_begin_facts facts = {7, 4711, 1000, 2000, &image};
    tide_notes_out_begin(&notes, &facts);
    struct tide_cursor cursor = open_note(&notes, TIDE_NOTE_PROCESS_BEGIN);
    static const uint64_t numbers[] = {7, 4711, 1000, 2000};
    for (int i = 0; i < 4; i++)
        assert_int_equal(tide_cursor_varint(&cursor), numbers[i]);
    next_is(&cursor, "/bin/ls");
    assert_int_equal(tide_cursor_varint(&cursor), 2);
    next_is(&cursor, "ls");
    next_is(&cursor, "-l");
    assert_int_equal(tide_cursor_left(&cursor), 0);
    tide_text_release(&notes);
}

static void notes_are_cut_between_notes(void **state)
{
    (void)state;
    struct tide_text notes = {0};
    char line[1000];
    memset(line, 'y', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    for (int i = 0; i < 1000; i++)
        tide_notes_out_trouble(&notes, line);
    const size_t each = notes.length / 1000;
    size_t at = 0;
    while (at < notes.length) {
        const size_t cut = tide_notes_out_chunk(notes.bytes + at, notes.length - at);
        assert_true(cut > 0 && cut <= TIDE_CHUNK_MAX);
        assert_int_equal(cut % each, 0);
        at += cut;
    }
    assert_int_equal(at, notes.length);
    tide_text_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rss_note_is_these_bytes),
        cmocka_unit_test(an_end_without_a_word_is_one_byte_more),
        cmocka_unit_test(reasons_of_drops_stand_behind_the_end),
        cmocka_unit_test(a_run_is_described_in_full),
        cmocka_unit_test(a_command_line_of_a_megabyte_is_cut_short),
        cmocka_unit_test(a_process_begins_with_its_command_line),
        cmocka_unit_test(notes_are_cut_between_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
