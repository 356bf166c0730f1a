/* cli/check_words.h - the limits of `tidemark check`, from its arguments and its file.
 *
 * For: cli/, tests/.  A file of limits has a line for each option that it gives: "max-peak
 * = 2GiB".  Empty lines and lines that begin with # are left out.  What the command line
 * says too goes over the file.
 */
#ifndef TIDE_CLI_CHECK_WORDS_H
#define TIDE_CLI_CHECK_WORDS_H

#include <stddef.h>

#include "base/arena.h"
#include "cli/command.h"
#include "model/budget.h"

/* A line of a file of limits, as a word of the command line. */
struct tide_check_setting {
    char *word;        /* "--max-peak=2GiB" */
    const char *place; /* "limits.conf:3" */
};

struct tide_check_words {
    struct tide_arena arena; /* of all words and names */
    char *
        *list; /* owned: a command line, NULL-terminated; its readers may reorder it */
    size_t count, capacity;
    struct tide_check_setting *settings; /* owned: of the file, in its order */
    size_t setting_count, setting_capacity;
    /* --max-calls-in may be given more than once, so it is not left to the options. */
    struct tide_call_limit *calls_in; /* owned */
    size_t calls_in_count, calls_in_capacity;
};

/* Read ARGV and the file that its --config names.  Returns -1 or, after what is wrong was
 * said, the exit status.  In either case words are to be released. */
int tide_check_words_read(struct tide_check_words *words,
                          const struct tide_command *command, int argc, char **argv);
void tide_check_words_release(struct tide_check_words *words);

#endif
