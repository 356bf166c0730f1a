/* cli/cmd_doctor.c - tidemark doctor: what will and will not be recorded here. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "cli/record_options.h"
#include "collect/inspect.h"
#include "collect/machine.h"
#include "view/json.h"
#include "view/line.h"
#include "view/names.h"

enum { TIDE_LEVEL_COLUMN = 2, TIDE_WORDS_COLUMN = 11 };

/* --- Text ---------------------------------------------------------------------------- */

static void add_words(struct tide_page *page, enum tide_ink ink, const char *words)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, words, page->style);
    tide_page_wrap(page, ink, safe.bytes ? safe.bytes : "", page->column);
    tide_text_release(&safe);
}

static void add_check(struct tide_page *page, const struct tide_check *check)
{
    static const enum tide_ink inks[TIDE_LEVELS] = {TIDE_INK_DIM, TIDE_INK_PLAIN,
                                                    TIDE_INK_WARM, TIDE_INK_ALARM};
    tide_page_tab(page, TIDE_LEVEL_COLUMN);
    tide_page_add(page, inks[check->level], tide_level_word(check->level));
    tide_page_tab(page, TIDE_WORDS_COLUMN);
    add_words(page, TIDE_INK_PLAIN, check->text);
    if (check->level == TIDE_LEVEL_OK || !check->advice)
        return;
    tide_page_tab(page, TIDE_WORDS_COLUMN);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_INTO));
    tide_page_add(page, TIDE_INK_DIM, " ");
    add_words(page, TIDE_INK_DIM, check->advice);
}

static void add_verdict(struct tide_page *page, enum tide_level verdict,
                        const char *program)
{
    static const char *const words[TIDE_LEVELS] = {
        "It can be recorded.",
        "It can be recorded.",
        "It can be recorded, but not all of it: see the warnings.",
        "It cannot be recorded: see the refusals.",
    };
    static const char *const machine_words[TIDE_LEVELS] = {
        "Programs can be recorded here.",
        "Programs can be recorded here.",
        "Programs can be recorded here, but see the warnings.",
        "No program can be recorded here: see the refusals.",
    };
    tide_page_skip(page);
    tide_page_add(page, TIDE_INK_BOLD, (program ? words : machine_words)[verdict]);
    tide_page_end(page);
}

/* Checks from FIRST up to END below TITLE: what is wrong comes first. */
static void add_section(struct tide_page *page, const char *title,
                        const struct tide_checks *checks, size_t first, size_t end)
{
    tide_page_heading(page, title, "");
    for (int level = TIDE_LEVELS - 1; level >= 0; level--) {
        for (size_t i = first; i < end; i++) {
            if (checks->list[i].level == (enum tide_level)level)
                add_check(page, &checks->list[i]);
        }
    }
}

static void add_text(struct tide_text *out, const struct tide_checks *checks,
                     size_t machine, const char *program, int color)
{
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)color, TIDE_UNITS_IEC);
    struct tide_page page = {.out = out, .style = &style};
    add_section(&page, "This machine", checks, 0, machine);
    if (checks->count > machine) {
        tide_page_skip(&page);
        add_section(&page, "The program", checks, machine, checks->count);
    }
    add_verdict(&page, tide_checks_verdict(checks), program);
}

/* --- JSON ---------------------------------------------------------------------------- */

static void add_json(struct tide_text *out, const struct tide_checks *checks,
                     const char *program)
{
    struct tide_json json = {.out = out};
    tide_json_open(&json, NULL, '{');
    tide_json_string(&json, "schema", "tidemark.doctor/1");
    tide_json_string(&json, "program", program);
    tide_json_string(&json, "verdict", tide_level_word(tide_checks_verdict(checks)));
    tide_json_open(&json, "checks", '[');
    for (size_t i = 0; i < checks->count; i++) {
        const struct tide_check *const check = &checks->list[i];
        tide_json_open_row(&json, NULL);
        tide_json_string(&json, "check", check->name);
        tide_json_string(&json, "level", tide_level_word(check->level));
        tide_json_string(&json, "text", check->text);
        tide_json_string(&json, "advice", check->advice);
        tide_json_close(&json);
    }
    tide_json_close(&json);
    tide_json_close(&json);
}

