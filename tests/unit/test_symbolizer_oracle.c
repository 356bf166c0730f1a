/* tests/unit/test_symbolizer_oracle.c - what addr2line says of the same addresses.
 *
 * Every address of a C program and some hundred of a C++ one: the chain of inlined
 * functions, each with its file and line, must be the same.  Known differences, which
 * the comparison allows for:
 *
 *   - Between functions (padding) addr2line names the function before; we name none.
 *   - Code without debug information: addr2line knows the source file from the symbol
 *     table (crtstuff.c, without a line); we give none.
 *   - The compiler's clone marks (f.part.0, f [clone .cold]): we leave them out.
 *   - Functions that have no linker's name in DWARF (anonymous namespaces, lambdas,
 *     static functions): we say `a::b::f`.  addr2line says `f`, or takes the demangled
 *     symbol around it, which for an inlined function is that of another one.
 *   - DWARF 5 where the first file is not the source itself: addr2line of binutils 2.40
 *     is one file off at the beginning of functions (it says line 229 of a file with
 * 110
 *     lines), so C++ and whole-program optimization are compared in DWARF 4.
 *   - Where there are no lines, eu-addr2line gives the last ones before.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "symbol/name_pool.h"
#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

enum {
    TIDE_BATCH = 400, /* addresses on one command line */
    TIDE_CHAIN_MAX = 64,
};

/* What the tool says of one address, innermost first; borrowed from its output. */
struct chain {
    const char *functions[TIDE_CHAIN_MAX];
    const char *places[TIDE_CHAIN_MAX]; /* file:line */
    size_t count;
};

struct comparison {
    struct tide_symbolizer *symbolizer;
    struct tide_name_pool pool; /* for paths */
    size_t compared, lines, gaps, unnamed;
};

static char *scratch; /* folder */

static int begin(void **state)
{
    (void)state;
    scratch = tide_scratch_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tide_scratch_remove(scratch);
    return 0;
}

/* --- Their words ------------------------------------------------------------------ */

static void cut_at(char *text, const char *mark)
{
    char *const at = strstr(text, mark);
    if (at)
        *at = '\0';
}

/* `f.part.0` and `f() [clone .cold]` are f. */
static void cut_clone_marks(char *function)
{
    static const char *const marks[] = {
        " [clone ", ".part.",      ".constprop.",  ".isra.",
        ".cold",    ".localalias", " inlined at ", /* eu-addr2line */
    };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        cut_at(function, marks[i]);
}

/* Take the lines that belong to the next address off *REST. */
static void read_chain(char **rest, struct chain *chain)
{
    chain->count = 0;
    assert_non_null(strsep(rest, "\n")); /* the address */
    while (*rest && **rest != '\0' && strncmp(*rest, "0x", 2) != 0) {
        assert_true(chain->count < TIDE_CHAIN_MAX);
        char *const function = strsep(rest, "\n");
        char *const place = strsep(rest, "\n");
        assert_non_null(place);
        cut_clone_marks(function);
        cut_at(place, " (discriminator");
        chain->functions[chain->count] = function;
        chain->places[chain->count++] = place;
    }
}

/* --- Compare ---------------------------------------------------------------------- */

/* Where the line begins in file:line or, as eu-addr2line has it, file:line:column. */
static const char *colon_before_line(const char *place)
{
    const char *const last = strrchr(place, ':');
    assert_non_null(last);
    const char *at = last;
    while (at > place && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at > place && at[-1] == ':' ? at - 1 : last;
}

static void compare_place(struct comparison *comparison,
                          const struct tide_location *ours, const char *theirs)
{
    if (!ours->file)
        return;
    const char *const colon = colon_before_line(theirs);
    assert_int_equal(ours->line, strtoul(colon + 1, NULL, 10));
    char *const file = strndup(theirs, (size_t)(colon - theirs));
    const char *const path = tide_name_pool_add_path(&comparison->pool, file);
    assert_string_equal(ours->file, path);
    free(file);
    comparison->lines++;
}

static bool ends_with(const char *text, const char *tail)
{
    const size_t length = strlen(text);
    const size_t size = strlen(tail);
    return length >= size && strcmp(text + length - size, tail) == 0;
}

/* The bare identifier in NAME: `f` in `a<b::c>::f<d::e>`. */
static void bare_name(const char *name, char *bare, size_t size)
{
    const char *begin = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (depth == 0 && *at == ':')
            begin = at + 1;
    }
    (void)snprintf(bare, size, "%.*s", (int)strcspn(begin, "<("), begin);
}

static void compare_function(struct comparison *comparison, const char *ours,
                             const char *theirs, bool innermost)
{
    if (strcmp(ours, theirs) == 0)
        return;
    /* Only a demangled name has parameters at its end. */
    const bool linked = (ends_with(ours, ")") && !ends_with(ours, "operator()")) ||
                        ends_with(ours, ") const");
    char bare[64];
    bare_name(ours, bare, sizeof(bare));
    if (linked || !(innermost || strstr(theirs, bare)))
        fail_msg("we say %s, they say %s", ours, theirs);
    comparison->unnamed++;
}

