/* view/tree_chain.c - a chain of calls on the lines of a call tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/names.h"
#include "view/report_text.h"
#include "view/tree_end.h"
#include "view/tree_parts.h"
#include "view/utf8.h"

enum { TIDE_CHAIN_LINES = 2 }; /* of a brief page: 1 */

static const char *row_name(const struct tide_rows *rows, uint32_t row)
{
    const uint32_t function = rows->tree[row].function;
    return function < rows->function_count ? rows->functions[function].name : "";
}

/* --- Indentation------------------------------------------------------------------- */

int tide_tree_indent(const struct tide_tree_text *tree)
{
    const int room = tree->page->style->width - tide_columns_end(&tree->columns);
    const int depth = (int)(tree->branches.depth < 1000 ? tree->branches.depth : 1000);
    if (depth * 3 <= room / 3)
        return 3;
    return depth * 2 <= room / 3 ? 2 : 1;
}

static void add_glyph(const struct tide_tree_text *tree, enum tide_glyph glyph)
{
    const char *const whole = tide_glyph(tree->page->style, glyph);
    const int drawn = tree->step == 2 ? 1 : tree->step; /* two: a line and a blank */
    struct tide_text part = {0};
    tide_text_add_bytes(&part, whole, tide_columns_prefix(whole, drawn));
    if (tree->step == 2)
        tide_text_add(&part, " ");
    if (part.bytes)
        tide_page_add(tree->page, TIDE_INK_DIM, part.bytes);
    tree->page->out->failed |= part.failed;
    tide_text_release(&part);
}

/* The lines that lead to BRANCH, of very deep ones only those next to it; the last of
 * them bends to the branch (BENDS) or passes by. */
void tide_tree_lead(const struct tide_tree_text *tree, const struct tide_branch *branch,
                    bool bends)
{
    const struct tide_branch *const list = tree->branches.list;
    const int room = tree->page->style->width - tide_columns_end(&tree->columns);
    const uint32_t most = (uint32_t)(room / 2 / tree->step);
    const struct tide_branch *path[TIDE_WIDTH_MAX];
    uint32_t count = 0;
    for (const struct tide_branch *b = branch; b->depth > 0 && count < most;
         b = &list[b->parent])
        path[count++] = b;
    while (count-- > 0) {
        const bool here = bends && count == 0;
        const enum tide_glyph end = here ? TIDE_GLYPH_LAST : TIDE_GLYPH_GAP;
        const enum tide_glyph on = here ? TIDE_GLYPH_FORK : TIDE_GLYPH_TRUNK;
        add_glyph(tree, path[count]->is_last ? end : on);
    }
}

/* --- Chains in lines ----------------------------------------------------------------
 *
 * A chain is written like a sentence: "a > b > c  file.c:12", broken after a joint where
 * the line is full, on lines that start below the first name.  It takes TIDE_CHAIN_LINES
 * lines at most: of a longer one, the first name stays, which tells it from its
 * neighbours, and those nearest to the last. */

struct layout {
    int lines; /* at most */
    int room;  /* columns of a line */
    int joint; /* columns of " > " */
    int dots;  /* columns of the dots */
    int name;  /* columns of the last name, fitted, with ... */
    int again; /* ... how often it is called */
    int more;  /* columns of " > ... END" after it; 0: nothing is hidden below */
    struct tide_text end; /* owned: what most of that is; of a brief page */
    int place; /* columns of the place, with the gap before it and others; 0: none */
    int first; /* the same behind the first name, where callers follow */
    struct tide_number others; /* what is said of other lines, after the place */
};

/* How many lines the chain takes when what stands between its first name and name FROM
 * is left out. */
static int count_lines(const struct tide_chain *chain, const struct layout *layout,
                       size_t from)
{
    int lines = 1;
    int column = 0;
    for (size_t i = 0; i < chain->count; i = i == 0 ? from : i + 1) {
        const bool last = i + 1 == chain->count;
        const int dots = i == 0 && from > 1 ? layout->dots + layout->joint : 0;
        const int place = i == 0 ? layout->first : 0;
        const int columns = last ? layout->name + layout->more + layout->place
                                 : tide_columns(tide_chain_name(chain, i)) + place +
                                       layout->joint + dots;
        if (column > 0 && column + columns - !last > layout->room) {
            lines++;
            column = 0;
        }
        column += columns;
    }
    return lines;
}

