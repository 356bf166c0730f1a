/* cli/record_options.h - how a program is recorded, as options and as variables.
 *
 * For: cli/ only.  `run` takes these on its command line.  Where nothing but LD_PRELOAD starts
 * the recorder each is a variable of the environment: --free-stacks is TIDEMARK_FREE_STACKS.
 * Both are read by the same table and checked by the same rules.
 */
#ifndef TIDE_CLI_RECORD_OPTIONS_H
#define TIDE_CLI_RECORD_OPTIONS_H

#include "base/text.h"
#include "cli/options.h"
#include "collect/collector.h"

enum { TIDE_RECORD_OPTIONS = 13 };

struct tide_record_options {
    const char *name;          /* of the trace: a pattern, or NULL */
    struct tide_wishes wishes; /* whole after tide_record_options_end() */
    int engine, follow, times;
    uint64_t depth, collectors;
    const char *spaces;
    bool no_stacks, no_names;
};

/* What is wrong with an option; NAME is NULL when nothing is. */
struct tide_record_fault {
    const char *name; /* static: the option, without dashes */
    char text[160];
};

/* A variable that was set and cannot be followed, or one that has a name like ours. */
struct tide_record_complaint {
    const char
        *text;    /* borrowed for the call: the variable and what is wrong with it */
    bool unknown; /* it is not one of ours */
};
typedef void tide_record_complain(void *context,
                                  const struct tide_record_complaint *complaint);

/* The options; what they say is kept between these two calls. */
extern const struct tide_option tide_record_table[TIDE_RECORD_OPTIONS + 1];
void tide_record_options_begin(void);
/* Put what was asked for into *OPTIONS, unless something is wrong with it. */
struct tide_record_fault tide_record_options_end(struct tide_record_options *options);
/* The wishes in words, for the trace. */
void tide_record_options_words(const struct tide_record_options *options,
                               struct tide_text *out);

/* Follow the variables.  One that cannot be followed is complained of, and its option keeps
 * its default.  OPTIONS is whole afterwards, and borrows from the environment. */
void tide_record_options_read(struct tide_record_options *options,
                              tide_record_complain *complain, void *context);
/* The variables that are set, as "NAME=VALUE NAME=VALUE". */
void tide_record_options_set(struct tide_text *out);

#endif
