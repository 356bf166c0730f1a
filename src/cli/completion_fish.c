/* cli/completion_fish.c - completion for fish. */
#include <stddef.h>

#include "cli/completion.h"
#include "cli/verbs.h"

/* What fish does for a word, by enum tide_takes: files are its own default. */
static const char *const ACTIONS[] = {
    [TIDE_TAKES_OTHER] = " -x",
    [TIDE_TAKES_TRACE] = " -xa '(__fish_complete_suffix .tide)'",
    [TIDE_TAKES_FILE] = " -rF",
    [TIDE_TAKES_FOLDER] = " -xa '(__fish_complete_directories)'",
    [TIDE_TAKES_PROGRAM] = " -xa '(__fish_complete_subcommand)'",
    [TIDE_TAKES_SHELL] = " -xa 'bash zsh fish'",
};

struct writer {
    struct tide_text *out;
    const struct tide_command *verb;
};

static void begin(const struct writer *writer)
{
    tide_text_addf(writer->out,
                   "complete -c tidemark -n '__fish_seen_subcommand_from %s'",
                   writer->verb->name);
}

static void add_option(const struct writer *writer, const struct tide_option *option)
{
    struct tide_text *const out = writer->out;
    begin(writer);
    if (option->letter)
        tide_text_addf(out, " -s %c", option->letter);
    tide_text_addf(out, " -l %s", option->name);
    if (option->choice) {
        tide_text_add(out, " -xa '");
        tide_completion_words(out, option);
        tide_text_add(out, "'");
    } else if (tide_completion_takes_value(option)) {
        tide_text_add(out, ACTIONS[option->takes]);
    }
    tide_text_add(out, " -d '");
    tide_completion_brief(out, option->help, "\\");
    tide_text_add(out, "'\n");
}

static void add_options(const struct writer *writer)
{
    const struct tide_option *tables[TIDE_OPTION_TABLES];
    tide_options_of(writer->verb, tables);
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        for (const struct tide_option *o = tables[i]; o->name; o++)
            add_option(writer, o);
}

void tide_completion_fish(struct tide_text *out)
{
    struct writer writer = {.out = out};
    tide_text_add(out, "# tidemark completion for fish; made by 'tidemark completion "
                       "fish'.\n"
                       "complete -c tidemark -s h -l help -d 'explain it'\n"
                       "complete -c tidemark -l help-all -d 'explain every option'\n");
    for (size_t i = 0; tide_verbs[i]; i++) {
        writer.verb = tide_verbs[i];
        if (!writer.verb->summary)
            continue;
        tide_text_addf(out,
                       "complete -c tidemark -n __fish_use_subcommand -a %s -d '%s'\n",
                       writer.verb->name, writer.verb->summary);
        add_options(&writer);
        begin(&writer);
        tide_text_addf(out, "%s\n", ACTIONS[writer.verb->takes]);
    }
}
