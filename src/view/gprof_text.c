/* view/gprof_text.c - functions with callers and callees, as igprof-analyse prints them.
 *
 * Scripts and eyes know this layout, so it is kept to the blank: who reads it reads this.
 * But the list of what functions allocate themselves comes first: main and its like say
 * little.  Where a terminal or COLUMNS says how wide lines may be, names are cut there; if
 * they would have too little room, totals beside those of edges are left out, then what
 * functions allocate themselves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/gprof.h"
#include "view/names.h"
#include "view/report_text.h"

enum {
    TIDE_GPROF_LEAST = 8,       /* columns of a number */
    TIDE_GPROF_NAME_LEAST = 16, /* columns of a name, on however narrow a terminal */
    TIDE_GPROF_TITLES = 10,     /* entries between two lines of titles */
};

/* Shares that end the lists of functions, in hundredths of a per cent. */
enum { TIDE_GPROF_CUMULATIVE = 100, TIDE_GPROF_SELF = 1 };

struct gprof {
    struct tide_text *out;
    const struct tide_style *style;
    const struct tide_profile *profile;
    int width;    /* of a number */
    bool pairs;   /* "part / whole" of edges, as IgProf has it */
    bool self;    /* the column of Self in the tree */
    size_t limit; /* of rows and entries; 0: none */
    size_t line;  /* where the line begins in out */
};

const char *tide_counter_name(enum tide_metric metric, bool largest)
{
    static const char *const NAMES[] = {
        [TIDE_METRIC_PEAK] = "MEM_LIVE_PEAK",
        [TIDE_METRIC_LEAKS] = "MEM_LIVE",
        [TIDE_METRIC_TOTAL] = "MEM_TOTAL",
        [TIDE_METRIC_CHURN] = "MEM_CHURN",
    };
    return largest ? "MEM_MAX" : NAMES[metric];
}

/* --- Numbers ----------------------------------------------------------------------- */

/* 1'234'567 */
static struct tide_number grouped(uint64_t number)
{
    struct tide_number result = tide_number_count(number);
    for (char *at = result.text; *at; at++)
        if (*at == ',')
            *at = '\'';
    return result;
}

static uint64_t total_of(const struct gprof *gprof)
{
    return gprof->profile->nodes[TIDE_PROFILE_ROOT].bytes;
}

/* Per cent of the whole; of nothing everything is nothing. */
static double per_cent(const struct gprof *gprof, uint64_t bytes)
{
    const uint64_t total = total_of(gprof);
    return total ? 100.0 * (double)bytes / (double)total : 0.0;
}

static void add_right(struct gprof *gprof, const char *text)
{
    tide_text_addf(gprof->out, "  %*s", gprof->width, text);
}

/* "       1 / 2       ", the second left-aligned. */
static void add_pair(struct gprof *gprof, const char *one, const char *other)
{
    tide_text_addf(gprof->out, "  %*s / %-*s", gprof->width, one, gprof->width, other);
}

/* --- Names ------------------------------------------------------------------------- */

/* Columns that the line has left; plenty, where lines may be long. */
static int columns_left(const struct gprof *gprof)
{
    if (!gprof->style->fitted)
        return INT32_MAX;
    const int used = (int)(gprof->out->length - gprof->line);
    const int left = gprof->style->width - used;
    return left > 1 ? left : 1;
}

/* The name of NODE, and its rank behind it; ends the line. */
static void add_name(struct gprof *gprof, uint32_t node, bool rank)
{
    const struct tide_profile *const profile = gprof->profile;
    const struct tide_profile_node *const about = &profile->nodes[node];
    char behind[32] = "";
    int length = 0;
    if (about->level > 1)
        length = snprintf(behind, sizeof(behind), "'%" PRIu32, about->level);
    if (rank)
        (void)snprintf(behind + length, sizeof(behind) - (size_t)length,
                       " [%" PRIu32 "]", about->rank);
    const char *const name = node == TIDE_PROFILE_ROOT
                                 ? "<spontaneous>"
                                 : profile->rows->functions[about->function].name;
    const int left = columns_left(gprof);
    if ((int)strlen(behind) + 2 > left)
        behind[0] = '\0';
    if (left == INT32_MAX)
        tide_name_safe(gprof->out, name, gprof->style);
    else
        tide_name_function(gprof->out, name, left - (int)strlen(behind), gprof->style);
    tide_text_addf(gprof->out, "%s\n", behind);
    gprof->line = gprof->out->length;
}

