/* view/stack_text.c - a stack as lines of text, innermost call first. */
#include "view/stack_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/cycle.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/utf8.h"

enum { TIDE_CALLS_SHOWN = 5 }; /* of a stack */

/* What is needed to print one line. */
struct stack_text {
    struct tide_page *page;
    const struct tide_stack_call *calls;
    size_t count;
    uint32_t *functions; /* owned: those of the calls, as cycles know them */
    int column;
    bool folds;
};

/* A line below the first: blanks, an arrow. */
static void begin_caller(const struct stack_text *stack)
{
    struct tide_page *const page = stack->page;
    tide_page_tab(page, stack->column);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_FROM));
    tide_page_add(page, TIDE_INK_DIM, " ");
}

/* "function x3  file.c:12" in COLUMNS. */
static void add_words(struct tide_page *page, const struct tide_stack_call *call,
                      size_t turns, enum tide_ink ink, int columns)
{
    struct tide_number again = {""};
    if (turns > 1)
        (void)snprintf(again.text, sizeof(again.text), " %s%zu",
                       tide_glyph(page->style, TIDE_GLYPH_TIMES), turns);
    const int end = page->column + columns;
    if (call->run > 1) {
        struct tide_text name = {0};
        tide_name_unnamed(&name, call->unnamed_in, call->run, page->style);
        tide_page_name(page, ink, name.bytes ? name.bytes : "", columns);
        page->out->failed |= name.failed;
        tide_text_release(&name);
        return;
    }
    const int room = columns - tide_columns(again.text);
    const int place =
        tide_place_beside(call->name, call->file, call->line, room, page->style);
    tide_page_function(page, ink, call->name, place > 0 ? room - place - 2 : room);
    tide_page_add(page, TIDE_INK_PLAIN, again.text);
    if (place > 0) {
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        tide_page_place(page, call->file, call->line, end - page->column);
    }
}

/* The same in what is left of the line; ends it. */
static void add_call(struct tide_page *page, const struct tide_stack_call *call,
                     size_t turns, enum tide_ink ink)
{
    add_words(page, call, turns, ink, tide_page_left(page));
    tide_page_end(page);
}

/* COUNT of the calls, from I on. */
static void add_hidden(const struct stack_text *stack, size_t i, size_t count)
{
    size_t functions = 0;
    for (size_t k = i; k < i + count; k++)
        functions += stack->calls[k].run;
    begin_caller(stack);
    tide_page_more(stack->page, functions, "");
}

/* How many calls from I on are left out: the library's inside, and what is far out. */
static size_t count_hidden(const struct stack_text *stack, size_t i, size_t shown)
{
    size_t end = i;
    if (shown >= TIDE_CALLS_SHOWN)
        return stack->count - i;
    while (end < stack->count && stack->calls[end].inside)
        end++;
    return end - i;
}

/* The cycle at I, which is not the innermost call: that one is shown with its place. */
static struct tide_cycle cycle_at(const struct stack_text *stack, size_t i,
                                  size_t shown)
{
    const struct tide_cycle once = {1, 1};
    if (!stack->folds || i == 0)
        return once;
    const struct tide_cycle found =
        tide_cycle_find(stack->functions + i, stack->count - i);
    return shown + found.period > TIDE_CALLS_SHOWN ? once : found;
}

/* Call I as all turns of its cycle have it. */
static struct tide_stack_call common_call(const struct stack_text *stack, size_t i,
                                          struct tide_cycle cycle)
{
    struct tide_stack_call common = stack->calls[i];
    for (size_t turn = 1; turn < cycle.turns; turn++) {
        const struct tide_stack_call *const other =
            &stack->calls[i + turn * cycle.period];
        if (!common.file || !other->file || strcmp(common.file, other->file) != 0)
            common.file = NULL;
        if (common.line != other->line)
            common.line = 0;
    }
    return common;
}

/* "... these 2 calls 7 times more" */
static void add_turns(const struct stack_text *stack, struct tide_cycle cycle)
{
    struct tide_page *const page = stack->page;
    struct tide_text words = {0};
    tide_text_addf(&words, "%s these %zu calls ",
                   tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS), cycle.period);
    tide_words_count(&words, cycle.turns - 1, "time");
    tide_text_add(&words, " more");
    begin_caller(stack);
    tide_page_add(page, TIDE_INK_DIM, words.bytes ? words.bytes : "");
    tide_page_end(page);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

