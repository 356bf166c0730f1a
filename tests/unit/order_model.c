/* unit/order_model.c - random programs with threads, and what their traces must say. */
#include "order_model.h"

#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

enum {
    TIDE_NESTING = 3, /* handlers on handlers */
    TIDE_FIRST_ADDRESS = 0x100000,
};

enum call { TIDE_CALL_MALLOC, TIDE_CALL_FREE, TIDE_CALL_REALLOC, TIDE_CALL_MAP };
enum outcome { TIDE_REALLOC_MOVED, TIDE_REALLOC_FAILED, TIDE_REALLOC_GONE };

/* A call under way: PHASE counts its turns. */
struct action {
    enum call call;
    int phase;
    enum outcome outcome;
    uint32_t old_block, block;
    uint64_t old_address, address;
};

struct thread {
    bool alive;
    uint32_t lane;
    int64_t skew;
    struct action actions[TIDE_NESTING]; /* outermost first */
    uint32_t depth;
};

/* A block that every thread may free. */
struct shared {
    uint32_t block;
    uint64_t address;
};

struct program {
    const struct tide_program_options *options;
    struct tide_history *history;
    uint64_t random;
    uint64_t now, moment;
    uint64_t free_addresses[TIDE_MODEL_ADDRESSES];
    uint32_t free_count;
    struct shared shared[TIDE_MODEL_ADDRESSES];
    uint32_t shared_count;
    uint32_t blocks;
    struct thread threads[TIDE_MODEL_LANES];
    uint32_t thread_count; /* entries in use */
    uint32_t alive;
    uint32_t free_lanes[TIDE_MODEL_LANES];
    uint32_t free_lane_count;
};

static uint32_t random_below(struct program *program, uint32_t limit)
{
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((program->random >> 33) % limit);
}

static bool one_in(struct program *program, uint32_t chance)
{
    return random_below(program, chance) == 0;
}

/* --- The allocator --- */

static uint64_t real_malloc(struct program *program)
{
    if (!program->free_count)
        return 0;
    const uint32_t at = random_below(program, program->free_count);
    const uint64_t address = program->free_addresses[at];
    program->free_addresses[at] = program->free_addresses[--program->free_count];
    return address;
}

static void real_free(struct program *program, uint64_t address)
{
    program->free_addresses[program->free_count++] = address;
}

static void share(struct program *program, uint32_t block, uint64_t address)
{
    program->shared[program->shared_count++] =
        (struct shared){.block = block, .address = address};
}

/* A block to free, now this thread's own. */
static struct shared take_shared(struct program *program)
{
    const uint32_t at = random_below(program, program->shared_count);
    const struct shared taken = program->shared[at];
    program->shared[at] = program->shared[--program->shared_count];
    return taken;
}

/* --- Records --- */

static struct tide_lane_out *lane_of(const struct program *program,
                                     const struct thread *thread)
{
    return tide_builder_lane(program->history->builder, 0, thread->lane);
}

static void log_truth(struct program *program, const struct thread *thread,
                      struct tide_truth truth)
{
    struct tide_truths *lane = &program->history->lanes[thread->lane];
    if (lane->count == lane->capacity) {
        lane->capacity = lane->capacity * 2 + 16;
        lane->items = realloc(lane->items, lane->capacity * sizeof(*lane->items));
        if (!lane->items)
            abort();
    }
    truth.moment = program->moment++;
    truth.on_slot =
        lane_of(program, thread)->numbers && truth.kind != TIDE_EVENT_MOVE_GONE;
    lane->items[lane->count++] = truth;
    program->history->events++;
    program->history->nested += thread->depth > 1;
    if (thread->lane == 0 && !truth.on_slot && !program->history->gate)
        program->history->before_gate = lane->count;
}

/* What the recorder writes before a record, now and then: stamps, resets, the gate. */
static void prepare(struct program *program, struct thread *thread)
{
    struct tide_lane_out *lane = lane_of(program, thread);
    uint64_t now = program->now + (uint64_t)thread->skew;
    if (now < lane->ticks)
        now = lane->ticks;
    if (one_in(program, 40))
        tide_out_cut(lane);
    if (one_in(program, 30))
        tide_out_sync(lane, now, 0);
    else if (one_in(program, 6))
        tide_out_time(lane, now);
    if (program->history->gate && !lane->numbers)
        tide_out_numbers(lane);
}

/* What a program tells of itself, now and then, when it has the block at ADDRESS. */
static void tell(struct program *program, struct thread *thread, uint64_t address)
{
    struct tide_lane_out *lane = lane_of(program, thread);
    const uint64_t name = 1 + random_below(program, 3);
    const uint64_t label[] = {address, name, 0};
    if (one_in(program, 8))
        tide_out_extra(lane, TIDE_EXTRA_REGION_BEGIN, &name, 1);
    if (one_in(program, 8))
        tide_out_extra(lane, TIDE_EXTRA_REGION_END, &name, 1);
    if (one_in(program, 8))
        tide_out_extra(lane, TIDE_EXTRA_LABEL, label, 3);
}

