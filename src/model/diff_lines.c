/* model/diff_lines.c - which line of a function changed most.
 *
 * Stacks are matched by functions, so both sides of a function may have several lines,
 * and those of another build are elsewhere.  Equal lines are taken for the same.  Of
 * the rest, when both sides have as many, the first is taken for the first and so on;
 * when they do not and no line is in its place, nothing is known, and none is shown.
 */
#include <string.h>

#include "model/diff.h"
#include "model/grow.h"

enum { TIDE_LINES_COMPARED = 64 }; /* of a function that has more, none is shown */

static bool is_at(const struct tide_diff_line *one, const char *file, uint32_t line)
{
    return one->line == line &&
           (one->file == file || (one->file && file && strcmp(one->file, file) == 0));
}

enum tide_status tide_diff_enter_line(struct tide_diff_lines *lines, uint32_t *head,
                                      const struct tide_call *call,
                                      const struct tide_change *amount)
{
    uint32_t at = *head;
    while (at && !is_at(&lines->list[at - 1], call->file, call->line))
        at = lines->list[at - 1].next;
    if (!at) {
        struct tide_diff_line *const list =
            tide_grown(lines->list, &lines->capacity, lines->count + 1, sizeof(*list));
        if (!list)
            return TIDE_ENOMEM;
        if (lines->count >= UINT32_MAX - 1)
            return TIDE_ELIMIT;
        lines->list = list;
        list[lines->count++] = (struct tide_diff_line){
            .file = call->file, .line = call->line, .next = *head};
        at = *head = (uint32_t)lines->count;
    }
    tide_change_add(&lines->list[at - 1].change, amount);
    return TIDE_OK;
}

/* --- The choice ---------------------------------------------------------------------- */

static bool has_side(const struct tide_diff_line *line, enum tide_side side)
{
    return line->change.bytes[side] || line->change.calls[side];
}

static bool only_on(const struct tide_diff_line *line, enum tide_side side)
{
    return has_side(line, side) &&
           !has_side(line, side == TIDE_SIDE_NEW ? TIDE_SIDE_BASE : TIDE_SIDE_NEW);
}

/* What the lines from HEAD on are, in numbers. */
struct tally {
    size_t all, common, only[TIDE_SIDES];
};

static struct tally count_lines(const struct tide_diff_lines *lines, uint32_t head)
{
    struct tally tally = {0};
    for (uint32_t at = head; at; at = lines->list[at - 1].next) {
        const struct tide_diff_line *const line = &lines->list[at - 1];
        const bool base = only_on(line, TIDE_SIDE_BASE);
        const bool fresh = only_on(line, TIDE_SIDE_NEW);
        tally.all++;
        tally.only[TIDE_SIDE_BASE] += base;
        tally.only[TIDE_SIDE_NEW] += fresh;
        tally.common += !base && !fresh;
    }
    return tally;
}

/* How many lines that only SIDE has come before LINE. */
static size_t rank_of(const struct tide_diff_lines *lines, uint32_t head,
                      const struct tide_diff_line *line, enum tide_side side)
{
    size_t rank = 0;
    for (uint32_t at = head; at; at = lines->list[at - 1].next) {
        const struct tide_diff_line *const other = &lines->list[at - 1];
        if (!only_on(other, side) || other == line)
            continue;
        const int order =
            strcmp(other->file ? other->file : "", line->file ? line->file : "");
        rank += order < 0 || (order == 0 && other->line < line->line);
    }
    return rank;
}

/* What became of LINE, which only NEW has: with what BASE has in its place. */
static struct tide_change moved_change(const struct tide_diff_lines *lines,
                                       uint32_t head, const struct tide_diff_line *line)
{
    struct tide_change change = line->change;
    const size_t rank = rank_of(lines, head, line, TIDE_SIDE_NEW);
    for (uint32_t at = head; at; at = lines->list[at - 1].next) {
        const struct tide_diff_line *const other = &lines->list[at - 1];
        if (only_on(other, TIDE_SIDE_BASE) &&
            rank_of(lines, head, other, TIDE_SIDE_BASE) == rank) {
            tide_change_add(&change, &other->change);
            break;
        }
    }
    return change;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Did ONE change more than OTHER?  When neither did, that which has more. */
static bool is_larger(const struct tide_change *one, const struct tide_change *other)
{
    const uint64_t bytes[2] = {magnitude(tide_change_bytes(one)),
                               magnitude(tide_change_bytes(other))};
    const uint64_t calls[2] = {magnitude(tide_change_calls(one)),
                               magnitude(tide_change_calls(other))};
    if (bytes[0] != bytes[1])
        return bytes[0] > bytes[1];
    if (calls[0] != calls[1])
        return calls[0] > calls[1];
    return one->bytes[TIDE_SIDE_NEW] > other->bytes[TIDE_SIDE_NEW];
}

const struct tide_diff_line *tide_diff_choose_line(const struct tide_diff_lines *lines,
                                                   uint32_t head)
{
    const struct tally tally = count_lines(lines, head);
    const size_t base = tally.only[TIDE_SIDE_BASE], fresh = tally.only[TIDE_SIDE_NEW];
    const bool moved = base == fresh;
    const struct tide_diff_line *best = NULL;
    struct tide_change most = {{0}, {0}};
    if (tally.all > TIDE_LINES_COMPARED ||
        (tally.common == 0 && base > 0 && fresh > 1 && !moved))
        return NULL;
    for (uint32_t at = head; at; at = lines->list[at - 1].next) {
        const struct tide_diff_line *const line = &lines->list[at - 1];
        const bool here = only_on(line, TIDE_SIDE_NEW);
        if (only_on(line, TIDE_SIDE_BASE) &&
            (moved || (tally.common == 0 && fresh > 0)))
            continue; /* it is elsewhere now */
        const struct tide_change change =
            here && moved ? moved_change(lines, head, line) : line->change;
        if (!best || is_larger(&change, &most)) {
            best = line;
            most = change;
        }
    }
    return best;
}

void tide_diff_choose_lines(struct tide_diff *diff)
{
    for (size_t i = 1; i < diff->node_count; i++) {
        struct tide_diff_node *const node = &diff->nodes[i];
        const struct tide_diff_line *const line =
            tide_diff_choose_line(&diff->lines, node->lines);
        node->file = line ? line->file : NULL;
        node->line = line ? line->line : 0;
    }
    for (size_t i = 0; i < diff->function_count; i++) {
        struct tide_diff_function *const function = &diff->functions[i];
        const bool itself = tide_change_kind(&function->self) != TIDE_CHANGE_NONE;
        const struct tide_diff_line *const line = tide_diff_choose_line(
            &diff->lines, itself ? function->own_lines : function->lines);
        function->file = line ? line->file : NULL;
        function->line = line ? line->line : 0;
    }
}
