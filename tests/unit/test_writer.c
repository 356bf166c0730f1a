/* unit/test_writer.c - the trace file: whole chunks, or none. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/format.h"
#include "trace/writer.h"
#include "trace_check.h"

static const struct tide_writer_start START = {
    .unix_ns = 1700000000123456789u, .ticks = 42, .ticks_per_second = 3000000000u};
static const struct tide_chunk_label RUN = {.kind = TIDE_CHUNK_RUN,
                                            .process = TIDE_NO_PROCESS,
                                            .first_ticks = 1,
                                            .last_ticks = 2};

static char folder[] = "/tmp/tide-writer-XXXXXX";
static char path[64];
static struct tide_check check; /* too large for a stack */

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/t.tide", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int remove_file(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static struct tide_writer *create(void)
{
    struct tide_writer *writer;
    assert_int_equal(tide_writer_create(path, &START, &writer), TIDE_OK);
    return writer;
}

/* LENGTH bytes of notes that no reader knows, which is what they are for. */
static uint8_t *notes(size_t length, bool random)
{
    uint8_t *const bytes = malloc(length);
    assert_non_null(bytes);
    const size_t payload = length - 5;
    bytes[0] = 0x7f;
    for (int i = 0; i < 4; i++)
        bytes[1 + i] = (uint8_t)(payload >> 7 * i | (i < 3 ? 0x80 : 0));
    bytes[4] &= 0x7f;
    uint64_t seed = 88172645463325252u;
    for (size_t i = 5; i < length; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        bytes[i] = random ? (uint8_t)seed : (uint8_t)(i / 64);
    }
    return bytes;
}

static off_t size_of_file(void)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return found.st_size;
}

static void writes_a_header_that_says_what_it_was_told(void **state)
{
    (void)state;
    tide_writer_close(create());
    struct tide_format_header header;
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(&header, 1, sizeof(header), file), sizeof(header));
    (void)fclose(file);
    assert_int_equal(header.header_bytes, 64);
    assert_int_equal(header.start_unix_ns, START.unix_ns);
    assert_int_equal(header.start_ticks, 42);
    assert_int_equal(header.ticks_per_second, 3000000000u);
    tide_check_file(path, false, &check);
    assert_int_equal(check.chunks, 0);
}

static void only_its_owner_can_read_a_trace(void **state)
{
    (void)state;
    const mode_t mask = umask(0);
    tide_writer_close(create());
    (void)umask(mask);
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
}

static void compresses_what_can_be_compressed(void **state)
{
    (void)state;
    struct tide_writer *const writer = create();
    uint8_t *const dull = notes(TIDE_CHUNK_MAX, false), *const noise =
                                                            notes(1000, true);
    assert_int_equal(tide_writer_chunk(writer, &RUN, dull, TIDE_CHUNK_MAX), TIDE_OK);
    assert_true(tide_writer_bytes(writer) < 64 + 64 + TIDE_CHUNK_MAX / 10);
    const uint64_t before = tide_writer_bytes(writer);
    assert_int_equal(tide_writer_chunk(writer, &RUN, noise, 1000), TIDE_OK);
    assert_int_equal(tide_writer_bytes(writer), before + 64 + 1000);
    assert_int_equal(tide_writer_chunks(writer), 2);
    assert_int_equal(size_of_file(), tide_writer_bytes(writer));
    tide_writer_close(writer);

    tide_check_file(path, false, &check);
    assert_int_equal(check.chunks, 2);
    free(dull);
    free(noise);
}

static void refuses_empty_and_oversized_chunks(void **state)
{
    (void)state;
    struct tide_writer *const writer = create();
    assert_int_equal(tide_writer_chunk(writer, &RUN, "", 0), TIDE_ELIMIT);
    assert_int_equal(tide_writer_chunk(writer, &RUN, "", TIDE_CHUNK_MAX + 1),
                     TIDE_ELIMIT);
    assert_int_equal(tide_writer_bytes(writer), 64);
    tide_writer_close(writer);
}

static void puts_a_better_rate_in_the_header(void **state)
{
    (void)state;
    struct tide_writer *const writer = create();
    uint8_t *const dull = notes(100, false);
    assert_int_equal(tide_writer_chunk(writer, &RUN, dull, 100), TIDE_OK);
    assert_int_equal(tide_writer_set_rate(writer, 2999999999u), TIDE_OK);
    assert_int_equal(tide_writer_chunk(writer, &RUN, dull, 100), TIDE_OK);
    tide_writer_close(writer);
    free(dull);
    tide_check_file(path, false, &check);
    assert_int_equal(check.chunks, 2);
    struct tide_format_header header;
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(&header, 1, sizeof(header), file), sizeof(header));
    (void)fclose(file);
    assert_int_equal(header.ticks_per_second, 2999999999u);
}

