/* cli/cmd_completion.c - tidemark completion: scripts for shells. */
#include <stddef.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/open_trace.h"
#include "cli/options.h"

/* --- What scripts have in common ------------------------------------------------------- */

bool tide_completion_takes_value(const struct tide_option *option)
{
    return !option->flag;
}

void tide_completion_words(struct tide_text *out, const struct tide_option *option)
{
    for (size_t i = 0; option->choice && option->words[i]; i++)
        tide_text_addf(out, "%s%s", i ? " " : "", option->words[i]);
}

/* Where the first clause of HELP ends. */
static size_t first_clause(const char *help)
{
    const char *const ends[] = {". ", "; ", ": ", " (", "\n"};
    size_t length = strlen(help);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const char *const end = strstr(help, ends[i]);
        if (end && (size_t)(end - help) < length)
            length = (size_t)(end - help);
    }
    return length;
}

void tide_completion_brief(struct tide_text *out, const char *help, const char *special)
{
    const size_t length = first_clause(help);
    for (size_t i = 0; i < length; i++) {
        if (help[i] == '\'')
            tide_text_add(out, "'\\''"); /* as every shell of ours has it */
        else
            tide_text_addf(out, "%s%c", strchr(special, help[i]) ? "\\" : "", help[i]);
    }
}

/* --- The verb --------------------------------------------------------------------------- */

static const struct shell {
    const char *name;
    void (*write)(struct tide_text *out);
} SHELLS[] = {
    {"bash", tide_completion_bash},
    {"zsh", tide_completion_zsh},
    {"fish", tide_completion_fish},
};

static const struct tide_option TABLE[] = {{.name = NULL}};

static int run(int argc, char **argv)
{
    struct tide_arguments rest = {0};
    const int done = tide_options_parse(&tide_cmd_completion, argc, argv, &rest);
    if (done >= 0)
        return done;
    if (rest.count != 1)
        return tide_fail_usage(&tide_cmd_completion, "which shell?");
    for (size_t i = 0; i < sizeof(SHELLS) / sizeof(SHELLS[0]); i++) {
        struct tide_text text = {0};
        if (strcmp(SHELLS[i].name, rest.list[0]) != 0)
            continue;
        SHELLS[i].write(&text);
        return tide_print_text(&text);
    }
    return tide_fail_usage(&tide_cmd_completion, "'%s' is not one of bash, zsh, fish",
                           rest.list[0]);
}

const struct tide_command tide_cmd_completion = {
    .name = "completion",
    .summary = "print the completions of a shell",
    .usage = "bash|zsh|fish",
    .help =
        "Prints a script that lets the shell complete the verbs and options of\n"
        "tidemark.  'make install' puts the scripts where the shells find them; without\n"
        "it, load one in the start file of the shell.\n",
    .example = "completion bash >> ~/.bashrc",
    .takes = TIDE_TAKES_SHELL,
    .options = TABLE,
    .run = run,
};
