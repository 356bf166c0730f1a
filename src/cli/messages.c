/* cli/messages.c - what the program says when something is wrong or asked for.
 *
 * One line, no colour, "tidemark: " in front: made to be read in a log as well.  On a
 * terminal it is wrapped at blanks, and goes on below.
 */
#include "cli/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "view/style.h"
#include "view/utf8.h"

static const char *failing_about; /* borrowed; NULL: nothing */

void tide_fail_about(const char *about)
{
    failing_about = about;
}

enum { TIDE_MESSAGE_INDENT = 2 };

static int columns_of(const char *text, size_t length)
{
    struct tide_text part = {0};
    tide_text_add_bytes(&part, text, length);
    const int columns = part.bytes ? tide_columns(part.bytes) : 0;
    tide_text_release(&part);
    return columns;
}

/* The bytes of TEXT that stay on one line: a word, or a command to copy at the end. */
static size_t piece_length(const char *text, int room)
{
    static const char COMMAND[] = "tidemark ";
    const size_t all = strlen(text);
    if (strncmp(text, COMMAND, strlen(COMMAND)) == 0 && columns_of(text, all) <= room)
        return all;
    return strcspn(text, " ");
}

/* Add LINE, parted at blanks so that it fits WIDTH columns.  What has no blank stays whole,
 * however long it is: a path is there to be copied. */
static void add_wrapped(struct tide_text *out, const char *line, int width)
{
    const int room = width - TIDE_MESSAGE_INDENT;
    int column = 0;
    while (*line) {
        const size_t blanks = strspn(line, " ");
        const size_t length = piece_length(line + blanks, room);
        const int wide = columns_of(line + blanks, length);
        if (column > TIDE_MESSAGE_INDENT && wide <= room &&
            column + (int)blanks + wide > width) {
            tide_text_addf(out, "\n%*s", TIDE_MESSAGE_INDENT, "");
            column = TIDE_MESSAGE_INDENT;
        } else {
            tide_text_add_bytes(out, line, blanks);
            column += (int)blanks;
        }
        tide_text_add_bytes(out, line + blanks, length);
        column += wide;
        line += blanks + length;
    }
    tide_text_add(out, "\n");
}

/* One line in a log, as many as it takes on a terminal. */
static void write_line(const struct tide_text *line)
{
    const int width = tide_style_fit(STDERR_FILENO);
    struct tide_text wrapped = {0};
    if (width)
        add_wrapped(&wrapped, line->bytes, width);
    if (width && !wrapped.failed)
        (void)fputs(wrapped.bytes, stderr);
    else
        (void)fprintf(stderr, "%s\n", line->bytes);
    tide_text_release(&wrapped);
}

/* Names come from outside: a control character in one must not reach the terminal. */
__attribute__((format(printf, 1, 0))) static void say(const char *format,
                                                      va_list arguments)
{
    char words[2048]; /* longer than any path that is worth reading */
    struct tide_text line = {0};
    (void)vsnprintf(words, sizeof(words), format, arguments);
    tide_text_add(&line, "tidemark: ");
    if (failing_about) {
        tide_text_add_safe(&line, failing_about);
        tide_text_add(&line, ": ");
    }
    tide_text_add_safe(&line, words);
    if (line.failed)
        (void)fputs("tidemark: out of memory\n", stderr);
    else
        write_line(&line);
    tide_text_release(&line);
}

void tide_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
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
    struct tide_text usage = {0};
    tide_text_addf(&usage, "usage: tidemark %s %s", command->name, command->usage);
    if (!usage.failed)
        write_line(&usage);
    tide_text_release(&usage);
    (void)fprintf(stderr, "'tidemark %s --help' says more.\n", command->name);
    return 2;
}