static void never_overwrites_a_file(void **state)
{
    (void)state;
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("precious", file);
    (void)fclose(file);
    struct tide_writer *writer;
    assert_int_equal(tide_writer_create(path, &START, &writer), TIDE_EEXIST);
    assert_null(writer);
    assert_int_equal(size_of_file(), 8);
}

static void never_follows_a_link(void **state)
{
    (void)state;
    char victim[64];
    (void)snprintf(victim, sizeof(victim), "%s/victim", folder);
    struct tide_writer *writer;
    assert_int_equal(symlink(victim, path), 0); /* dangling */
    assert_int_equal(tide_writer_create(path, &START, &writer), TIDE_EEXIST);
    assert_int_equal(access(victim, F_OK), -1);
}

static void says_when_the_folder_is_missing(void **state)
{
    (void)state;
    struct tide_writer *writer;
    assert_int_equal(tide_writer_create("/nowhere/at/all.tide", &START, &writer),
                     TIDE_ENOENT);
    assert_null(writer);
    assert_int_equal(errno, ENOENT);
}

/* In a child, since the limit stays.  Exit status 0: as it should be. */
static int fill_up(rlim_t limit)
{
    const struct rlimit bound = {limit, limit};
    (void)signal(SIGXFSZ, SIG_IGN);
    struct tide_writer *writer;
    if (tide_writer_create(path, &START, &writer) || setrlimit(RLIMIT_FSIZE, &bound))
        return 1;
    const struct tide_chunk_label events = {
        .kind = TIDE_CHUNK_EVENTS, .process = 0, .first_ticks = 1, .last_ticks = 2};
    uint8_t *const noise = notes(10000, true);
    int written = 0;
    while (tide_writer_chunk(writer, &RUN, noise, 10000) == TIDE_OK && written < 1000)
        written++;
    const uint64_t good = 64 + (uint64_t)written * 10064;
    if (written != (int)((limit - 64) / 10064) || tide_writer_bytes(writer) != good)
        return 2;
    if (tide_writer_problem(writer) != EFBIG)
        return 3;
    if (tide_writer_chunk(writer, &events, noise, 100) != TIDE_EIO)
        return 4; /* events are refused from then on, even if they would fit */
    if (size_of_file() != (off_t)good)
        return 5;
    if (tide_writer_chunk(writer, &RUN, noise, 10) != TIDE_OK)
        return 6; /* the reason may still be said */
    tide_writer_close(writer);
    free(noise);
    return 0;
}

static void a_full_disk_leaves_whole_chunks(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(fill_up(64 + 7 * 10064 + 5000));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    static uint8_t last[80];
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, -74, SEEK_END), 0);
    assert_int_equal(fread(last, 1, 74, file), 74);
    (void)fclose(file);
    struct tide_format_chunk head;
    memcpy(&head, last, sizeof(head));
    assert_int_equal(head.magic, TIDE_CHUNK_MAGIC); /* right after the seventh */
    assert_int_equal(truncate(path, 64 + 7 * 10064), 0);
    tide_check_file(path, false, &check);
    assert_int_equal(check.chunks, 7);
    assert_false(check.complete);
}

/* With room for a chunk of so many bytes and not for half as many more. */
static int write_with_little(void)
{
    const size_t length = 5u << 20;
    struct tide_writer *writer;
    char words[128];
    FILE *const file = fopen("/proc/self/statm", "r");
    uint8_t *const noise = notes(length, true);
    if (!file || !fgets(words, sizeof(words), file) || fclose(file) ||
        tide_writer_create(path, &START, &writer))
        return 1;
    const rlim_t limit = strtoul(words, NULL, 10) * 4096 + length / 5 * 7;
    const struct rlimit bound = {limit, limit};
    if (setrlimit(RLIMIT_AS, &bound))
        return 2;
    return tide_writer_chunk(writer, &RUN, noise, length) == TIDE_OK ? 0 : 3;
}

/* WORK, in a child of which its limits are, gives 0. */
static void works_in_a_child(int (*work)(void))
{
    if (TIDE_SANITIZED)
        skip(); /* they end a program that asks for too much */
    const pid_t pid = fork();
    if (pid == 0)
        _exit(work());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A disk of 16 pages of its own stands where the file will be. */
static bool get_small_disk(void)
{
    return unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, "size=64k") == 0;
}

/* On a disk of 16 pages of its own, of which all but 60 bytes would be taken.  0: the last
 * words are written; -1: there is no such disk to be had. */
static int fill_last_page(void)
{
    static const struct tide_chunk_label NOTES = {
        .kind = TIDE_CHUNK_NOTES, .first_ticks = 1, .last_ticks = 2};
    const size_t pages = 16 * 4096, heads = 2 * 64;
    if (!get_small_disk())
        return -1;
    uint8_t *const bytes = notes(pages, true);
    struct tide_writer *writer;
    if (tide_writer_create(path, &START, &writer))
        return 1;
    (void)tide_writer_chunk(writer, &NOTES, bytes, pages - heads - 60);
    const bool refused = tide_writer_chunk(writer, &NOTES, bytes, 100) == TIDE_EIO;
    const bool said = tide_writer_chunk(writer, &RUN, bytes, 100) == TIDE_OK;
    tide_writer_close(writer);
    free(bytes);
    return refused && said ? 0 : 2;
}

