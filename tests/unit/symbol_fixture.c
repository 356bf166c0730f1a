/* tests/unit/symbol_fixture.c - programs that know what stands at their own
 * addresses. */
#include "symbol_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "tool_run.h"

enum { TIDE_WORDS_MAX = 32 };

void tide_fixture_do(const char *command, const char *argument)
{
    char *const words = strdup(command);
    assert_non_null(words);
    const char *argv[TIDE_WORDS_MAX + 2] = {0};
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word && count < TIDE_WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    argv[count] = argument;
    const int status = tide_tool_run(argv, NULL);
    if (status != 0)
        fail_msg("%s %s: exit status %d", command, argument ? argument : "", status);
    free(words);
}

/* One line: address, then pairs of function and line, all parted by tabs. */
static void read_truth(char *line, struct tide_truth *truth)
{
    char *rest = NULL;
    truth->address = strtoull(strtok_r(line, "\t", &rest), NULL, 16);
    truth->count = 0;
    for (;;) {
        const char *const function = strtok_r(NULL, "\t", &rest);
        const char *const number = strtok_r(NULL, "\t", &rest);
        if (!function || !number)
            return;
        assert_true(truth->count < TIDE_TRUTH_FRAMES);
        (void)snprintf(truth->frames[truth->count].function,
                       sizeof(truth->frames[0].function), "%s", function);
        truth->frames[truth->count++].line = (uint32_t)strtoul(number, NULL, 10);
    }
}

void tide_fixture_truths(const char *program, struct tide_truths *out)
{
    out->count = 0;
    struct tide_text text = {0};
    const char *const argv[] = {program, NULL};
    assert_int_equal(tide_tool_run(argv, &text), 0);
    assert_non_null(text.bytes);
    char *rest = NULL;
    for (char *line = strtok_r(text.bytes, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        assert_true(out->count < TIDE_TRUTHS_MAX);
        read_truth(line, &out->list[out->count++]);
    }
    assert_true(out->count > 0);
    tide_text_release(&text);
}

static void check_one(struct tide_symbolizer *symbolizer,
                      const struct tide_truth *truth, const char *source)
{
    const struct tide_location *found;
    size_t count;
    assert_int_equal(tide_symbolizer_find(symbolizer, truth->address, &found, &count),
                     TIDE_OK);
    assert_int_equal(count, truth->count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(found[i].function);
        assert_string_equal(found[i].function, truth->frames[i].function);
        assert_non_null(found[i].file);
        assert_string_equal(found[i].file, source);
        assert_int_equal(found[i].line, truth->frames[i].line);
    }
}

void tide_fixture_check(struct tide_symbolizer *symbolizer,
                        const struct tide_truths *truths, const char *source)
{
    char *const real = realpath(source, NULL);
    assert_non_null(real);
    for (size_t i = 0; i < truths->count; i++)
        check_one(symbolizer, &truths->list[i], real);
    free(real);
}

struct tide_symbolizer *tide_fixture_open(const char *path, const char *build_id,
                                          const char *root)
{
    const struct tide_symbolizer_options options = {.debug_root = root};
    struct tide_symbolizer *symbolizer;
    assert_int_equal(tide_symbolizer_open(path, build_id, &options, &symbolizer),
                     TIDE_OK);
    assert_non_null(symbolizer);
    return symbolizer;
}

const char *tide_fixture_name(struct tide_symbolizer *symbolizer, uint64_t address)
{
    const struct tide_location *found;
    size_t count;
    assert_int_equal(tide_symbolizer_find(symbolizer, address, &found, &count),
                     TIDE_OK);
    assert_true(count <= 1);
    return count > 0 ? found[0].function : NULL;
}

uint64_t tide_fixture_address(const char *file, const char *symbol)
{
    struct tide_text text = {0};
    const char *const argv[] = {"nm", file, NULL};
    assert_int_equal(tide_tool_run(argv, &text), 0);
    uint64_t address = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text.bytes, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *const name = strrchr(line, ' ');
        if (name && strcmp(name + 1, symbol) == 0)
            address = strtoull(line, NULL, 16);
    }
    tide_text_release(&text);
    assert_true(address > 0);
    return address;
}
