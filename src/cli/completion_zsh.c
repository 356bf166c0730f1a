/* cli/completion_zsh.c - completion for zsh. */
#include <stddef.h>

#include "cli/completion.h"
#include "cli/verbs.h"

/* What zsh does for a word, by enum tide_takes. */
static const char *const ACTIONS[] = {
    [TIDE_TAKES_OTHER] = " ",
    [TIDE_TAKES_TRACE] = "_files -g \"*.tide\"",
    [TIDE_TAKES_FILE] = "_files",
    [TIDE_TAKES_FOLDER] = "_files -/",
    [TIDE_TAKES_PROGRAM] = "_command_names -e",
    [TIDE_TAKES_SHELL] = "(bash zsh fish)",
};
/* In the description of an option, and in what its value is called. */
static const char SPECIAL[] = "[]:\\";

static void add_value(struct tide_text *out, const struct tide_option *option)
{
    tide_text_addf(out, ":%s:", option->value);
    if (!option->choice) {
        tide_text_add(out, ACTIONS[option->takes]);
        return;
    }
    tide_text_add(out, "(");
    tide_completion_words(out, option);
    tide_text_add(out, ")");
}

/* '(-n --rows)--rows=[at most N rows]:N: ', and as much for -n. */
static void add_spec(struct tide_text *out, const struct tide_option *option,
                     bool letter)
{
    const bool valued = tide_completion_takes_value(option);
    tide_text_add(out, "            '");
    if (option->letter && !option->texts)
        tide_text_addf(out, "(-%c --%s)", option->letter, option->name);
    if (option->texts)
        tide_text_add(out, "*");
    if (letter)
        tide_text_addf(out, "-%c%s[", option->letter, valued ? "+" : "");
    else
        tide_text_addf(out, "--%s%s[", option->name, valued ? "=" : "");
    tide_completion_brief(out, option->help, SPECIAL);
    tide_text_add(out, "]");
    if (valued)
        add_value(out, option);
    tide_text_add(out, "' \\\n");
}

static void add_options(struct tide_text *out, const struct tide_option *table)
{
    for (const struct tide_option *o = table; o->name; o++) {
        if (o->letter)
            add_spec(out, o, true);
        add_spec(out, o, false);
    }
}

static void add_verb(struct tide_text *out, const struct tide_command *verb)
{
    const struct tide_option *tables[TIDE_OPTION_TABLES];
    tide_options_of(verb, tables);
    tide_text_addf(out, "    %s)\n        _arguments -s -S \\\n", verb->name);
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        add_options(out, tables[i]);
    tide_text_add(out,
                  "            '(- *)'{-h,--help}'[explain the usual options]' \\\n"
                  "            '(- *)--help-all[explain every option]' \\\n");
    if (verb->takes == TIDE_TAKES_PROGRAM)
        tide_text_add(out, "            '(-):program:_command_names -e' \\\n"
                           "            '*::argument:_normal' ;;\n");
    else
        tide_text_addf(out, "            '*:word:%s' ;;\n", ACTIONS[verb->takes]);
}

void tide_completion_zsh(struct tide_text *out)
{
    tide_text_add(out, "#compdef tidemark\n"
                       "# tidemark completion for zsh; made by 'tidemark completion "
                       "zsh'.\n"
                       "\n"
                       "local -a verbs\n"
                       "verbs=(\n");
    for (size_t i = 0; tide_verbs[i]; i++)
        if (tide_verbs[i]->summary)
            tide_text_addf(out, "    '%s:%s'\n", tide_verbs[i]->name,
                           tide_verbs[i]->summary);
    tide_text_add(out, ")\n"
                       "if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
                       "    _describe verb verbs\n"
                       "    _command_names -e\n"
                       "    return\n"
                       "fi\n"
                       "if (($+verbs[(r)$words[2]:*])); then\n"
                       "    shift words\n"
                       "    ((CURRENT--))\n"
                       "else\n"
                       "    words[1]=run\n"
                       "fi\n"
                       "case $words[1] in\n");
    for (size_t i = 0; tide_verbs[i]; i++)
        if (tide_verbs[i]->summary)
            add_verb(out, tide_verbs[i]);
    tide_text_add(out, "esac\n");
}