/* The name that follows the first. */
static size_t choose_second(const struct tide_chain *chain, const struct layout *layout)
{
    size_t from = 1;
    while (from + 1 < chain->count && count_lines(chain, layout, from) > layout->lines)
        from++;
    if (from > 1 && chain->behind[from])
        from = chain->behind[from]; /* no half of a pair of brackets */
    if (from > 1 && from + 1 < chain->count && chain->hidden[from])
        from++; /* dots beside dots say nothing */
    return from;
}

/* What stands between two functions of a chain. */
static const char *joint_of(const struct tide_tree_text *tree)
{
    return tide_glyph(tree->page->style, tree->up ? TIDE_GLYPH_FROM : TIDE_GLYPH_INTO);
}

/* Does ROW call on from several lines?  One of them would say of all what is of one. */
static bool calls_on(const struct tide_tree_text *tree, const struct tide_tree_row *row)
{
    const bool ends = tree->up ? row->lines > 0 : row->first_child == 0;
    return !ends && row->least_line < row->most_line;
}

/* The line that stands at ROW's file. */
static uint32_t line_of(const struct tide_tree_text *tree,
                        const struct tide_tree_row *row)
{
    return calls_on(tree, row) ? row->least_line : row->line;
}

/* What is said, in COLUMNS at most, of the other lines that ROW allocates at or calls on
 * from. */
static struct tide_number others_of(const struct tide_tree_text *tree,
                                    const struct tide_tree_row *row, int columns)
{
    struct tide_number words = {""};
    if (calls_on(tree, row))
        (void)snprintf(words.text, sizeof(words.text), "%s%" PRIu32,
                       tide_glyph(tree->page->style, TIDE_GLYPH_ELLIPSIS),
                       row->most_line);
    if (calls_on(tree, row) || row->lines < 2 || (row->first_child != 0 && !tree->up))
        return words;
    (void)snprintf(words.text, sizeof(words.text), " and %u other line%s",
                   row->lines - 1, row->lines > 2 ? "s" : "");
    if (tide_columns(words.text) > columns)
        (void)snprintf(words.text, sizeof(words.text), ", %s",
                       tide_glyph(tree->page->style, TIDE_GLYPH_ELLIPSIS));
    return words;
}

/* The row of BRANCH that has a place: that of the call which is nearest to the allocation. */
static const struct tide_tree_row *placed_row(const struct tide_tree_text *tree,
                                              const struct tide_branch *branch)
{
    return &tree->rows->tree[tree->up ? branch->first : branch->last];
}

/* What most of the lines are that have no room below BRANCH; on a brief page, where these
 * are most, and of callers, where the last has no name. */
static void add_end_words(const struct tide_tree_text *tree,
                          const struct tide_branch *branch,
                          const struct tide_chain *chain, struct layout *layout)
{
    const int dots = layout->joint + layout->dots;
    const int name = tide_columns(tide_chain_name(chain, chain->count - 1));
    const int lead = chain->count > 1 ? dots : 0; /* "... > " before it */
    struct tide_tree_end end;
    layout->more = branch->more > 0 ? dots : 0;
    const bool nameless = tree->up && !chain->named[chain->count - 1];
    if (layout->more == 0 || (!tree->page->brief && !nameless))
        return;
    if (tree->up)
        tide_tree_end_up(tree->rows, branch->last, &end);
    else if (!tide_tree_end_down(tree->rows, branch->last, &end))
        tree->page->out->failed = true;
    tide_tree_end_words(&layout->end, tree->rows, end,
                        layout->room - lead - name - layout->again - dots - 1,
                        tree->page->style);
    if (layout->end.length > 0)
        layout->more += 1 + tide_columns(layout->end.bytes);
}

/* What a line holds: the last name and its place, both on one line; or, where callers
 * follow, the first. */
