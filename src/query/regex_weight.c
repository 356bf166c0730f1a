/* query/regex_weight.c - how large a regular expression becomes. */
#include "query/regex_weight.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIDE_REGEX_DEEP = 50,        /* groups in each other, at most */
    TIDE_REGEX_MOST = 20 * 1000, /* parts, when all is written out */
};

struct scale {
    uint64_t sums[TIDE_REGEX_DEEP + 1]; /* of each open group */
    uint64_t last;                      /* what a repetition would repeat */
    size_t depth;
};

/* How often what stands before "{...}" is repeated, at most. */
static uint64_t repetitions(const char *brace)
{
    char *end;
    const unsigned long least = strtoul(brace + 1, &end, 10);
    const unsigned long most = *end == ',' ? strtoul(end + 1, NULL, 10) : least;
    const unsigned long larger = most > least ? most : least;
    return larger > TIDE_REGEX_MOST ? TIDE_REGEX_MOST + 1 : larger + 1;
}

static void repeat(struct scale *scale, uint64_t times)
{
    scale->sums[scale->depth] += scale->last * (times - 1);
    scale->last *= times;
}

/* Behind the class at AT: "[a]", "[]a]", "[^]a]". */
static const char *skip_class(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    const char *const end = *at ? strchr(at + 1, ']') : NULL;
    return end ? end : at + strlen(at) - 1;
}

static void weigh(struct scale *scale, const char **at)
{
    const char sign = **at;
    if (sign == '(') {
        scale->sums[++scale->depth] = 0;
        scale->last = 0;
    } else if (sign == ')' && scale->depth) {
        scale->last = scale->sums[scale->depth--] + 1;
        scale->sums[scale->depth] += scale->last;
    } else if (sign == '+' || sign == '*' || sign == '?') {
        repeat(scale, 2);
    } else if (sign == '{') {
        repeat(scale, repetitions(*at));
        *at += strspn(*at + 1, "0123456789,");
        *at += (*at)[1] == '}';
    } else {
        if (sign == '\\' && (*at)[1])
            ++*at;
        else if (sign == '[')
            *at = skip_class(*at);
        scale->last = 1;
        scale->sums[scale->depth]++;
    }
}

bool tide_regex_is_monstrous(const char *pattern)
{
    struct scale scale = {0};
    for (const char *at = pattern; *at; at++) {
        if (scale.depth == TIDE_REGEX_DEEP)
            return true;
        weigh(&scale, &at);
        if (scale.sums[scale.depth] > TIDE_REGEX_MOST || scale.last > TIDE_REGEX_MOST)
            return true;
    }
    return false;
}