static void compare_chain(struct comparison *comparison, uint64_t address,
                          const struct chain *theirs)
{
    const struct tide_location *ours;
    size_t count;
    assert_int_equal(
        tide_symbolizer_find(comparison->symbolizer, address, &ours, &count), TIDE_OK);
    if (count == 0 || !ours[0].function) {
        comparison->gaps++;
        return;
    }
    comparison->compared++;
    assert_int_equal(count, theirs->count);
    for (size_t i = 0; i < count; i++) {
        compare_place(comparison, &ours[i], theirs->places[i]);
        compare_function(comparison, ours[i].function, theirs->functions[i], i == 0);
    }
}

/* Ask TOOL about COUNT addresses from FIRST on, STEP apart. */
static void compare_batch(struct comparison *comparison, const char *const tool[],
                          uint64_t first, uint64_t step, size_t count)
{
    enum { TIDE_FIXED = 8 };
    const char **const argv = calloc(TIDE_FIXED + count + 1, sizeof(*argv));
    char(*const words)[20] = calloc(count, sizeof(*words));
    assert_true(argv && words);
    size_t used = 0;
    for (; tool[used]; used++)
        argv[used] = tool[used];
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = first + i * step;
        (void)snprintf(words[i], sizeof(words[i]), "0x%" PRIx64, address);
        argv[used + i] = words[i];
    }
    struct tide_text text = {0};
    assert_int_equal(tide_tool_run(argv, &text), 0);
    char *rest = text.bytes;
    struct chain chain;
    for (size_t i = 0; i < count; i++) {
        read_chain(&rest, &chain);
        compare_chain(comparison, first + i * step, &chain);
    }
    tide_text_release(&text);
    free(words);
    free(argv);
}

/* Where .text is in FILE, by readelf. */
static void text_section(const char *file, uint64_t *first, uint64_t *size)
{
    struct tide_text text = {0};
    const char *const argv[] = {"readelf", "-SW", file, NULL};
    assert_int_equal(tide_tool_run(argv, &text), 0);
    const char *at = strstr(text.bytes, " .text ");
    assert_non_null(at);
    at += strlen(" .text ");
    at += strspn(at, " ");
    at += strcspn(at, " "); /* PROGBITS */
    char *behind;
    *first = strtoull(at, &behind, 16);
    (void)strtoull(behind, &behind, 16); /* in the file */
    *size = strtoull(behind, NULL, 16);
    assert_true(*first > 0 && *size > 0);
    tide_text_release(&text);
}

/* Compile with COMMAND, then ask TOOL about addresses STEP apart (0: about 600). */
static struct comparison compare_all(const char *command, const char *source,
                                     const char *tool, uint64_t step)
{
    char *const program = tide_path("%s/program", scratch);
    char *const with_output = tide_path("%s -o %s", command, program);
    tide_fixture_do(with_output, source);
    uint64_t first;
    uint64_t size;
    text_section(program, &first, &size);
    if (step == 0)
        step = size / 600 + 1;

    struct comparison comparison = {.symbolizer = tide_fixture_open(program, "", NULL)};
    const char *const words[] = {tool, "-a", "-i", "-f", "-C", "-e", program, NULL};
    for (uint64_t at = 0; at < size; at += step * TIDE_BATCH) {
        const uint64_t left = (size - at + step - 1) / step;
        compare_batch(&comparison, words, first + at, step,
                      left < TIDE_BATCH ? (size_t)left : TIDE_BATCH);
    }
    tide_symbolizer_close(comparison.symbolizer);
    tide_name_pool_release(&comparison.pool);
    free(with_output);
    free(program);
    return comparison;
}

static void agrees_on_every_address_of_a_c_program(void **state)
{
    (void)state;
    static const char *const commands[] = {"gcc -O2 -g", "gcc -O2 -g -gdwarf-4",
                                           "gcc -O0 -g", "gcc -O3 -g -gdwarf-4 -flto"};
    for (size_t i = 0; i < 4; i++) {
        const struct comparison done =
            compare_all(commands[i], TIDE_FIXTURE("inline_chain.c"), "addr2line", 1);
        assert_true(done.lines >= 400);
        assert_true(done.gaps < done.compared / 4);
        assert_int_equal(done.unnamed, 0);
    }
}

static void agrees_on_a_cplusplus_program(void **state)
{
    (void)state;
    if (!tide_tool_found("g++"))
        skip();
    static const char *const commands[] = {"g++ -O2 -g -gdwarf-4",
                                           "g++ -O0 -g -gdwarf-4"};
    for (size_t i = 0; i < 2; i++) {
        const struct comparison done =
            compare_all(commands[i], TIDE_FIXTURE("scopes.cpp"), "addr2line", 0);
        assert_true(done.lines >= 500);
        assert_true(done.gaps < done.compared / 10);
        assert_true(done.unnamed < done.lines / 3);
    }
}

static void agrees_with_eu_addr2line(void **state)
{
    (void)state;
    if (!tide_tool_found("eu-addr2line"))
        skip();
    const struct comparison done =
        compare_all("gcc -O2 -g", TIDE_FIXTURE("inline_chain.c"), "eu-addr2line", 3);
    assert_true(done.lines >= 120);
    assert_int_equal(done.unnamed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_on_every_address_of_a_c_program),
        cmocka_unit_test(agrees_on_a_cplusplus_program),
        cmocka_unit_test(agrees_with_eu_addr2line),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