static struct layout layout_of(const struct tide_tree_text *tree,
                               const struct tide_chain *chain,
                               const struct tide_branch *branch)
{
    const struct tide_style *const style = tree->page->style;
    const struct tide_tree_row *const row = placed_row(tree, branch);
    struct layout layout = {
        .lines = tree->page->brief ? 1 : TIDE_CHAIN_LINES,
        .room = tide_page_left(tree->page),
        .joint = tide_columns(joint_of(tree)) + 2,
        .dots = tide_columns(tide_glyph(style, TIDE_GLYPH_ELLIPSIS)),
        .name = tide_columns(tide_chain_name(chain, chain->count - 1)) +
                tide_columns(chain->again.text),
        .again = tide_columns(chain->again.text),
    };
    add_end_words(tree, branch, chain, &layout);
    const bool placed =
        layout.end.length == 0; /* behind another name it would be of that */
    const int place =
        placed ? tide_place_columns(row->file, line_of(tree, row), style) : 0;
    const int room = layout.room - layout.more;
    const int most = room * 2 / 5;
    if (place > 0 && tree->up && chain->count > 1) {
        layout.first = (place < most ? place : most) + 2;
        layout.others = others_of(tree, row,
                                  room - tide_columns(tide_chain_name(chain, 0)) -
                                      layout.first - layout.joint);
        layout.first += tide_columns(layout.others.text);
    } else if (place > 0) {
        layout.others = others_of(tree, row, room - layout.name - place - 2);
        layout.place = place + 2 + tide_columns(layout.others.text);
    }
    if (layout.name + layout.place > room && layout.place > 0) {
        const int least = tide_place_columns(":", line_of(tree, row), style) + 1 +
                          tide_columns(layout.others.text); /* "  :12" */
        const int left = room - layout.name;
        layout.place = left > least ? left : least;
    }
    if (layout.name + layout.place > room)
        layout.name = room - layout.place;
    return layout;
}

/* Of a chain that begins without a name, where callers follow: the first with one, if it is
 * among those up to SECOND that have no room; else 0. */
static size_t nearest_named(const struct tide_tree_text *tree,
                            const struct tide_chain *chain, size_t second)
{
    size_t at = 1;
    while (at < second && !chain->named[at])
        at++;
    return tree->up && !chain->named[0] && at < second ? at : 0;
}

static void add_joint(const struct tide_tree_text *tree)
{
    tide_page_add(tree->page, TIDE_INK_DIM, " ");
    tide_page_add(tree->page, TIDE_INK_DIM, joint_of(tree));
    tide_page_add(tree->page, TIDE_INK_DIM, " ");
}

/* Go on below the first name when COLUMNS do not fit any more. */
static void make_room(const struct tide_tree_text *tree,
                      const struct tide_branch *branch, int start, int columns)
{
    if (tree->page->column == start || tide_page_left(tree->page) >= columns)
        return;
    tide_page_end(tree->page);
    tide_page_tab(tree->page, tide_columns_end(&tree->columns));
    tide_tree_lead(tree, branch, false);
    tide_page_tab(tree->page, start);
}

static void add_place(const struct tide_tree_text *tree,
                      const struct tide_branch *branch, const struct layout *layout,
                      int columns)
{
    const struct tide_tree_row *const row = placed_row(tree, branch);
    tide_page_add(tree->page, TIDE_INK_PLAIN, "  ");
    tide_page_place(tree->page, row->file, line_of(tree, row),
                    columns - 2 - tide_columns(layout->others.text));
    tide_page_add(tree->page, TIDE_INK_DIM, layout->others.text);
}

/* The last name, and where it allocates or calls on. */
static void add_last(const struct tide_tree_text *tree,
                     const struct tide_branch *branch, const struct layout *layout,
                     const struct tide_number *again)
{
    struct tide_page *const page = tree->page;
    tide_page_function(page, layout->first ? TIDE_INK_PLAIN : TIDE_INK_BOLD,
                       row_name(tree->rows, branch->last),
                       tide_page_left(page) - layout->place - layout->more -
                           layout->again);
    tide_page_add(page, TIDE_INK_PLAIN, again->text);
    if (layout->place > 2 && tree->up)
        add_place(tree, branch, layout, layout->place);
    if (layout->more > 0) {
        add_joint(tree);
        tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS));
        tide_page_add(page, TIDE_INK_DIM, layout->end.length ? " " : "");
        tide_page_add(page, TIDE_INK_DIM, layout->end.length ? layout->end.bytes : "");
    }
    if (layout->place > 2 && !tree->up)
        add_place(tree, branch, layout, layout->place);
}

