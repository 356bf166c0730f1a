/* cli/options.c - read a verb's options from a table.
 *
 * One pass over argv: an option is stored where its entry says, any other word moves to
 * the front of argv, in order.
 */
#include "cli/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/memory_limit.h"
#include "cli/messages.h"
#include "cli/values.h"
#include "cli/verbs.h"

const char *const tide_color_words[] = {"auto", "always", "never", NULL};

enum {
    TIDE_PARSE_GO_ON = -1,
    TIDE_SUGGESTIONS = 64, /* names compared with an unknown one, at most */
};

struct parser {
    const struct tide_command *command;
    const struct tide_option *tables[TIDE_OPTION_TABLES]; /* of command */
    int argc;
    char **argv;
    int at; /* the word being read */
};

/* For verbs without --max-memory or the like. */
static const struct tide_option NONE[] = {{.name = NULL}};

void tide_options_of(const struct tide_command *command,
                     const struct tide_option *tables[TIDE_OPTION_TABLES])
{
    tables[0] = command->options;
    tables[1] = command->more_options ? command->more_options : NONE;
}

/* --- Values ------------------------------------------------------------------------ */

static bool read_count(const char *value, uint64_t *out, const char **rest)
{
    if (value[0] < '0' || value[0] > '9')
        return false;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (errno)
        return false;
    *out = number;
    *rest = end;
    return true;
}

static bool store_count(const struct tide_option *option, const char *value)
{
    uint64_t number;
    const char *rest;
    if (!read_count(value, &number, &rest) || *rest != '\0')
        return false;
    *option->count = number;
    return true;
}

/* A place on an axis: seconds, or a count or size that need not fit into it exactly. */
static bool read_place(const struct tide_option *option, const char *value, double *out)
{
    uint64_t size;
    if (tide_read_seconds(value, out))
        return true;
    if (!option->axis || !tide_read_bytes(value, &size))
        return false;
    *out = (double)size;
    return true;
}

/* VALUE up to JOINT, and what follows it; false when it has no joint. */
static bool split(const char *value, const char *joint, char first[64],
                  const char **second)
{
    const char *const at = strstr(value, joint);
    if (!at || at - value >= 64)
        return false;
    (void)snprintf(first, 64, "%.*s", (int)(at - value), value);
    *second = at + strlen(joint);
    return true;
}

static bool store_pair(const struct tide_option *option, const char *value)
{
    char first[64];
    const char *second;
    return split(value, ",", first, &second) &&
           read_place(option, first, &option->seconds_pair[0]) &&
           read_place(option, second, &option->seconds_pair[1]);
}

/* A range ends where it begins or later.  No block is too large for what has no end: the
 * largest number there is, and one more, is none. */
static bool store_bytes_range(uint64_t *range, const char *least, const char *most)
{
    uint64_t last = UINT64_MAX;
    range[0] = 0;
    if ((*least && !tide_read_bytes(least, &range[0])) ||
        (*most && !tide_read_bytes(most, &last)))
        return false;
    range[1] = last + 1;
    return last >= range[0];
}

/* A maximum of 0 would be none. */
static bool store_seconds_range(double *range, const char *least, const char *most)
{
    range[0] = range[1] = 0;
    return (!*least || tide_read_seconds(least, &range[0])) &&
           (!*most || (tide_read_seconds(most, &range[1]) && range[1] > 0 &&
                       range[1] >= range[0]));
}

static bool store_range(const struct tide_option *option, const char *value)
{
    char first[64];
    const char *least = first, *most;
    if (!split(value, "..", first, &most)) {
        least = value;
        most = "";
    }
    if (!*least && !*most)
        return false;
    return option->bytes_range
               ? store_bytes_range(option->bytes_range, least, most)
               : store_seconds_range(option->seconds_range, least, most);
}

static bool store_choice(const struct tide_option *option, const char *value)
{
    for (int i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], value) == 0) {
            *option->choice = i;
            return true;
        }
    }
    return false;
}

static bool store_text(const struct tide_option *option, const char *value)
{
    *option->text = value;
    return true;
}

static bool store_one_more(struct tide_texts *texts, const char *value)
{
    if (texts->count == TIDE_TEXTS)
        return false;
    texts->list[texts->count++] = value;
    return true;
}

static bool store(const struct tide_option *option, const char *value)
{
    if (option->text)
        return store_text(option, value);
    if (option->texts)
        return store_one_more(option->texts, value);
    if (option->count)
        return store_count(option, value);
    if (option->bytes)
        return tide_read_bytes(value, option->bytes);
    if (option->seconds)
        return read_place(option, value, option->seconds);
    if (option->seconds_pair)
        return store_pair(option, value);
    if (option->seconds_range || option->bytes_range)
        return store_range(option, value);
    return store_choice(option, value);
}

