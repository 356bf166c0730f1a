/* tests/unit/test_symbolizer_damage.c - damaged files give poorer answers, not an end.
 *
 * Each damaged file is read in a child of its own, which must end by itself and in
 * time: the libraries underneath read these bytes too.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

/* A good program, and the file its damaged copies are written to. */
struct subject {
    char *folder, *path, *damaged;
    unsigned char *bytes;
    size_t size;
    size_t debug;         /* where the first debug section begins */
    size_t table;         /* where the section headers begin */
    uint64_t first, last; /* addresses to ask for */
};

static void read_bytes(struct subject *subject)
{
    FILE *const file = fopen(subject->path, "re");
    struct stat about = {0};
    assert_true(file && fstat(fileno(file), &about) == 0);
    subject->size = (size_t)about.st_size;
    subject->bytes = malloc(subject->size + 1);
    assert_non_null(subject->bytes);
    assert_int_equal(fread(subject->bytes, 1, subject->size, file), subject->size);
    (void)fclose(file);
}

static void find_sections(struct subject *subject)
{
    Elf64_Ehdr header;
    memcpy(&header, subject->bytes, sizeof(header));
    subject->table = header.e_shoff;
    subject->debug = header.e_shoff;
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, subject->bytes + header.e_shoff + i * sizeof(section),
               sizeof(section));
        /* Of what is not loaded, debug sections come first. */
        const int loaded = (section.sh_flags & SHF_ALLOC) != 0;
        if (!loaded && section.sh_offset > 0 && section.sh_offset < subject->debug)
            subject->debug = section.sh_offset;
    }
    assert_true(subject->debug < subject->table && subject->table < subject->size);
}

static int make_with(const char *compiler, void **state)
{
    static struct subject subject;
    subject.folder = tide_scratch_new();
    subject.path = tide_path("%s/program", subject.folder);
    subject.damaged = tide_path("%s/damaged", subject.folder);
    char *const command = tide_path("%s -o %s", compiler, subject.path);
    tide_fixture_do(command, TIDE_FIXTURE("inline_chain.c"));
    free(command);
    subject.first = tide_fixture_address(subject.path, "_start");
    subject.last = tide_fixture_address(subject.path, "_fini");
    read_bytes(&subject);
    find_sections(&subject);
    *state = &subject;
    return 0;
}

static int make(void **state)
{
    return make_with("gcc -O2 -g", state);
}

static int make_compressed(void **state)
{
    return make_with("gcc -O2 -g -gz=zlib", state);
}

static int destroy(void **state)
{
    struct subject *const subject = *state;
    tide_scratch_remove(subject->folder);
    free(subject->path);
    free(subject->damaged);
    free(subject->bytes);
    return 0;
}

static void write_damaged(const struct subject *subject, const unsigned char *bytes,
                          size_t size)
{
    const int fd =
        open(subject->damaged, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* Read all that is said of every address, so that a bad pointer shows. */
static size_t ask_all(const struct subject *subject)
{
    const struct tide_symbolizer_options options = {.debug_root = "/nonexistent"};
    struct tide_symbolizer *symbolizer;
    if (tide_symbolizer_open(subject->damaged, "", &options, &symbolizer) != TIDE_OK)
        return 0;
    size_t read = 0;
    for (uint64_t at = subject->first; at < subject->last; at += 7) {
        const struct tide_location *found;
        size_t count;
        if (tide_symbolizer_find(symbolizer, at, &found, &count) != TIDE_OK)
            continue;
        for (size_t i = 0; i < count; i++) {
            read += found[i].function ? strlen(found[i].function) : 0;
            read += found[i].file ? strlen(found[i].file) : 0;
        }
    }
    tide_symbolizer_close(symbolizer);
    return read;
}

static void assert_survived(const struct subject *subject, const char *kind,
                            size_t number)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(30);
        _exit(ask_all(subject) == SIZE_MAX);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("%s %zu: wait status %#x", kind, number, (unsigned)status);
}

static uint64_t next_random(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* Mostly in debug information and headers, since the rest is hardly read. */
static size_t random_place(const struct subject *subject, uint64_t *random)
{
    const size_t size = subject->size;
    switch (next_random(random) % 8) {
    case 0:
        return 16 + next_random(random) % 48; /* ELF header, but for its magic number */
    case 1:
        return subject->table + next_random(random) % (size - subject->table);
    case 2:
        return next_random(random) % size;
    default:
        return subject->debug + next_random(random) % (size - subject->debug);
    }
}

static unsigned char random_byte(unsigned char old, uint64_t *random)
{
    switch (next_random(random) % 3) {
    case 0:
        return (unsigned char)next_random(random);
    case 1:
        return (unsigned char)(old ^ (1u << (next_random(random) % 8)));
    default:
        return next_random(random) % 2 ? 0xff : 0;
    }
}

static void survives_wrong_bytes(void **state)
{
    const struct subject *const subject = *state;
    enum { TIDE_FILES = 1000 };
    unsigned char *const bytes = malloc(subject->size);
    assert_non_null(bytes);
    uint64_t random = 3;
    for (size_t i = 0; i < TIDE_FILES; i++) {
        memcpy(bytes, subject->bytes, subject->size);
        const uint64_t wrong = 1 + next_random(&random) % 20;
        for (uint64_t k = 0; k < wrong; k++) {
            const size_t place = random_place(subject, &random);
            bytes[place] = random_byte(bytes[place], &random);
        }
        write_damaged(subject, bytes, subject->size);
        assert_survived(subject, "wrong bytes", i);
    }
    free(bytes);
}

static void survives_a_file_cut_short(void **state)
{
    const struct subject *const subject = *state;
    for (size_t size = 0; size < subject->size; size += 97) {
        write_damaged(subject, subject->bytes, size);
        assert_survived(subject, "cut at", size);
    }
}

/* The undamaged file must give something, or the cases above prove nothing. */
static void reads_the_good_file(void **state)
{
    const struct subject *const subject = *state;
    write_damaged(subject, subject->bytes, subject->size);
    assert_true(ask_all(subject) > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_good_file),
        cmocka_unit_test(survives_wrong_bytes),
        cmocka_unit_test(survives_a_file_cut_short),
    };
    const int failed = cmocka_run_group_tests(tests, make, destroy);
    return failed + cmocka_run_group_tests(tests, make_compressed, destroy);
}