static void add_cycle(const struct stack_text *stack, size_t i, struct tide_cycle cycle)
{
    const bool alone = cycle.period == 1;
    for (size_t k = 0; k < cycle.period; k++) {
        const struct tide_stack_call call = common_call(stack, i + k, cycle);
        if (i + k > 0)
            begin_caller(stack);
        add_call(stack->page, &call, alone ? cycle.turns : 1,
                 i + k == 0 ? TIDE_INK_BOLD : TIDE_INK_PLAIN);
    }
    if (!alone)
        add_turns(stack, cycle);
}

/* One call alone is not left out: to say so takes its line. */
static void add_calls(const struct stack_text *stack)
{
    size_t shown = 0;
    for (size_t i = 0; i < stack->count;) {
        const size_t hidden = stack->folds ? count_hidden(stack, i, shown) : 0;
        if (hidden > 1) {
            add_hidden(stack, i, hidden);
            i += hidden;
            continue;
        }
        const struct tide_cycle cycle = cycle_at(stack, i, shown);
        add_cycle(stack, i, cycle);
        shown += cycle.period;
        i += cycle.period * cycle.turns;
    }
}

/* --- A stack in one line -------------------------------------------------------------- */

/* What a line names of a caller: "caller", "caller :12" where that is what tells it from
 * another row, "libfoo.so (4 unnamed)". */
static void name_caller(struct tide_text *out, const struct tide_stack_call *caller,
                        int columns, const struct tide_style *style)
{
    struct tide_number line = {""};
    if (caller->tells_line && caller->line > 0)
        (void)snprintf(line.text, sizeof(line.text), " :%" PRIu32, caller->line);
    if (caller->run > 1)
        tide_name_unnamed(out, caller->unnamed_in, caller->run, style);
    else if (columns < TIDE_WIDTH_MAX)
        tide_name_function(out, caller->name, columns - tide_columns(line.text), style);
    else
        tide_name_brief(out, caller->name, style);
    tide_text_add(out, line.text);
}

/* " <- words" */
static void add_caller(struct tide_page *page, enum tide_ink ink, const char *words)
{
    tide_page_add(page, TIDE_INK_DIM, " ");
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_FROM));
    tide_page_add(page, TIDE_INK_DIM, " ");
    tide_page_add(page, ink, words);
}

/* The callers of a stack in what is left of a line. */
struct callers {
    struct tide_page *page;
    const struct tide_stack_call *calls;
    size_t count;
    struct tide_text told; /* owned: the name of the last call that tells it apart */
    size_t telling;        /* that call; 0: none */
    int first;             /* columns of the call that allocates */
    int joint, dots;       /* columns of " <- " and of the dots */
};

/* The columns that must be left behind caller I: for dots, and for the call that tells. */
static int columns_behind(const struct callers *callers, size_t i)
{
    const int dots = callers->joint + callers->dots;
    if (i + 1 >= callers->count)
        return 0;
    if (i >= callers->telling)
        return dots;
    return (i + 1 < callers->telling ? dots : 0) + callers->joint +
           tide_columns(callers->told.bytes ? callers->told.bytes : "");
}

/* The columns of the call that allocates, told briefly. */
static int first_columns(const struct tide_page *page,
                         const struct tide_stack_call *call)
{
    const int place = tide_place_columns(call->file, call->line, page->style);
    struct tide_text brief = {0};
    tide_name_brief(&brief, call->name, page->style);
    const int columns = brief.bytes ? tide_columns(brief.bytes) : 0;
    page->out->failed |= brief.failed;
    tide_text_release(&brief);
    return columns + (place > 0 ? place + 2 : 0);
}