/* What kind of value OPTION wants, with an example. */
static const char *wanted_by(const struct tide_option *option)
{
    if (option->texts)
        return "among the first 64 of them";
    if (option->count)
        return "a whole number";
    if (option->bytes)
        return "a size (like 4096, 64K or 1.5GiB)";
    if (option->bytes_range)
        return "a range of sizes (like 1K..64K or 1M..)";
    if (option->seconds_range)
        return "a range of times (like 0.5..10 or 20ms..)";
    return option->seconds_pair ? "two times (like 2,10 or 50ms,1.5s)"
                                : "a time (like 12.5 or 150ms)";
}

/* Say in WHY that VALUE is none that OPTION can take. */
static void explain_value(const struct tide_option *option, const char *value,
                          char why[TIDE_OPTION_WHY])
{
    if (!option->choice) {
        (void)snprintf(why, TIDE_OPTION_WHY, "'%.160s' is not %s", value,
                       wanted_by(option));
        return;
    }
    (void)snprintf(why, TIDE_OPTION_WHY, "'%.160s' is not one of ", value);
    for (int i = 0; option->words[i]; i++) {
        const size_t used = strlen(why);
        (void)snprintf(why + used, TIDE_OPTION_WHY - used, "%s%s", i > 0 ? ", " : "",
                       option->words[i]);
    }
}

bool tide_option_store(const struct tide_option *option, const char *value,
                       char why[TIDE_OPTION_WHY])
{
    if (option->flag) {
        *option->flag = *value && strcmp(value, "0") != 0 && strcmp(value, "off") != 0;
        return true;
    }
    if (store(option, value))
        return true;
    explain_value(option, value, why);
    return false;
}

static int take_value(const struct parser *parser, const struct tide_option *option,
                      const char *value)
{
    char why[TIDE_OPTION_WHY];
    if (tide_option_store(option, value, why))
        return TIDE_PARSE_GO_ON;
    return tide_fail_usage(parser->command, "--%s: %s", option->name, why);
}

/* Does a file go by that name, as a trace may be named without its ending? */
static bool is_there(const char *name)
{
    struct tide_text longer = {0};
    tide_text_addf(&longer, "%s.tide", name);
    const bool found =
        access(name, F_OK) == 0 || (!longer.failed && access(longer.bytes, F_OK) == 0);
    tide_text_release(&longer);
    return found;
}

/* Is UNIT, the word behind VALUE, its unit, as in "2 GiB"? */
static bool is_apart(const struct tide_option *option, const char *value,
                     const char *unit)
{
    char together[64];
    uint64_t bytes;
    double seconds;
    const bool letter =
        (*unit >= 'a' && *unit <= 'z') || (*unit >= 'A' && *unit <= 'Z');
    const int length = snprintf(together, sizeof(together), "%s%s", value, unit);
    if (!letter || length < 0 || (size_t)length >= sizeof(together))
        return false;
    return ((option->bytes && tide_read_bytes(together, &bytes)) ||
            (option->seconds && tide_read_seconds(together, &seconds))) &&
           !is_there(unit);
}

/* The value is the next word. */
static int take_next(struct parser *parser, const struct tide_option *option)
{
    if (parser->at + 1 >= parser->argc)
        return tide_fail_usage(parser->command, "--%s needs a value", option->name);
    parser->at++;
    const char *const value = parser->argv[parser->at];
    const char *const after = parser->argv[parser->at + 1]; /* NULL at the end */
    if (after && is_apart(option, value, after))
        return tide_fail_usage(
            parser->command,
            "--%s: '%s' was taken as its value, without '%s'; write %s%s", option->name,
            value, after, value, after);
    if (!option->seconds_pair || strchr(value, ','))
        return take_value(parser, option, value);
    if (parser->at + 1 >= parser->argc)
        return tide_fail_usage(parser->command, "--%s needs two values", option->name);
    parser->at++;
    double place;
    if (!read_place(option, parser->argv[parser->at], &place))
        return tide_fail_usage(
            parser->command,
            "--%s needs two values, where it begins and where it ends; "
            "'%s' is none",
            option->name, parser->argv[parser->at]);
    char both[128];
    (void)snprintf(both, sizeof(both), "%.60s,%.60s", value, parser->argv[parser->at]);
    return take_value(parser, option, both);
}

/* --- Options ----------------------------------------------------------------------- */

static const char *nearest_name(const struct parser *parser, const char *name)
{
    const char *names[TIDE_SUGGESTIONS];
    size_t count = 0;
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        for (const struct tide_option *o = parser->tables[i]; o->name; o++)
            if (count < TIDE_SUGGESTIONS)
                names[count++] = o->name;
    return tide_nearest(name, names, count);
}

static const struct tide_option *find_name(
    const struct tide_option *const tables[TIDE_OPTION_TABLES], const char *name)
{
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        for (const struct tide_option *o = tables[i]; o->name; o++)
            if (strcmp(o->name, name) == 0)
                return o;
    return NULL;
}

