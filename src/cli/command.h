/* cli/command.h - what a verb is.
 *
 * For: cli/ only.  To add one: write cmd_<verb>.c with its `const struct tide_command
 * tide_cmd_<verb>`, add it to the table in verbs.c, and write docs/man/tidemark-<verb>.1.
 */
#ifndef TIDE_CLI_COMMAND_H
#define TIDE_CLI_COMMAND_H

/* What a word of the command line is: so much a shell can complete. */
enum tide_takes {
    TIDE_TAKES_OTHER, /* nothing that a shell could know */
    TIDE_TAKES_TRACE,
    TIDE_TAKES_FILE,
    TIDE_TAKES_FOLDER,
    TIDE_TAKES_PROGRAM,
    TIDE_TAKES_SHELL, /* one that there are completions for */
};

struct tide_option;

struct tide_command {
    const char *name;
    const char *summary; /* one line, no full stop; NULL: not listed, not for people */
    const char *usage;   /* what follows the verb */
    const char *help;    /* what it does, above its options; ends in a newline */
    const char *example; /* one command line */
    enum tide_takes takes;                  /* what its words are, for shells */
    const struct tide_option *options;      /* its own, see options.h */
    const struct tide_option *more_options; /* some that other verbs have; or NULL */
    int (*run)(int argc,
               char **argv); /* argv[0] is the verb; returns the exit status */
};

/* From here on failures begin with ABOUT (borrowed; NULL: no more): "limits.conf:3". */
void tide_fail_about(const char *about);
/* Say what is no failure on stderr, as the others do. */
void tide_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Say what went wrong on stderr ("tidemark: ..."), return 1. */
int tide_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, then the usage line of COMMAND and where to find more; return 2. */
int tide_fail_usage(const struct tide_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

extern const struct tide_command tide_cmd_run, tide_cmd_report, tide_cmd_info,
    tide_cmd_query, tide_cmd_diff, tide_cmd_check, tide_cmd_pack, tide_cmd_resolve,
    tide_cmd_export, tide_cmd_doctor, tide_cmd_collect, tide_cmd_completion;

#endif