static struct callers callers_of(struct tide_page *page,
                                 const struct tide_stack_call *calls, size_t count)
{
    struct callers callers = {
        .page = page,
        .calls = calls,
        .count = count,
        .joint = tide_columns(tide_glyph(page->style, TIDE_GLYPH_FROM)) + 2,
        .dots = tide_columns(tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS)),
    };
    for (size_t i = 1; i < count; i++)
        callers.telling = calls[i].tells ? i : callers.telling;
    const int room = tide_page_left(page);
    const int wanted = first_columns(page, &calls[0]);
    const int between = callers.telling > 1 ? callers.joint + callers.dots : 0;
    const int told = room - wanted - between - callers.joint;
    const int least = room / 4, most = room * 2 / 5;
    if (callers.telling)
        name_caller(&callers.told, &calls[callers.telling],
                    told > most ? most : (told < least ? least : told), page->style);
    const int behind = columns_behind(&callers, 0);
    callers.first = room - (behind > least ? behind : least);
    if (callers.first < wanted)
        callers.first = wanted < room - behind ? wanted : room - behind;
    return callers;
}

/* Add caller I if it fits; the one that tells does. */
static bool add_fitting(const struct callers *callers, size_t i)
{
    struct tide_page *const page = callers->page;
    const int room = tide_page_left(page) - columns_behind(callers, i);
    struct tide_text brief = {0};
    if (i == callers->telling)
        tide_text_add(&brief, callers->told.bytes);
    else
        name_caller(&brief, &callers->calls[i], TIDE_WIDTH_MAX, page->style);
    const bool fits =
        brief.bytes &&
        (i == callers->telling || callers->joint + tide_columns(brief.bytes) <= room);
    if (fits)
        add_caller(page, TIDE_INK_PLAIN, brief.bytes);
    page->out->failed |= brief.failed;
    tide_text_release(&brief);
    return fits;
}

/* "function  file.c:12 <- caller <- caller"; ends the line.  Recursion is said once.  Where
 * the calls nearest to the allocation are those of another row too, dots stand for what does
 * not fit before the one that tells them apart. */
static void add_line(struct tide_page *page, const struct tide_stack_call *calls,
                     size_t count)
{
    struct callers callers = callers_of(page, calls, count);
    add_words(page, calls, 1, TIDE_INK_BOLD,
              count > 1 ? callers.first : tide_page_left(page));
    uint32_t above = calls[0].function;
    for (size_t i = 1; i < count; i++) {
        if ((calls[i].inside || calls[i].function == above) && i != callers.telling)
            continue;
        above = calls[i].function;
        if (add_fitting(&callers, i))
            continue;
        if (tide_page_left(page) >= callers.joint + callers.dots)
            add_caller(page, TIDE_INK_DIM,
                       tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS));
        if (i >= callers.telling)
            break;
        i = callers.telling - 1;
    }
    page->out->failed |= callers.told.failed;
    tide_text_release(&callers.told);
    tide_page_end(page);
}

/* COUNT calls become fewer: functions of one module without names, but for the innermost,
 * are one, but for the one that tells. */
static size_t join_unnamed(struct tide_stack_call *calls, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        size_t behind = i + 1;
        while (i > 0 && calls[i].unnamed_in && !calls[i].tells && behind < count &&
               calls[behind].unnamed_in == calls[i].unnamed_in && !calls[behind].tells)
            behind++;
        calls[kept] = calls[i];
        calls[kept++].run = behind - i;
        i = behind;
    }
    return kept;
}

/* The whole stack, on lines of its own. */
static void add_lines(struct stack_text *stack)
{
    const size_t count = stack->count;
    stack->functions = calloc(count + 1, sizeof(*stack->functions));
    if (!stack->functions) {
        stack->page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        stack->functions[i] =
            stack->calls[i].inside ? TIDE_NO_CALL : stack->calls[i].function;
    add_calls(stack);
    free(stack->functions);
}

void tide_page_stack(struct tide_page *page, struct tide_stack_call *calls,
                     size_t count, int column, bool folds)
{
    struct stack_text stack = {
        .page = page, .calls = calls, .count = count, .column = column, .folds = folds};
    if (folds || page->brief)
        stack.count = join_unnamed(calls, count);
    else
        for (size_t i = 0; i < count; i++)
            calls[i].run = 1;
    if (page->brief)
        add_line(page, calls, stack.count);
    else
        add_lines(&stack);
}
