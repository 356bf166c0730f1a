/* cli/help_text.c - the help of a verb, from its table of options. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/options.h"

enum {
    TIDE_HELP_WIDTH = 80,
    TIDE_HELP_INDENT = 2,
    TIDE_HELP_LABEL = 20, /* longer ones stand on a line of their own */
    TIDE_HELP_BYTES = 80,
};

/* "-n, --rows N" */
static size_t make_label(const struct tide_option *option, char out[TIDE_HELP_BYTES])
{
    const char letter[] = {'-', option->letter, ',', ' ', '\0'};
    (void)snprintf(out, TIDE_HELP_BYTES, "%s--%s%s%s", option->letter ? letter : "",
                   option->name, option->value ? " " : "",
                   option->value ? option->value : "");
    return strlen(out);
}

/* Where the explanations begin. */
static size_t find_column(const struct tide_option *const tables[TIDE_OPTION_TABLES],
                          bool all)
{
    char label[TIDE_HELP_BYTES];
    size_t widest = 0;
    for (int i = 0; i < TIDE_OPTION_TABLES; i++) {
        for (const struct tide_option *o = tables[i]; o->name; o++) {
            const size_t width = make_label(o, label);
            if ((all || !o->rare) && width > widest && width <= TIDE_HELP_LABEL)
                widest = width;
        }
    }
    return TIDE_HELP_INDENT + widest + 2;
}

static void go_to(size_t *at, size_t column)
{
    if (*at >= column) {
        (void)putchar('\n');
        *at = 0;
    }
    (void)printf("%*s", (int)(column - *at), "");
    *at = column;
}

/* TEXT from COLUMN on, in lines of the width of a terminal. */
static void print_wrapped(const char *text, size_t column, size_t at)
{
    go_to(&at, column);
    while (*text) {
        const size_t length = strcspn(text, " \n");
        if (at > column && at + 1 + length > TIDE_HELP_WIDTH)
            go_to(&at, column);
        at += (size_t)printf("%s%.*s", at > column ? " " : "", (int)length, text);
        text += length;
        if (*text == '\n')
            go_to(&at, column);
        text += *text != '\0';
    }
    (void)putchar('\n');
}

static void print_option(const struct tide_option *option, size_t column)
{
    char label[TIDE_HELP_BYTES];
    const size_t width = make_label(option, label);
    (void)printf("%*s%s", TIDE_HELP_INDENT, "", label);
    print_wrapped(option->help, column, TIDE_HELP_INDENT + width);
}

/* The options of TABLE from COLUMN on; HEADING is what stands above the next one, or NULL.
 * Returns how many it kept back. */
static size_t print_table(const struct tide_option *table, size_t column, bool all,
                          const char **heading)
{
    size_t hidden = 0;
    for (const struct tide_option *o = table; o->name; o++) {
        if (o->heading)
            *heading = o->heading;
        if (o->rare && !all) {
            hidden++;
            continue;
        }
        if (*heading)
            (void)printf("\n%s\n", *heading);
        *heading = NULL;
        print_option(o, column);
    }
    return hidden;
}

static size_t print_options(const struct tide_option *const tables[TIDE_OPTION_TABLES],
                            bool all)
{
    const size_t column = find_column(tables, all);
    const char *heading = "options";
    size_t hidden = 0;
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        hidden += print_table(tables[i], column, all, &heading);
    return hidden;
}

void tide_print_help(const struct tide_command *command, bool all)
{
    const struct tide_option *tables[TIDE_OPTION_TABLES];
    tide_options_of(command, tables);
    (void)printf("tidemark %s - %s\n\nusage: tidemark %s %s\n\n%s", command->name,
                 command->summary, command->name, command->usage, command->help);
    const size_t hidden = print_options(tables, all);
    if (hidden)
        (void)printf("\n'tidemark %s --help-all' lists %zu more option%s.\n",
                     command->name, hidden, hidden == 1 ? "" : "s");
    (void)printf("\nexample: tidemark %s\n", command->example);
}