/* --- Lists ------------------------------------------------------------------------- */

/* ORDER says which node comes when; SELF: of their own bytes. */
static void add_list(struct gprof *gprof, const uint32_t *order, bool self)
{
    const int least = self ? TIDE_GPROF_SELF : TIDE_GPROF_CUMULATIVE;
    const size_t count = gprof->profile->node_count;
    tide_text_addf(gprof->out, "Flat profile (%s >= %s)\n\n%% total",
                   self ? "self" : "cumulative", self ? "0.01%" : "1%");
    add_right(gprof, self ? "Self" : "Total");
    add_right(gprof, "Calls");
    tide_text_add(gprof->out, "  Function\n");
    gprof->line = gprof->out->length;
    for (size_t i = 0; i < count && (!gprof->limit || i < gprof->limit); i++) {
        const struct tide_profile_node *const node = &gprof->profile->nodes[order[i]];
        const uint64_t bytes = self ? node->self_bytes : node->bytes;
        tide_text_addf(gprof->out, "%7.*f", self ? 2 : 1, per_cent(gprof, bytes));
        add_right(gprof, grouped(bytes).text);
        add_right(gprof, grouped(self ? node->self_calls : node->calls).text);
        tide_text_add(gprof->out, "  ");
        add_name(gprof, order[i], true);
        if (100.0 * per_cent(gprof, bytes) < (double)least)
            break;
    }
}

/* --- The tree ---------------------------------------------------------------------- */

static void add_rule(struct gprof *gprof)
{
    const int usual = 34 + 3 * gprof->width + 2 * gprof->width + 5;
    const int edge = gprof->style->fitted ? gprof->style->width - 1 : usual;
    const int columns = usual < edge ? usual : edge;
    for (int i = 0; i < (columns + 1) / 2; i++)
        tide_text_add(gprof->out, "- ");
    tide_text_add(gprof->out, "\n");
}

static void add_titles(struct gprof *gprof)
{
    tide_text_add(gprof->out, "Rank    % total");
    if (gprof->pairs) {
        add_right(gprof, "Self");
        add_pair(gprof, "Self", "Children");
        add_pair(gprof, "Calls", "Total");
    } else {
        add_right(gprof, "Total");
        if (gprof->self)
            add_right(gprof, "Self");
        add_right(gprof, "Calls");
    }
    tide_text_add(gprof->out, "  Function\n");
    gprof->line = gprof->out->length;
}

static void add_dots(struct gprof *gprof)
{
    tide_text_add(gprof->out, "  ");
    for (int i = 0; i < gprof->width; i++)
        tide_text_add(gprof->out, ".");
}

/* A line of EDGE beside the entry of one of its ends; OTHER is at the other one. */
static void add_edge(struct gprof *gprof, const struct tide_profile_edge *edge,
                     uint32_t other)
{
    const struct tide_profile_node *const about = &gprof->profile->nodes[other];
    tide_text_addf(gprof->out, "%8s%7.1f", "", per_cent(gprof, edge->bytes));
    if (gprof->pairs) {
        add_dots(gprof);
        add_pair(gprof, grouped(edge->bytes).text, grouped(about->bytes).text);
        add_pair(gprof, grouped(edge->calls).text, grouped(about->calls).text);
    } else {
        add_right(gprof, grouped(edge->bytes).text);
        if (gprof->self)
            add_dots(gprof);
        add_right(gprof, grouped(edge->calls).text);
    }
    tide_text_add(gprof->out, "    ");
    add_name(gprof, other, true);
}