/* Names that do not fit, or would leave no room for the end, stay away. */
static int offer_names(void)
{
    static const struct tide_chunk_label END = {.kind = TIDE_CHUNK_END};
    const size_t pages = 16 * 4096, heads = 2 * 64;
    if (!get_small_disk())
        return -1;
    uint8_t *const bytes = notes(pages, true);
    struct tide_writer *writer;
    if (tide_writer_create(path, &START, &writer))
        return 1;
    bool good =
        tide_writer_spare_chunk(writer, &RUN, bytes, pages) == TIDE_EIO &&
        tide_writer_spare_chunk(writer, &RUN, bytes, pages - heads - 60) == TIDE_EIO &&
        tide_writer_problem(writer) == 0 &&
        tide_writer_spare_chunk(writer, &RUN, bytes, 100) == TIDE_OK &&
        tide_writer_chunk(writer, &END, bytes, 100) == TIDE_OK;
    good = good && size_of_file() == 64 + 2 * (64 + 100);
    tide_writer_close(writer);
    free(bytes);
    return good ? 0 : 2;
}

static void works_on_small_disk(int (*work)(void))
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(work());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 255)
        skip();
    assert_int_equal(status, 0);
}

static void the_last_page_has_room_for_last_words(void **state)
{
    (void)state;
    works_on_small_disk(fill_last_page);
}

static void a_file_goes_on_without_names_that_do_not_fit(void **state)
{
    (void)state;
    works_on_small_disk(offer_names);
}

static void little_memory_is_enough_for_one_chunk(void **state)
{
    (void)state;
    works_in_a_child(write_with_little);
}

/* A chunk of COUNT tags of which hardly any has a half: those that tell which tags have one
 * are others. */
static enum tide_status write_odd_tags(struct tide_writer *writer, size_t count)
{
    const struct tide_chunk_label events = {
        .kind = TIDE_CHUNK_EVENTS, .process = 0, .first_ticks = 1, .last_ticks = 2};
    uint8_t *const tags = notes(count, true);
    for (size_t i = 0; i < count; i++)
        tags[i] = i % 13 ? TIDE_OP_MOVE_BACK | (tags[i] & TIDE_TAG_GONE) : TIDE_OP_FREE;
    const struct tide_column_bytes columns[TIDE_COLUMNS] = {
        [TIDE_COLUMN_TAGS] = {tags, count}};
    const enum tide_status status = tide_writer_events(writer, &events, columns);
    free(tags);
    return status;
}

/* With no memory to compress the second chunk, which just fits in the room that
 * the first one made. */
static int write_odd_tags_with_little(void)
{
    struct tide_writer *writer;
    char words[128];
    if (tide_writer_create(path, &START, &writer) || write_odd_tags(writer, 40000))
        return 1;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (!file || !fgets(words, sizeof(words), file) || fclose(file))
        return 2;
    const rlim_t limit = strtoul(words, NULL, 10) * 4096;
    const struct rlimit bound = {limit, limit};
    const uint64_t before = tide_writer_bytes(writer);
    if (setrlimit(RLIMIT_AS, &bound) || write_odd_tags(writer, 59000))
        return 3;
    const bool plain = tide_writer_bytes(writer) >= before + 59000;
    tide_writer_close(writer);
    return plain ? 0 : 4;
}

static void halves_go_nowhere_without_memory(void **state)
{
    (void)state;
    works_in_a_child(write_odd_tags_with_little);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(writes_a_header_that_says_what_it_was_told,
                                  remove_file),
        cmocka_unit_test_teardown(only_its_owner_can_read_a_trace, remove_file),
        cmocka_unit_test_teardown(compresses_what_can_be_compressed, remove_file),
        cmocka_unit_test_teardown(refuses_empty_and_oversized_chunks, remove_file),
        cmocka_unit_test_teardown(puts_a_better_rate_in_the_header, remove_file),
        cmocka_unit_test_teardown(never_overwrites_a_file, remove_file),
        cmocka_unit_test_teardown(never_follows_a_link, remove_file),
        cmocka_unit_test(says_when_the_folder_is_missing),
        cmocka_unit_test_teardown(a_full_disk_leaves_whole_chunks, remove_file),
        cmocka_unit_test(the_last_page_has_room_for_last_words),
        cmocka_unit_test(a_file_goes_on_without_names_that_do_not_fit),
        cmocka_unit_test_teardown(little_memory_is_enough_for_one_chunk, remove_file),
        cmocka_unit_test_teardown(halves_go_nowhere_without_memory, remove_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