static void record_birth(struct program *program, struct thread *thread,
                         const struct action *action, uint8_t kind)
{
    struct tide_lane_out *lane = lane_of(program, thread);
    const struct tide_out_birth birth = {.address = action->address,
                                         .size = action->block};
    const struct tide_out_stack none = {0};
    prepare(program, thread);
    log_truth(program, thread,
              (struct tide_truth){
                  .kind = kind, .address = action->address, .block = action->block});
    if (kind == TIDE_EVENT_ALLOC)
        tide_out_alloc(lane, birth, none);
    else
        tide_out_move_end(lane, birth, none);
    if (program->options->regions)
        tell(program, thread, action->address);
}

static void record_death(struct program *program, struct thread *thread,
                         const struct action *action, uint8_t kind)
{
    struct tide_lane_out *lane = lane_of(program, thread);
    prepare(program, thread);
    log_truth(program, thread,
              (struct tide_truth){.kind = kind,
                                  .address = action->old_address,
                                  .block = action->old_block});
    if (kind == TIDE_EVENT_FREE)
        tide_out_free(lane, action->old_address);
    else if (kind == TIDE_EVENT_MOVE_BEGIN)
        tide_out_move_begin(lane, action->old_address);
    else
        tide_out_move_back(lane, action->old_address, kind == TIDE_EVENT_MOVE_GONE);
}

static void record_map(struct program *program, struct thread *thread)
{
    const uint64_t arguments[] = {program->moment, 4096, 0, 0};
    const struct tide_out_stack none = {0};
    prepare(program, thread);
    log_truth(program, thread,
              (struct tide_truth){.kind = TIDE_EVENT_MAP, .address = program->moment});
    tide_out_map(lane_of(program, thread), TIDE_MAP_MADVISE, arguments, none);
}

/* --- Calls: each function is one turn; true when the call is done --- */

static bool turn_malloc(struct program *program, struct thread *thread,
                        struct action *action)
{
    if (action->phase++ == 0) {
        action->address = real_malloc(program);
        return action->address == 0;
    }
    action->block = ++program->blocks;
    record_birth(program, thread, action, TIDE_EVENT_ALLOC);
    share(program, action->block, action->address);
    return true;
}

static bool turn_free(struct program *program, struct thread *thread,
                      struct action *action)
{
    if (action->phase++ == 0) {
        if (!program->shared_count)
            return true;
        const struct shared taken = take_shared(program);
        action->old_block = taken.block;
        action->old_address = taken.address;
        record_death(program, thread, action, TIDE_EVENT_FREE);
        return false;
    }
    real_free(program, action->old_address);
    return true;
}

/* The real realloc, atomic as far as addresses go. */
static void really_realloc(struct program *program, struct action *action)
{
    action->block = action->old_block; /* it keeps its identity */
    action->address = action->old_address;
    if (one_in(program, 5)) {
        action->outcome = one_in(program, 2) ? TIDE_REALLOC_FAILED : TIDE_REALLOC_GONE;
        if (action->outcome == TIDE_REALLOC_GONE)
            real_free(program, action->old_address);
        return;
    }
    action->outcome = TIDE_REALLOC_MOVED;
    const uint64_t other = one_in(program, 4) ? 0 : real_malloc(program);
    if (!other)
        return; /* it grows where it is */
    action->address = other;
    real_free(program, action->old_address);
}

static bool turn_realloc(struct program *program, struct thread *thread,
                         struct action *action)
{
    switch (action->phase++) {
    case 0:
        if (!program->shared_count)
            return true;
        const struct shared taken = take_shared(program);
        action->old_block = taken.block;
        action->old_address = taken.address;
        record_death(program, thread, action, TIDE_EVENT_MOVE_BEGIN);
        program->history->moves++;
        return false;
    case 1:
        really_realloc(program, action);
        return false;
    default:
        break;
    }
    if (action->outcome == TIDE_REALLOC_GONE) {
        record_death(program, thread, action, TIDE_EVENT_MOVE_GONE);
        return true;
    }
    if (action->outcome == TIDE_REALLOC_FAILED)
        record_death(program, thread, action, TIDE_EVENT_MOVE_BACK);
    else
        record_birth(program, thread, action, TIDE_EVENT_MOVE_END);
    share(program, action->block, action->address);
    return true;
}

static bool turn_call(struct program *program, struct thread *thread,
                      struct action *action)
{
    switch (action->call) {
    case TIDE_CALL_MALLOC:
        return turn_malloc(program, thread, action);
    case TIDE_CALL_FREE:
        return turn_free(program, thread, action);
    case TIDE_CALL_REALLOC:
        return turn_realloc(program, thread, action);
    case TIDE_CALL_MAP:
        break;
    }
    record_map(program, thread);
    return true;
}

/* --- Threads --- */

