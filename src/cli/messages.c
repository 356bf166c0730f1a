/* cli/messages.c - what the program says when something is wrong or asked for.
 *
 * One line, no colour, "tidemark: " in front: made to be read in a log as well.
 */
#include "cli/messages.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

static const char *failing_about; /* borrowed; NULL: nothing */

void tide_fail_about(const char *about)
{
    failing_about = about;
}

/* Names come from outside: a control character in one must not reach the terminal. */
static void write_clean(const char *line)
{
    struct tide_text safe = {0};
    tide_text_add_safe(&safe, line);
    (void)fputs(safe.failed || !safe.bytes ? "out of memory" : safe.bytes, stderr);
    tide_text_release(&safe);
}

__attribute__((format(printf, 1, 0))) static void say(const char *format,
                                                      va_list arguments)
{
    char line[2048]; /* longer than any path that is worth reading */
    (void)vsnprintf(line, sizeof(line), format, arguments);
    (void)fputs("tidemark: ", stderr);
    if (failing_about) {
        write_clean(failing_about);
        (void)fputs(": ", stderr);
    }
    write_clean(line);
    (void)fputc('\n', stderr);
}

int tide_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return 1;
}

int tide_fail_usage(const struct tide_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    (void)fprintf(stderr,
                  "usage: tidemark %s %s\n"
                  "'tidemark %s --help' says more.\n",
                  command->name, command->usage, command->name);
    return 2;
}
