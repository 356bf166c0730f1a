/* cli/record_options.c - how a program is recorded, as options and as variables. */
#include "cli/record_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "collect/hands.h"
#include "collect/naming.h"
#include "collect/write_names.h"
#include "trace/format.h"

enum {
    TIDE_DEFAULT_DEPTH = 256,
    TIDE_ENGINE_UNSET = -1,
    TIDE_VARIABLE_BYTES = 64,
};

static const char PREFIX[] = "TIDEMARK_";

/* Variables that are no options of run, without PREFIX. */
static const char *const OTHERS[] = {"SESSION", "MONITOR", "MONITOR_SAID", "INHERIT",
                                     "FAILED"};
enum { TIDE_OTHERS = sizeof(OTHERS) / sizeof(OTHERS[0]) };

/* In the order of enum tide_unwind. */
static const char *const ENGINES[] = {"none", "fp", "libunwind", "cfi", NULL};

/* In the order of enum tide_follow. */
static const char *const FOLLOWS[] = {"all", "exec", "none", NULL};

enum { TIDE_TIMES_USUAL, TIDE_TIMES_EXACT };
static const char *const TIMES[] = {"usual", "exact", NULL};

/* --- Options ------------------------------------------------------------------------- */

static const struct tide_record_options DEFAULTS = {
    .engine = TIDE_ENGINE_UNSET,
    .depth = TIDE_DEFAULT_DEPTH,
    .spaces = "heap,mmap",
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct tide_record_options asked;

const struct tide_option tide_record_table[] = {
    {.name = "output",
     .letter = 'o',
     .text = &asked.name,
     .value = "NAME",
     .help =
         "name the trace (default: %e.%p): %p is the process id, %h the host, "
         "%e the program, %r the MPI rank, %n the lowest free number. If NAME.tide exists, "
         "tidemark writes NAME.2.tide, NAME.3.tide...",
     .takes = TIDE_TAKES_FILE},
    {.name = "free-stacks",
     .flag = &asked.wishes.free_stacks,
     .help = "also record where blocks are freed"},
    {.name = "times",
     .choice = &asked.times,
     .words = TIMES,
     .value = "HOW",
     .help =
         "when to stamp events: usual (default; lives are known to some "
         "microseconds) or exact (each event; recording takes 1.5 to 1.7 times the CPU)",
     .rare = true},
    {.name = "follow",
     .choice = &asked.follow,
     .words = FOLLOWS,
     .value = "WHOM",
     .help = "which processes to record: all (default), exec (PROGRAM and what it "
             "executes in its place, no children) or none (PROGRAM until it "
             "executes another)"},
    {.name = "target",
     .letter = 't',
     .text = &asked.wishes.targets,
     .value = "NAME",
     .help = "record only programs named NAME (file, script or process name); "
             "separate several with commas, * and ? match anything"},
    {.name = "unwind",
     .choice = &asked.engine,
     .words = ENGINES,
     .value = "ENGINE",
     .help = "how to walk stacks: cfi (default: unwind tables), fp (frame "
             "pointers), libunwind or none",
     .rare = true},
    {.name = "no-stacks",
     .flag = &asked.no_stacks,
     .help = "record counts and sizes only; the same as --unwind none",
     .rare = true},
    {.name = "depth",
     .count = &asked.depth,
     .value = "N",
     .help = "record at most N frames of a stack, from 1 to 2047 (default: 256)",
     .rare = true},
    {.name = "spaces",
     .text = &asked.spaces,
     .value = "LIST",
     .help = "what to record: heap,mmap (default) or one of them",
     .rare = true},
    {.name = "keep-preload",
     .flag = &asked.wishes.keep_preload,
     .help = "also record programs that are started with a clean environment: "
             "put LD_PRELOAD and TIDEMARK_SESSION back into it, where they can "
             "see them",
     .rare = true},
    {.name = "collector-threads",
     .count = &asked.collectors,
     .value = "N",
     .help = "use N threads, at most 4, to encode and compress the trace "
             "(default: 1, plus 1 for every 4 cores)",
     .rare = true},
    {.name = "no-names",
     .flag = &asked.no_names,
     .help = "leave the names of functions and lines out of the trace: the report then "
             "reads them from the files that are there",
     .rare = true},
    {.name = "live-table",
     .flag = &asked.wishes.live_table,
     .help = "keep a table of live blocks in PROGRAM, so that it can ask which "
             "block holds an address (tide_find)",
     .rare = true},
    {.name = NULL},
};
_Static_assert(sizeof(tide_record_table) / sizeof(tide_record_table[0]) ==
                   TIDE_RECORD_OPTIONS + 1,
               "as many as the header says");

void tide_record_options_begin(void)
{
    asked = DEFAULTS;
}

/* "heap", "mmap" or both with a comma between them; 0 when it is neither. */
static uint32_t read_spaces(const char *list)
{
    uint32_t bits = 0;
    while (list) {
        const size_t length = strcspn(list, ",");
        if (length == 4 && strncmp(list, "heap", length) == 0)
            bits |= TIDE_SPACE_HEAP;
        else if (length == 4 && strncmp(list, "mmap", length) == 0)
            bits |= TIDE_SPACE_MMAP;
        else
            return 0;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return bits;
}

static struct tide_record_fault fault(const char *name, const char *text)
{
    struct tide_record_fault fault = {.name = name};
    (void)snprintf(fault.text, sizeof(fault.text), "%s", text);
    return fault;
}

static struct tide_record_fault check(const struct tide_record_options *options)
{
    char text[128];
    if (options->name) {
        const struct tide_name_fault name = tide_name_check(options->name);
        if (name.text[0])
            return fault("output", name.text);
    }
    if (options->no_stacks && options->engine > TIDE_UNWIND_NONE) {
        (void)snprintf(text, sizeof(text), "either this or --unwind %s",
                       ENGINES[options->engine]);
        return fault("no-stacks", text);
    }
    (void)snprintf(text, sizeof(text), "from 1 to %u", TIDE_STACK_MAX - 1);
    if (options->depth == 0 || options->depth >= TIDE_STACK_MAX)
        return fault("depth", text);
    (void)snprintf(text, sizeof(text), "from 1 to %d, or 0: as there are cores",
                   TIDE_HANDS_MOST + 1);
    if (options->collectors > TIDE_HANDS_MOST + 1)
        return fault("collector-threads", text);
    (void)snprintf(text, sizeof(text), "'%.64s' is not one of heap, mmap",
                   options->spaces);
    if (read_spaces(options->spaces) == 0)
        return fault("spaces", text);
    if (options->wishes.targets && options->wishes.targets[0] == '\0')
        return fault("target", "which program?");
    return (struct tide_record_fault){.name = NULL};
}

struct tide_record_fault tide_record_options_end(struct tide_record_options *options)
{
    struct tide_wishes *const wishes = &options->wishes;
    *options = asked;
    const struct tide_record_fault found = check(options);
    if (found.name)
        return found;
    if (options->no_stacks)
        options->engine = TIDE_UNWIND_NONE;
    if (options->engine == TIDE_ENGINE_UNSET)
        options->engine = TIDE_UNWIND_CFI;
    wishes->drains = (uint32_t)options->collectors;
    wishes->exact_times = options->times == TIDE_TIMES_EXACT;
    wishes->naming_ms = options->no_names ? TIDE_NAMING_NONE : TIDE_NAMING_MS;
    wishes->spaces = read_spaces(options->spaces);
    wishes->unwind = (uint32_t)options->engine;
    wishes->depth_limit = (uint32_t)options->depth;
    wishes->follow = (uint32_t)options->follow;
    return found;
}

void tide_record_options_words(const struct tide_record_options *options,
                               struct tide_text *out)
{
    const struct tide_wishes *const wishes = &options->wishes;
    tide_text_addf(out, "unwind=%s depth=%llu spaces=%s%s", ENGINES[options->engine],
                   (unsigned long long)options->depth, options->spaces,
                   wishes->free_stacks ? " free-stacks" : "");
    if (wishes->exact_times)
        tide_text_add(out, " times=exact");
    if (wishes->live_table)
        tide_text_addf(out, " live-table");
    if (options->follow != TIDE_FOLLOW_ALL)
        tide_text_addf(out, " follow=%s", FOLLOWS[options->follow]);
    if (wishes->keep_preload)
        tide_text_add(out, " keep-preload");
    if (wishes->naming_ms == TIDE_NAMING_NONE)
        tide_text_add(out, " no-names");
    if (wishes->targets)
        tide_text_addf(out, " target=%s", wishes->targets);
}

/* --- Variables ----------------------------------------------------------------------- */

/* The variable of OPTION: its name in capitals. */
static void name_variable(const char *option, char out[TIDE_VARIABLE_BYTES])
{
    const int length = snprintf(out, TIDE_VARIABLE_BYTES, "%s%s", PREFIX, option);
    for (int i = 0; i < length && i < TIDE_VARIABLE_BYTES - 1; i++)
        if (out[i] == '-')
            out[i] = '_';
        else if (islower((unsigned char)out[i]))
            out[i] = (char)(out[i] - 'a' + 'A');
}

static const char *read_variable(const struct tide_option *option)
{
    char variable[TIDE_VARIABLE_BYTES];
    name_variable(option->name, variable);
    return getenv(variable); // NOLINT(concurrency-mt-unsafe): one thread
}

static void complain_value(const struct tide_option *option, const char *value,
                           const char *why, tide_record_complain *complain,
                           void *context)
{
    struct tide_text line = {0};
    char variable[TIDE_VARIABLE_BYTES];
    name_variable(option->name, variable);
    tide_text_addf(&line, "%s=%.64s: %s; it is not followed", variable, value, why);
    const struct tide_record_complaint complaint = {.text = line.failed ? variable
                                                                        : line.bytes};
    complain(context, &complaint);
    tide_text_release(&line);
}

/* Is NAME, without PREFIX, none of ours, but nearly one of them? */
static void check_name(const char *name, tide_record_complain *complain, void *context)
{
    char own[TIDE_RECORD_OPTIONS][TIDE_VARIABLE_BYTES];
    const char *names[TIDE_RECORD_OPTIONS + TIDE_OTHERS];
    memcpy(names, OTHERS, sizeof(OTHERS));
    for (int i = 0; i < TIDE_RECORD_OPTIONS; i++) {
        name_variable(tide_record_table[i].name, own[i]);
        names[TIDE_OTHERS + i] = own[i] + sizeof(PREFIX) - 1;
    }
    const char *const nearest =
        tide_nearest(name, names, TIDE_RECORD_OPTIONS + TIDE_OTHERS);
    if (!nearest || strcmp(nearest, name) == 0)
        return;
    struct tide_text line = {0};
    tide_text_addf(&line, "%s%s: there is no such variable (did you mean %s%s?)",
                   PREFIX, name, PREFIX, nearest);
    const struct tide_record_complaint complaint = {line.bytes, true};
    if (!line.failed)
        complain(context, &complaint);
    tide_text_release(&line);
}

static void check_names(tide_record_complain *complain, void *context)
{
    const size_t prefix = sizeof(PREFIX) - 1;
    for (char **entry = environ; entry && *entry; entry++) {
        char name[TIDE_VARIABLE_BYTES];
        const size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, PREFIX, prefix) != 0 || length - prefix >= sizeof(name))
            continue;
        memcpy(name, *entry + prefix, length - prefix);
        name[length - prefix] = '\0';
        check_name(name, complain, context);
    }
}

void tide_record_options_read(struct tide_record_options *options,
                              tide_record_complain *complain, void *context)
{
    tide_record_options_begin();
    for (const struct tide_option *option = tide_record_table; option->name; option++) {
        const char *const value = read_variable(option);
        const struct tide_record_options before = asked;
        char why[TIDE_OPTION_WHY] = "";
        if (!value || (!option->flag && !option->text && !*value))
            continue;
        if (tide_option_store(option, value, why)) {
            const struct tide_record_fault found = check(&asked);
            (void)snprintf(why, sizeof(why), "%s", found.name ? found.text : "");
        }
        if (*why) {
            asked = before;
            complain_value(option, value, why, complain, context);
        }
    }
    check_names(complain, context);
    (void)tide_record_options_end(options);
}

void tide_record_options_set(struct tide_text *out)
{
    for (const struct tide_option *option = tide_record_table; option->name; option++) {
        const char *const value = read_variable(option);
        char variable[TIDE_VARIABLE_BYTES];
        name_variable(option->name, variable);
        if (value)
            tide_text_addf(out, "%s%s=%s", out->length ? " " : "", variable, value);
    }
}