/* --- Variables ----------------------------------------------------------------------- */

static void add_complaint(void *context, const struct tide_record_complaint *complaint)
{
    static const struct tide_check bad = {
        .name = "variables",
        .level = TIDE_LEVEL_WARNING,
        .advice = "see ENVIRONMENT in tidemark-run(1)",
    };
    static const struct tide_check unknown = {
        .name = "variables",
        .level = TIDE_LEVEL_NOTE,
        .advice = "see ENVIRONMENT in tidemark-run(1)",
    };
    tide_checks_add(context, complaint->unknown ? &unknown : &bad, "%s",
                    complaint->text);
}

/* Where the pattern has an escape in its folder, nothing is known before the run. */
static void check_output(const char *pattern, struct tide_checks *out)
{
    static const struct tide_check closed = {
        .name = "variables",
        .level = TIDE_LEVEL_WARNING,
        .advice = "make the folder, or name another one with TIDEMARK_OUTPUT",
    };
    const char *const slash = strrchr(pattern, '/');
    struct tide_text folder = {0};
    tide_text_add_bytes(&folder, pattern, slash ? (size_t)(slash - pattern + 1) : 0);
    if (folder.bytes && folder.length > 0 && !strchr(folder.bytes, '%') &&
        access(folder.bytes, W_OK) != 0)
        tide_checks_add(out, &closed, "TIDEMARK_OUTPUT=%s: %s: no trace can be written",
                        pattern, strerrordesc_np(errno));
    tide_text_release(&folder);
}

/* What a program with LD_PRELOAD alone would be told by the environment. */
static void check_variables(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "variables", .level = TIDE_LEVEL_OK};
    struct tide_record_options record;
    struct tide_text set = {0};
    tide_record_options_read(&record, add_complaint, out);
    tide_record_options_set(&set);
    if (record.name)
        check_output(record.name, out);
    if (set.bytes)
        tide_checks_add(out, &fine, "with LD_PRELOAD alone: %s", set.bytes);
    else
        tide_checks_add(
            out, &fine,
            "with LD_PRELOAD alone the trace is %%e.%%p.tide in the current "
            "folder (TIDEMARK_OUTPUT names another)");
    tide_text_release(&set);
}

/* What was asked for: in a place that does not change, for the table. */
static struct {
    bool json;
    int color;
} asked;

static const struct tide_option TABLE[] = {
    TIDE_OPTION_JSON(asked.json, "doctor"),
    TIDE_OPTION_COLOR(asked.color, false),
    {.name = NULL},
};

static int run(int argc, char **argv)
{
    asked.json = false;
    asked.color = TIDE_COLOR_AUTO;
    struct tide_arguments rest = {0};
    const int done = tide_options_parse_first(&tide_cmd_doctor, argc, argv, &rest);
    if (done >= 0)
        return done;
    if (rest.count > 1)
        return tide_fail_usage(&tide_cmd_doctor, "one program, without arguments");

    struct tide_checks checks = {0};
    struct tide_text text = {0};
    const char *const program = rest.count == 1 ? rest.list[0] : NULL;
    tide_machine_check(&checks);
    check_variables(&checks);
    const size_t machine = checks.count;
    if (program)
        (void)tide_inspect(program, true, &checks);
    if (asked.json)
        add_json(&text, &checks, program);
    else
        add_text(&text, &checks, machine, program, asked.color);
    text.failed |= checks.failed;
    const bool refused = tide_checks_verdict(&checks) == TIDE_LEVEL_REFUSAL;
    tide_checks_release(&checks);
    const int printed = tide_print_text(&text);
    return printed ? printed : refused;
}

const struct tide_command tide_cmd_doctor = {
    .name = "doctor",
    .summary = "say what can be recorded here",
    .usage = "[OPTION...] [PROGRAM]",
    .help =
        "Looks at this machine and at PROGRAM, without running it, and says whether run\n"
        "can record it, what a trace of it would miss, and what to do about it.\n",
    .example = "doctor ./prog",
    .takes = TIDE_TAKES_PROGRAM,
    .options = TABLE,
    .run = run,
};
