/* tests/unit/tool_run.h - run compilers and binutils, in a folder that is thrown away.
 *
 * For: tests that need programs made with certain flags, or a second opinion.
 */
#ifndef TIDE_TESTS_TOOL_RUN_H
#define TIDE_TESTS_TOOL_RUN_H

#include <stdbool.h>

#include "base/text.h"

/* Is there a program NAME on the PATH? */
bool tide_tool_found(const char *name);

/* Run ARGV, which ends with NULL, and wait for it.  What it prints is added to OUTPUT,
 * which may be NULL.  Returns its exit status, or -1 when it did not end by itself. */
int tide_tool_run(const char *const argv[], struct tide_text *output);

/* A new folder under /tmp, and its end with all that is in it.  The caller frees PATH;
 * the test fails when this fails. */
char *tide_scratch_new(void);
void tide_scratch_remove(char *path);

/* A path of printf parts; the caller frees it. */
char *tide_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
