/* unit/trace_rich.c - a small trace that has a bit of everything. */
#include "trace_rich.h"

static const uint64_t WORDS[] = {TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT),
                                 0x401000,
                                 0x402000,
                                 0x7f0000001000,
                                 0x7f0000002000,
                                 0x403000};

static struct tide_out_stack stack_of(uint32_t from, uint32_t depth)
{
    return (struct tide_out_stack){.words = WORDS + from, .depth = depth};
}

static void add_run_notes(struct tide_builder *builder)
{
    const uint64_t argc = 2;
    const char *run[] = {"./prog", "x", "/tmp", "host", "0.1.0", "", NULL};
    const uint64_t rss[] = {0, 2000, 4096, 8192};
    const uint64_t ended[] = {0, 9000, 1, 256, 0, TIDE_END_EXITED};
    const char *trouble[] = {"nothing of note", NULL};
    tide_builder_note(&builder->run, TIDE_NOTE_RUN, &argc, 1, run);
    tide_builder_clock(builder, 1000, 100000, 0.1);
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss, 4, NULL);
    tide_builder_note(&builder->run, TIDE_NOTE_TROUBLE, NULL, 0, trouble);
    tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, ended, 6, NULL);
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t begin[] = {i, 100 + i, 1500 + i, 1600 + i};
        const char *exe[] = {"/bin/prog", "", NULL}; /* "" is argc 0 */
        tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_BEGIN, begin, 4, exe);
    }
}

static void add_process_notes(struct tide_builder *builder, uint32_t process)
{
    struct tide_buffer *notes = &builder->notes[process];
    const uint64_t facts[] = {100 + process, 99, 1500 + process, 0,
                              process == 1 ? TIDE_PROCESS_FORKED : 0};
    const uint64_t prog[] = {0, 0, 0x400000, 0x410000, 0x400000};
    const uint64_t libc[] = {1, 0, 0x7f0000000000, 0x7f0000010000, 0x7f0000000000};
    const uint64_t plugin[] = {2, 1, 0x7f0000000000, 0x7f0000010000, 0x7f0000000000};
    const uint64_t gone[] = {1, 0};
    const uint64_t name = 5, thread[] = {0, 100 + process, 1500}, recorder = 1 << 20;
    const char *words[] = {"solve", NULL}, *thread_name[] = {"prog", NULL};
    tide_builder_note(notes, TIDE_NOTE_PROCESS, facts, 5, NULL);
    tide_builder_module(builder, process, prog, "/bin/prog");
    tide_builder_module(builder, process, libc, "/lib/libc.so.6");
    tide_builder_note(notes, TIDE_NOTE_MODULE_GONE, gone, 2, NULL);
    tide_builder_module(builder, process, plugin, "/lib/plugin.so");
    tide_builder_note(notes, TIDE_NOTE_NAME, &name, 1, words);
    tide_builder_note(notes, TIDE_NOTE_THREAD, thread, 3, thread_name);
    tide_builder_note(notes, TIDE_NOTE_RECORDER, &recorder, 1, NULL);
}

/* Every operation once: 8 events. */
static void add_all_operations(struct tide_lane_out *lane)
{
    const uint64_t map[] = {0x7000, 0x2000, 3, 34}, name = 5, label[] = {0x1000, 5, 24};
    const uint64_t dropped[] = {2, TIDE_DROP_NESTED}, failed[] = {0, 1ull << 60},
                   epoch = 1;
    const struct tide_out_stack leaf = {.words = &WORDS[3], .depth = 1, .leaf = true};
    tide_out_extra(lane, TIDE_EXTRA_REGION_BEGIN, &name, 1);
    tide_out_alloc(lane,
                   (struct tide_out_birth){
                       .address = 0x1000, .size = 100, .kind = 4, .align_log2 = 6},
                   stack_of(0, 5));
    tide_out_extra(lane, TIDE_EXTRA_LABEL, label, 3);
    tide_out_move_begin(lane, 0x1000);
    tide_out_move_end(lane,
                      (struct tide_out_birth){
                          .address = 0x1234567, .size = 200, .usable = 1000, .kind = 2},
                      stack_of(1, 4));
    tide_out_move_begin(lane, 0x1234567);
    tide_out_move_back(lane, 0x1234567, false);
    tide_out_map(lane, TIDE_MAP_MMAP, map, stack_of(1, 2));
    tide_out_free_stacked(lane, 0x1234567, stack_of(1, 3));
    tide_out_alloc(lane, (struct tide_out_birth){.address = 0x3000, .size = 1}, leaf);
    tide_out_extra(lane, TIDE_EXTRA_DROPPED, dropped, 2);
    tide_out_extra(lane, TIDE_EXTRA_FAILED, failed, 2);
    tide_out_extra(lane, TIDE_EXTRA_EVENT, &epoch, 1);
    tide_out_extra(lane, TIDE_EXTRA_REGION_END, &name, 1);
}

/* Three lanes that free each other's blocks: 1 + 120 events. */
static void add_threads(struct tide_builder *builder)
{
    struct tide_lane_out *lanes[3];
    for (uint32_t i = 0; i < 3; i++)
        lanes[i] = tide_builder_lane(builder, 0, i);
    tide_out_sync(lanes[0], 2000, 0);
    tide_out_free(lanes[0], 0x9000);
    tide_out_numbers(lanes[0]);
    for (uint32_t i = 1; i < 3; i++) {
        lanes[i]->numbers = true;
        tide_out_sync(lanes[i], 2100 + i, 0);
    }
    for (uint32_t i = 0; i < 60; i++) {
        const struct tide_out_birth birth = {.address = 0x10000 + i % 7 * 16,
                                             .size = i};
        builder->clock = 2200 + i * 10;
        tide_out_alloc(lanes[i % 3], birth, stack_of(i % 2, 1 + i % 4));
        tide_out_free(lanes[(i + i / 7) % 3], birth.address);
        if (i % 5 == 0)
            tide_out_time(lanes[i % 3], builder->clock);
        if (i % 11 == 0)
            tide_out_cut(lanes[i % 3]);
        if (i % 13 == 0)
            tide_out_sync(lanes[i % 3], builder->clock, i / 40);
    }
}

struct tide_builder *tide_rich_trace(bool plain)
{
    struct tide_builder *builder = tide_builder_new();
    builder->plain = plain;
    add_run_notes(builder);
    for (uint32_t i = 0; i < 3; i++)
        add_process_notes(builder, i);
    tide_builder_cut_notes(builder);
    add_threads(builder);
    for (uint32_t process = 1; process < 3; process++) {
        struct tide_lane_out *lane = tide_builder_lane(builder, process, 0);
        tide_out_sync(lane, 3000, 0);
        add_all_operations(lane);
        tide_out_cut(lane);
        tide_out_time(lane, 3500);
        add_all_operations(lane);
        tide_out_sync(lane, 4000, 1);
        add_all_operations(lane);
        tide_out_move_begin(lane, 0x3000);
        tide_out_cut(lane);
        tide_out_move_back(lane, 0x3000, true);
        if (process == 1)
            tide_out_sync(lane, 5000, 1);
    }
    tide_builder_finish(builder);
    return builder;
}