static void add_entry(struct gprof *gprof, uint32_t index)
{
    const struct tide_profile *const profile = gprof->profile;
    const struct tide_profile_node *const node = &profile->nodes[index];
    char rank[24];
    add_rule(gprof);
    if (node->rank % TIDE_GPROF_TITLES == 1)
        add_titles(gprof);
    gprof->line = gprof->out->length;
    for (size_t i = 0; i < node->caller_count; i++) {
        const struct tide_profile_edge *const edge =
            &profile->callers[node->first_caller + i];
        add_edge(gprof, edge, edge->caller);
    }
    (void)snprintf(rank, sizeof(rank), "[%" PRIu32 "]", node->rank);
    tide_text_addf(gprof->out, "%-8s%7.1f", rank, per_cent(gprof, node->bytes));
    add_right(gprof, grouped(node->bytes).text);
    if (gprof->pairs) {
        add_pair(gprof, grouped(node->self_bytes).text,
                 grouped(node->children_bytes).text);
        tide_text_addf(gprof->out, "  %*s   %*s  ", gprof->width,
                       grouped(node->calls).text, gprof->width, "");
    } else {
        if (gprof->self)
            add_right(gprof, grouped(node->self_bytes).text);
        add_right(gprof, grouped(node->calls).text);
        tide_text_add(gprof->out, "  ");
    }
    add_name(gprof, index, false);
    for (size_t i = 0; i < node->callee_count; i++) {
        const struct tide_profile_edge *const edge =
            &profile->callees[node->first_callee + i];
        add_edge(gprof, edge, edge->callee);
    }
}

/* --- All --------------------------------------------------------------------------- */

static int measure(const struct tide_profile *profile)
{
    const struct tide_profile_node *const root = &profile->nodes[TIDE_PROFILE_ROOT];
    const size_t bytes = strlen(grouped(root->bytes).text);
    const size_t calls = strlen(grouped(root->calls).text);
    const size_t widest = bytes > calls ? bytes : calls;
    return widest > TIDE_GPROF_LEAST ? (int)widest : TIDE_GPROF_LEAST;
}

/* Leave out columns of the tree where names would have too little room. */
static void leave_out(struct gprof *gprof)
{
    const int room = gprof->style->width - TIDE_GPROF_NAME_LEAST;
    const int column = 2 + gprof->width, pair = 2 + 2 * gprof->width + 3;
    gprof->pairs = !gprof->style->fitted || 8 + 7 + column + 2 * pair + 4 <= room;
    gprof->self = gprof->pairs || 8 + 7 + 3 * column + 4 <= room;
}

static void add_section(struct gprof *gprof, bool first)
{
    static const char RULE[] = "--------------------------------------------------"
                               "--------------------";
    const int usual = (int)sizeof(RULE) - 1;
    const bool narrow = gprof->style->fitted && gprof->style->width < usual;
    tide_text_addf(gprof->out, "%s%.*s\n", first ? "" : "\n\n",
                   narrow ? gprof->style->width : usual, RULE);
}

void tide_view_gprof(struct tide_page *page, const struct tide_model *model,
                     const struct tide_profile *profile, size_t limit)
{
    const struct tide_view_totals totals = tide_totals_of_rows(profile->rows);
    tide_view_heading(page, model, &totals);
    struct gprof gprof = {
        .out = page->out,
        .style = page->style,
        .profile = profile,
        .width = measure(profile),
        .limit = limit,
    };
    leave_out(&gprof);
    const size_t entries =
        limit && limit < profile->node_count ? limit : profile->node_count;
    tide_text_addf(gprof.out, "Counter: %s\n\n",
                   tide_counter_name(profile->rows->metric, profile->largest));
    const bool self = profile->rows->sort != TIDE_SORT_INCLUSIVE;
    add_section(&gprof, true);
    add_list(&gprof, self ? profile->by_self : profile->order, self);
    add_section(&gprof, false);
    add_list(&gprof, self ? profile->order : profile->by_self, !self);
    add_section(&gprof, false);
    tide_text_add(gprof.out, "Call tree profile (cumulative)\n\n");
    for (size_t i = 0; i < entries; i++)
        add_entry(&gprof, profile->order[i]);
}