/* Another verb that has an option NAME of its own; NULL: none has.  Who names no verb means
 * run, and may have forgotten one. */
static const struct tide_command *has_option(const char *name)
{
    for (size_t i = 0; tide_verbs[i]; i++) {
        const struct tide_option *const own[] = {tide_verbs[i]->options, NONE};
        if (tide_verbs[i]->summary && find_name(own, name))
            return tide_verbs[i];
    }
    return NULL;
}

static int fail_unknown(const struct parser *parser, const char *name)
{
    const char *const nearest = nearest_name(parser, name);
    const struct tide_command *const other = has_option(name);
    if (other)
        return tide_fail_usage(
            parser->command, "%s has no option --%s, but %s has: tidemark %s --%s",
            parser->command->name, name, other->name, other->name, name);
    if (tide_verb_find(name))
        return tide_fail_usage(parser->command,
                               "unknown option --%s; verbs have no dashes: tidemark %s",
                               name, name);
    if (nearest)
        return tide_fail_usage(
            parser->command, "unknown option --%s (did you mean --%s?)", name, nearest);
    return tide_fail_usage(parser->command, "unknown option --%s", name);
}

static const struct tide_option *find_letter(const struct parser *parser, char letter)
{
    for (int i = 0; i < TIDE_OPTION_TABLES; i++)
        for (const struct tide_option *o = parser->tables[i]; o->name; o++)
            if (o->letter == letter)
                return o;
    return NULL;
}

static int help(const struct parser *parser, bool all)
{
    tide_print_help(parser->command, all);
    return 0;
}

/* --name, --name=value, --name value; WORD is what follows the dashes. */
static int parse_long(struct parser *parser, const char *word)
{
    char name[64];
    const size_t length = strcspn(word, "=");
    (void)snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), word);
    const char *const value = word[length] == '=' ? word + length + 1 : NULL;

    if (strcmp(name, "help") == 0 || strcmp(name, "help-all") == 0)
        return help(parser, strcmp(name, "help-all") == 0);
    const struct tide_option *const option = find_name(parser->tables, name);
    if (!option)
        return fail_unknown(parser, name);
    if (option->flag && value)
        return tide_fail_usage(parser->command, "--%s takes no value", option->name);
    if (option->flag) {
        *option->flag = true;
        return TIDE_PARSE_GO_ON;
    }
    return value ? take_value(parser, option, value) : take_next(parser, option);
}

/* -n value, -n5, -ab; LETTERS is what follows the dash. */
static int parse_short(struct parser *parser, const char *letters)
{
    for (; *letters; letters++) {
        const struct tide_option *const option = find_letter(parser, *letters);
        if (!option && *letters == 'h')
            return help(parser, false);
        if (!option)
            return tide_fail_usage(parser->command, "unknown option -%c", *letters);
        if (!option->flag)
            return letters[1] ? take_value(parser, option, letters + 1)
                              : take_next(parser, option);
        *option->flag = true;
    }
    return TIDE_PARSE_GO_ON;
}

/* A lone "-" is a name: standard input, by custom; so "-@12.5s" is a moment of it. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && word[1] != '@';
}

static int parse(struct parser *parser, bool anywhere, struct tide_arguments *rest)
{
    int kept = 1; /* argv[1..kept) are the words that are no options */
    for (parser->at = 1; parser->at < parser->argc; parser->at++) {
        char *const word = parser->argv[parser->at];
        if (strcmp(word, "--") == 0) {
            parser->at++;
            break;
        }
        if (!is_option(word)) {
            if (!anywhere)
                break;
            parser->argv[kept++] = word;
            continue;
        }
        const int done = word[1] == '-' ? parse_long(parser, word + 2)
                                        : parse_short(parser, word + 1);
        if (done != TIDE_PARSE_GO_ON)
            return done;
    }
    while (parser->at < parser->argc)
        parser->argv[kept++] = parser->argv[parser->at++];
    parser->argv[kept] = NULL; /* argv ends in NULL, so there is room */
    rest->list = parser->argv + 1;
    rest->count = kept - 1;
    return TIDE_PARSE_GO_ON;
}

/* The limit of memory applies as soon as all options have been read. */
static int parse_all(const struct tide_command *command, int argc, char **argv,
                     bool anywhere, struct tide_arguments *rest)
{
    struct parser parser = {.command = command, .argc = argc, .argv = argv};
    tide_options_of(command, parser.tables);
    const int done = parse(&parser, anywhere, rest);
    if (done == TIDE_PARSE_GO_ON && command->more_options == tide_memory_options)
        tide_memory_limit_apply();
    return done;
}

int tide_options_parse(const struct tide_command *command, int argc, char **argv,
                       struct tide_arguments *rest)
{
    return parse_all(command, argc, argv, true, rest);
}

int tide_options_parse_first(const struct tide_command *command, int argc, char **argv,
                             struct tide_arguments *rest)
{
    return parse_all(command, argc, argv, false, rest);
}
