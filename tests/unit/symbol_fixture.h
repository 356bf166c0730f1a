/* tests/unit/symbol_fixture.h - programs that know what stands at their own addresses.
 *
 * For: tests of symbol/.  See fixtures/inline_chain.c for what such a program prints.
 */
#ifndef TIDE_TESTS_SYMBOL_FIXTURE_H
#define TIDE_TESTS_SYMBOL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/symbolizer.h"

/* Only where TIDE_SOURCE_DIR is defined: in test programs. */
#define TIDE_FIXTURE(name) TIDE_SOURCE_DIR "/tests/unit/fixtures/" name

enum { TIDE_TRUTH_FRAMES = 3, TIDE_TRUTHS_MAX = 8 };

/* What stands at one address: innermost first. */
struct tide_truth {
    uint64_t address;
    size_t count;
    struct {
        char function[96];
        uint32_t line;
    } frames[TIDE_TRUTH_FRAMES];
};

struct tide_truths {
    struct tide_truth list[TIDE_TRUTHS_MAX];
    size_t count;
};

/* Run the command line made of COMMAND, split at blanks, and ARGUMENT (which may hold
 * blanks, or be NULL); the test fails when it fails. */
void tide_fixture_do(const char *command, const char *argument);

/* What PROGRAM says of itself; the test fails when it says nothing. */
void tide_fixture_truths(const char *program, struct tide_truths *out);

/* All of TRUTHS must be what SYMBOLIZER finds; the file is SOURCE. */
void tide_fixture_check(struct tide_symbolizer *symbolizer,
                        const struct tide_truths *truths, const char *source);

/* Open with the usual checks.  ROOT may be NULL. */
struct tide_symbolizer *tide_fixture_open(const char *path, const char *build_id,
                                          const char *root);

/* The name of what stands at ADDRESS when it is one function without inlined ones; NULL
 * when nothing is known. */
const char *tide_fixture_name(struct tide_symbolizer *symbolizer, uint64_t address);

/* The address of SYMBOL in FILE, by nm; the test fails when it is not there. */
uint64_t tide_fixture_address(const char *file, const char *symbol);

#endif
