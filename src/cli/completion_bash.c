/* cli/completion_bash.c - completion for bash. */
#include <stddef.h>

#include "cli/completion.h"
#include "cli/verbs.h"

/* By enum tide_takes. */
static const char *const KINDS[] = {"other",  "trace",   "file",
                                    "folder", "program", "shell"};

/* What does not depend on the tables. */
static const char START[] =
    "# tidemark completion for bash; made by 'tidemark completion bash'.\n"
    "\n"
    "_tidemark_fill() # KIND WORDS\n"
    "{\n"
    "    local generate=()\n"
    "    case $1 in\n"
    "    words) generate=(-W \"$2\") ;;\n"
    "    shell) generate=(-W 'bash zsh fish') ;;\n"
    "    trace) compopt -o filenames; generate=(-f -X '!*.tide') ;;\n"
    "    file) compopt -o filenames; generate=(-f) ;;\n"
    "    folder) compopt -o filenames; generate=(-d) ;;\n"
    "    program) compopt -o filenames; generate=(-c) ;;\n"
    "    *) return ;;\n"
    "    esac\n"
    "    mapfile -t COMPREPLY < <(compgen \"${generate[@]}\" -- \"$cur\";\n"
    "        case $1 in trace|program) compgen -d -- \"$cur\" ;; esac)\n"
    "}\n"
    "\n"
    "_tidemark()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local verb=${COMP_WORDS[1]} first=2 options valued operands kind= words= at\n"
    "    COMPREPLY=()\n"
    "    if [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    elif [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    fi\n";

static const char END[] =
    "    if [[ $operands == program ]]; then\n"
    "        for ((at = first; at < COMP_CWORD; at++)); do\n"
    "            case ${COMP_WORDS[at]} in\n"
    "            -*) [[ $valued == *\" ${COMP_WORDS[at]} \"* ]] && ((at++)) ;;\n"
    "            =) ((at++)) ;;\n"
    "            *)\n"
    "                if declare -F _command_offset >/dev/null; then\n"
    "                    _command_offset $at\n"
    "                else\n"
    "                    _tidemark_fill file\n"
    "                fi\n"
    "                return ;;\n"
    "            esac\n"
    "        done\n"
    "    fi\n"
    "    if [[ $kind ]]; then\n"
    "        _tidemark_fill $kind \"$words\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _tidemark_fill words \"$options\"\n"
    "    else\n"
    "        _tidemark_fill $operands\n"
    "        ((COMP_CWORD == 1)) &&\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < \\\n"
    "                <(compgen -W \"$verbs\" -- \"$cur\")\n"
    "    fi\n"
    "}\n"
    "complete -F _tidemark tidemark\n";

struct writer {
    struct tide_text *out;
    const struct tide_command *verb;
};

static void add_names(const struct writer *writer, const struct tide_option *table)
{
    for (const struct tide_option *o = table; o->name; o++) {
        if (o->letter)
            tide_text_addf(writer->out, " -%c", o->letter);
        tide_text_addf(writer->out, " --%s", o->name);
    }
}

static void add_valued(const struct writer *writer, const struct tide_option *table)
{
    for (const struct tide_option *o = table; o->name; o++) {
        if (!tide_completion_takes_value(o))
            continue;
        if (o->letter)
            tide_text_addf(writer->out, "-%c ", o->letter);
        tide_text_addf(writer->out, "--%s ", o->name);
    }
}

/* "run:--unwind) kind=words words='cfi fp' ;;" */
static void add_values(const struct writer *writer, const struct tide_option *table)
{
    const char *const verb = writer->verb->name;
    for (const struct tide_option *o = table; o->name; o++) {
        if (!tide_completion_takes_value(o))
            continue;
        tide_text_addf(writer->out, "    %s:--%s", verb, o->name);
        if (o->letter)
            tide_text_addf(writer->out, "|%s:-%c", verb, o->letter);
        tide_text_addf(writer->out, ") kind=%s", o->choice ? "words" : KINDS[o->takes]);
        if (o->choice) {
            tide_text_add(writer->out, " words='");
            tide_completion_words(writer->out, o);
            tide_text_add(writer->out, "'");
        }
        tide_text_add(writer->out, " ;;\n");
    }
}

static void add_all_values(const struct writer *writer)
{
    const struct tide_option *tables[TIDE_OPTION_TABLES];
    tide_options_of(writer->verb, tables);
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        add_values(writer, tables[i]);
}

static void add_verb(struct writer *writer)
{
    struct tide_text *const out = writer->out;
    const struct tide_option *tables[TIDE_OPTION_TABLES];
    tide_options_of(writer->verb, tables);
    tide_text_addf(out, "    %s)\n        options='--help --help-all",
                   writer->verb->name);
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        add_names(writer, tables[i]);
    tide_text_addf(out, "'\n        valued=' ");
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        add_valued(writer, tables[i]);
    tide_text_addf(out, "'\n        operands=%s ;;\n", KINDS[writer->verb->takes]);
}

void tide_completion_bash(struct tide_text *out)
{
    struct writer writer = {.out = out};
    tide_text_add(out, START);
    tide_text_add(out, "    local verbs='help");
    for (size_t i = 0; tide_verbs[i]; i++)
        if (tide_verbs[i]->summary)
            tide_text_addf(out, " %s", tide_verbs[i]->name);
    tide_text_add(out,
                  "'\n"
                  "    if [[ $COMP_CWORD == 1 || \" $verbs \" != *\" $verb \"* ]]; "
                  "then\n"
                  "        verb=run first=1\n"
                  "    fi\n"
                  "    case $verb in\n"
                  "    help) options= valued= operands=other kind=words "
                  "words=$verbs ;;\n");
    for (size_t i = 0; tide_verbs[i]; i++) {
        writer.verb = tide_verbs[i];
        if (writer.verb->summary)
            add_verb(&writer);
    }
    tide_text_add(out, "    esac\n    case $verb:$prev in\n");
    for (size_t i = 0; tide_verbs[i]; i++) {
        writer.verb = tide_verbs[i];
        if (writer.verb->summary)
            add_all_values(&writer);
    }
    tide_text_add(out, "    esac\n");
    tide_text_add(out, END);
}
