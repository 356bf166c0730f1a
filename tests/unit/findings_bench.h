/* unit/findings_bench.h - a hand-made run of ten seconds, and what is found in it.
 *
 * For: test_findings.c, test_findings_leaks.c.
 */
#ifndef TIDE_UNIT_FINDINGS_BENCH_H
#define TIDE_UNIT_FINDINGS_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/findings_parts.h"
#include "model/model_state.h"

enum { TIDE_KIB = 1024, TIDE_MIB = 1024 * 1024 };

static struct hand_model hand;
static struct tide_findings findings;

static inline int leave(void **state)
{
    (void)state;
    tide_findings_release(&findings);
    hand_model_release(&hand);
    return 0;
}

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "parse", "src/parse.c", 5},
    {TIDE_HAND_APP, 0x220, "parse", "src/parse.c", 8},
    {TIDE_HAND_APP, 0x240, "parse", "src/parse.c", 9},
    {TIDE_HAND_APP, 0x300, "void std::vector<int>::grow()", "vector.h", 7},
    {TIDE_HAND_APP, 0x400, "xmalloc", "wrap.c", 3},
    {TIDE_HAND_APP, 0x500, "table_strdup.part.0", "wrap.c", 9},
    {TIDE_HAND_APP, 0x600, "Pool::allocate(unsigned long)", "wrap.cc", 9},
    {TIDE_HAND_APP, 0x700, "allocate_rows", "rows.c", 9},
    {TIDE_HAND_APP, 0x900, "tree::Node::operator new(unsigned long)", "node.cc", 3},
    {TIDE_HAND_APP, 0x800, "void std::vector<int>::_M_realloc_insert<int>(int*, int&&)",
     "vector.tcc", 7},
    {TIDE_HAND_STDCXX, 0x1, "std::string::_M_create(unsigned long)", NULL, 0},
    {TIDE_HAND_STDCXX, 0x2, "pool", NULL, 0},
    {TIDE_HAND_LOADER, 0x1, "_dl_init", NULL, 0},
    {0, 0, NULL, NULL, 0},
};

#define MAIN  STACK({TIDE_HAND_APP, 0x100})
#define PARSE STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200})

/* A run of ten seconds, with room for evidence of all sites. */
static inline void begin(void)
{
    hand_model_init(&hand, symbols);
    hand.trace.ticks_per_second = 1000;
    hand.model->duration_s = 10;
    hand.model->survivals = calloc(64, sizeof(*hand.model->survivals));
    assert_non_null(hand.model->survivals);
}

static inline void build_about(struct tide_findings_scope scope)
{
    tide_findings_release(&findings);
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_findings_build(hand.model, &scope, &findings), TIDE_OK);
}

static inline void build_without(const bool *suppressed)
{
    build_about((struct tide_findings_scope){.suppressed = suppressed});
}

static inline void build(void)
{
    build_without(NULL);
}

static inline void found(const char *kind, const char *text)
{
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].kind, kind);
    assert_string_equal(findings.list[0].text, text);
}

static inline size_t count_kind(const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < findings.count; i++)
        count += strcmp(findings.list[i].kind, kind) == 0;
    return count;
}

static const uint32_t WHOLE_LIFE = 0xffffffff;

/* A stack that never freed BLOCKS of BYTES in all, born in SLICES of its life. */
static inline void leak(uint32_t stack, uint64_t bytes, uint64_t blocks,
                        uint32_t slices)
{
    const size_t site = hand.model->site_count;
    hand_site(&hand, (struct tide_site){.stack = stack,
                                        .calls = blocks,
                                        .bytes = bytes,
                                        .live_bytes = (int64_t)bytes,
                                        .live_blocks = (int64_t)blocks,
                                        .peak_bytes = (int64_t)bytes,
                                        .peak_blocks = (int64_t)blocks});
    hand.model->summary[TIDE_IN_HEAP].alloc_calls += 100000; /* others, all freed */
    hand.model->survivals[site] = (struct tide_survival){
        .blocks = blocks,
        .bytes = bytes,
        .first_ticks = 1000,
        .last_ticks = 9000,
        .slices = {slices, slices},
        .threads = 1,
        .processes = 1,
        .weight = {(double)bytes / 2, (double)bytes / 2},
    };
}

#endif
