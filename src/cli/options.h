/* cli/options.h - a verb's options in a table: read, explained, completed.
 *
 * For: cli/ only.  A verb lists its options with the variable that each one sets; which
 * pointer of an entry is not NULL says what kind of value it takes.  Defaults are what
 * the variables hold before.  The table is the only place that describes an option: --help,
 * --help-all and the completions of shells are made from it.
 *
 *     static struct report_options asked;
 *     static const struct tide_option TABLE[] = {
 *         {.name = "json", .flag = &asked.json, .help = "for programs"},
 *         {.name = "rows", .letter = 'n', .count = &asked.rows, .value = "N",
 *          .help = "at most N rows"},
 *         {.name = "unwind", .choice = &asked.engine, .words = ENGINE_WORDS,
 *          .value = "ENGINE", .help = "how stacks are walked", .rare = true},
 *         {.name = NULL},
 *     };
 *     asked = (struct report_options){.rows = 20};
 *     struct tide_arguments rest = {0};
 *     const int done = tide_options_parse(&tide_cmd_report, argc, argv, &rest);
 *     if (done >= 0)
 *         return done;
 *     if (rest.count > 1)
 *         return tide_fail_usage(&tide_cmd_report, "one trace at a time");
 *
 * Understood: --name, --name value, --name=value, -n value, -n5, and letters of flags
 * together (-ab).  "--" ends the options.  -h and --help print the options that are not
 * rare, --help-all prints all of them; these need no entry.  A mistake is explained on
 * stderr, with the nearest name when an option is unknown.  An option given twice counts
 * as the last one says, but for texts.
 */
#ifndef TIDE_CLI_OPTIONS_H
#define TIDE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

enum { TIDE_TEXTS = 64, TIDE_OPTION_TABLES = 2 };

/* The values of an option that may be given several times. */
struct tide_texts {
    const char *list[TIDE_TEXTS];
    size_t count;
};

/* One option.  Exactly one of the pointers from flag to choice is set. */
struct tide_option {
    const char *name; /* long name without dashes; NULL ends the table */
    char letter;      /* short alias; 0: none */
    bool axis;        /* seconds, seconds_pair: a size (64K) or count will do as well */
    bool rare;        /* only --help-all shows it */
    enum tide_takes takes;    /* what its value is, for text and texts */
    bool *flag;               /* takes no value: becomes true */
    const char **text;        /* any value; borrowed from argv */
    struct tide_texts *texts; /* the same, and each time one more of them */
    uint64_t *count;          /* a whole number, decimal */
    uint64_t *bytes;          /* a size, as cli/values.h has it */
    double *seconds;          /* a time, the same */
    double *seconds_pair;     /* two of them: --name T1 T2, or --name=T1,T2 */
    double *seconds_range;    /* two: least and most, as MIN..MAX, MIN.. or ..MAX; MIN
                              alone is MIN..; 0: no limit */
    uint64_t *bytes_range; /* the same of bytes; the second is one more than the most */
    int *choice;           /* index of the value in words */
    const char *const *words; /* for choice: NULL-terminated */
    const char *heading;      /* a group of the help begins here; NULL: none */
    const char *value;        /* what the help calls its value; NULL for flags */
    const char *help;         /* what it does; a line end begins a new line */
};

/* --color and --json, which many verbs have: entries of a table. */
extern const char *const tide_color_words[]; /* in the order of enum tide_color */
#define TIDE_OPTION_COLOR(VARIABLE, RARE)                                       \
    {                                                                           \
        .name = "color", .choice = &(VARIABLE), .words = tide_color_words,      \
        .value = "WHEN", .help = "use colors: auto (default), always or never", \
        .rare = (RARE)                                                          \
    }
#define TIDE_OPTION_JSON(VARIABLE, VERB)                            \
    {                                                               \
        .name = "json", .flag = &(VARIABLE),                        \
        .help = "write JSON for programs; see tidemark-" VERB "(1)" \
    }

/* What is left after the options; points into argv, whose order may have changed. */
struct tide_arguments {
    char **list;
    int count;
};

/* Read the options of COMMAND, wherever they stand before "--".  argv[0] is the verb.
 * Returns -1 when the verb shall go on; else the exit status: 0 after --help, 2 after a
 * mistake, which was explained. */
int tide_options_parse(const struct tide_command *command, int argc, char **argv,
                       struct tide_arguments *rest);

/* The same, but the first word that is no option ends them: what follows is a command
 * line of its own. */
int tide_options_parse_first(const struct tide_command *command, int argc, char **argv,
                             struct tide_arguments *rest);

/* The tables of COMMAND; the second may be empty. */
void tide_options_of(const struct tide_command *command,
                     const struct tide_option *tables[TIDE_OPTION_TABLES]);

/* Store VALUE in the variable of OPTION.  A flag is true for anything but "", "0" and "off".
 * False: WHY says what is wrong with the value. */
enum { TIDE_OPTION_WHY = 320 };
bool tide_option_store(const struct tide_option *option, const char *value,
                       char why[TIDE_OPTION_WHY]);

#endif