static void start_thread(struct program *program)
{
    struct tide_history *history = program->history;
    uint32_t at = 0;
    while (program->threads[at].alive)
        at++;
    if (at == program->thread_count)
        program->thread_count++;
    struct thread *thread = &program->threads[at];
    *thread = (struct thread){.alive = true};
    history->reused_lanes += program->free_lane_count > 0;
    thread->lane = program->free_lane_count
                       ? program->free_lanes[--program->free_lane_count]
                       : history->lane_count++;
    const uint64_t skew = program->options->skew;
    if (skew)
        thread->skew = (int64_t)random_below(program, (uint32_t)skew);
    program->alive++;

    struct tide_lane_out *lane = lane_of(program, thread);
    const uint64_t tid = 1000 + program->moment,
                   now = program->now + (uint64_t)thread->skew;
    lane->numbers = lane->numbers || thread->lane > 0;
    tide_out_sync(lane, now < lane->ticks ? lane->ticks : now, 0);
    tide_out_extra(lane, TIDE_EXTRA_THREAD_BEGIN, &tid, 1);
}

static void end_thread(struct program *program, struct thread *thread)
{
    tide_out_extra(lane_of(program, thread), TIDE_EXTRA_THREAD_END, NULL, 0);
    program->free_lanes[program->free_lane_count++] = thread->lane;
    thread->alive = false;
    program->alive--;
}

static void maybe_start_or_end(struct program *program, struct thread *thread)
{
    if (program->alive < program->options->threads && one_in(program, 25)) {
        program->history->gate = true; /* pthread_create, before the real one */
        start_thread(program);
    } else if (program->alive > 1 && !thread->depth && one_in(program, 120)) {
        end_thread(program, thread);
    }
}

static void begin_call(struct program *program, struct thread *thread)
{
    static const enum call calls[] = {
        TIDE_CALL_MALLOC, TIDE_CALL_MALLOC, TIDE_CALL_MALLOC,  TIDE_CALL_FREE,
        TIDE_CALL_FREE,   TIDE_CALL_FREE,   TIDE_CALL_REALLOC, TIDE_CALL_MAP};
    thread->actions[thread->depth++] =
        (struct action){.call = calls[random_below(program, 8)]};
}

static void turn(struct program *program)
{
    struct thread *thread;
    do {
        thread = &program->threads[random_below(program, program->thread_count)];
    } while (!thread->alive);
    program->now += random_below(program, 20);
    if (program->options->nap && random_below(program, 50) == 0)
        program->now += program->options->nap;
    program->history->builder->clock = program->now + program->options->skew;
    /* Nothing under way, or a signal arrives in the middle of a call. */
    if (!thread->depth || (thread->depth < TIDE_NESTING && one_in(program, 12)))
        begin_call(program, thread);
    struct action *action = &thread->actions[thread->depth - 1];
    if (turn_call(program, thread, action))
        thread->depth--;
    maybe_start_or_end(program, thread);
}

/* Tear the last record of some lane; then the others go on for a moment. */
static void tear(struct program *program)
{
    struct tide_history *history = program->history;
    const uint32_t victim = random_below(program, history->lane_count);
    struct thread thread = {.lane = victim};
    struct action action = {.old_block = 1,
                            .old_address =
                                TIDE_FIRST_ADDRESS + 16 * random_below(program, 8)};
    struct tide_lane_out *lane = tide_builder_lane(history->builder, 0, victim);
    if (!lane->numbers)
        return;
    tide_out_cut(lane);
    record_death(program, &thread, &action, TIDE_EVENT_FREE);
    lane->records.length = 0;
    lane->begun = lane->resets = false;
    history->lanes[victim].count--;
    history->events--;
    for (uint32_t i = 0; i < program->thread_count; i++)
        if (program->threads[i].alive && program->threads[i].lane == victim) {
            program->threads[i].alive = false;
            program->alive--;
        }
    for (int i = 0; i < 20 && program->alive; i++)
        turn(program);
}

void tide_history_run(const struct tide_program_options *options,
                      struct tide_history *history)
{
    struct program *program = calloc(1, sizeof(*program));
    *history = (struct tide_history){
        .builder = tide_builder_new(),
        .lanes = calloc(TIDE_MODEL_LANES, sizeof(*history->lanes))};
    if (!program || !history->lanes)
        abort();
    program->options = options;
    program->history = history;
    program->random = options->seed * 2654435761u + 88172645463325252u;
    program->now = 2000;
    history->builder->plain = true;
    history->builder->strip_numbers = options->strip_numbers;
    for (uint32_t i = 0; i < options->addresses; i++)
        real_free(program,
                  TIDE_FIRST_ADDRESS + i * 16 + (i % 5 == 0 ? (uint64_t)i << 26 : 0));
    start_thread(program);
    for (uint32_t i = 0; i < 10; i++)
        turn(program);
    while (options->crowd && program->alive < options->threads) {
        history->gate = true;
        start_thread(program);
    }
    for (uint32_t i = 0; i < options->turns; i++)
        turn(program);
    if (options->kill)
        tear(program);
    tide_builder_finish(history->builder);
    free(program);
}

void tide_history_release(struct tide_history *history)
{
    for (size_t i = 0; i < TIDE_MODEL_LANES; i++)
        free(history->lanes[i].items);
    free(history->lanes);
    tide_builder_free(history->builder);
    *history = (struct tide_history){0};
}