/* "... > " */
static void add_dots(const struct tide_tree_text *tree)
{
    tide_page_add(tree->page, TIDE_INK_DIM,
                  tide_glyph(tree->page->style, TIDE_GLYPH_ELLIPSIS));
    add_joint(tree);
}

/* Not even the first name and the last have room in one line: "... > c  file.c:12". */
static void add_end(const struct tide_tree_text *tree, const struct tide_branch *branch,
                    const struct tide_chain *chain, struct layout *layout)
{
    const int dots = branch->beside ? 0 : layout->dots + layout->joint;
    const int most = layout->room - dots - layout->place - layout->more;
    layout->name = layout->name < most ? layout->name : most;
    if (!branch->beside)
        add_dots(tree);
    add_last(tree, branch, layout, &chain->again);
}

/* A brief page has one line for a chain. */
static bool is_too_long(const struct tide_tree_text *tree,
                        const struct tide_chain *chain, const struct layout *layout)
{
    return tree->page->brief && chain->count > 1 &&
           count_lines(chain, layout, chain->count - 1) > 1;
}

/* "... <- name <- ... <- ": caller AT of CHAIN, between dots for others. */
static void add_named(const struct tide_tree_text *tree,
                      const struct tide_branch *branch, const struct tide_chain *chain,
                      size_t at, int start)
{
    const char *const name = tide_chain_name(chain, at);
    const int joint = tide_columns(joint_of(tree)) + 2;
    if (at > 1)
        add_dots(tree);
    make_room(tree, branch, start, tide_columns(name) + joint - 1);
    tide_page_name(tree->page, TIDE_INK_PLAIN, name,
                   tide_page_left(tree->page) - joint);
    add_joint(tree);
    if (at + 2 < chain->count)
        add_dots(tree);
}

/* What is left out between two names, but for the one at NAMED; 0: none. */
static void add_gap(const struct tide_tree_text *tree, const struct tide_branch *branch,
                    const struct tide_chain *chain, size_t named, int start)
{
    if (named)
        add_named(tree, branch, chain, named, start);
    else
        add_dots(tree);
}

static void add_parts(const struct tide_tree_text *tree,
                      const struct tide_branch *branch, const struct tide_chain *chain,
                      const struct layout *layout)
{
    struct tide_page *const page = tree->page;
    const size_t fitting = choose_second(chain, layout);
    const size_t named = nearest_named(tree, chain, fitting);
    const size_t second = named ? chain->count - 1 : fitting;
    const int start = page->column;
    for (size_t i = 0; i + 1 < chain->count; i = i == 0 ? second : i + 1) {
        const char *const name = tide_chain_name(chain, i);
        const bool gap = i == 0 && second > 1;
        const int place = i == 0 ? layout->first : 0;
        const int after =
            place + layout->joint + (gap ? layout->joint + layout->dots : 0);
        make_room(tree, branch, start, tide_columns(name) + after - 1);
        tide_page_name(page, place ? TIDE_INK_BOLD : TIDE_INK_PLAIN, name,
                       layout->room - after);
        if (place > 0)
            add_place(tree, branch, layout, place);
        add_joint(tree);
        if (gap)
            add_gap(tree, branch, chain, named, start);
    }
    make_room(tree, branch, start, layout->name + layout->more + layout->place);
    add_last(tree, branch, layout, &chain->again);
}

void tide_tree_chain(const struct tide_tree_text *tree,
                     const struct tide_branch *branch, const struct tide_chain *chain)
{
    if (branch->beside)
        add_dots(tree);
    struct layout layout = layout_of(tree, chain, branch);
    if (is_too_long(tree, chain, &layout))
        add_end(tree, branch, chain, &layout);
    else
        add_parts(tree, branch, chain, &layout);
    tree->page->out->failed |= layout.end.failed;
    tide_text_release(&layout.end);
}
