/* unit/make_event.h - events made by hand, as a replay would give them out. */
#ifndef TIDE_UNIT_MAKE_EVENT_H
#define TIDE_UNIT_MAKE_EVENT_H

#include <stdint.h>

#include "trace/event.h"
#include "trace/format.h"

static inline struct tide_event alloc_event(uint32_t lane, uint64_t address,
                                            uint64_t size, uint32_t stack)
{
    return (struct tide_event){.kind = TIDE_EVENT_ALLOC,
                               .lane = lane,
                               .address = address,
                               .size = size,
                               .usable = TIDE_USABLE_GLIBC(size),
                               .stack = stack};
}

static inline struct tide_event free_event(uint32_t lane, uint64_t address)
{
    return (struct tide_event){
        .kind = TIDE_EVENT_FREE, .lane = lane, .address = address};
}

static inline struct tide_event move_begin_event(uint32_t lane, uint64_t address)
{
    return (struct tide_event){
        .kind = TIDE_EVENT_MOVE_BEGIN, .lane = lane, .address = address};
}

/* The move of OLD ends at BORN: a birth as of alloc_event(). */
static inline struct tide_event move_end_event(uint64_t old, struct tide_event born)
{
    born.kind = TIDE_EVENT_MOVE_END;
    born.value = old;
    return born;
}

static inline struct tide_event move_back_event(uint32_t lane, uint64_t old)
{
    return (struct tide_event){
        .kind = TIDE_EVENT_MOVE_BACK, .lane = lane, .address = old};
}

static inline struct tide_event move_gone_event(uint32_t lane, uint64_t old)
{
    return (struct tide_event){
        .kind = TIDE_EVENT_MOVE_GONE, .lane = lane, .address = old};
}

static inline struct tide_event extra_event(uint32_t lane, uint8_t extra,
                                            uint64_t value)
{
    return (struct tide_event){
        .kind = TIDE_EVENT_EXTRA, .lane = lane, .extra = extra, .value = value};
}

/* It begins at TICKS and allocates BYTES; its end is not known. */
static inline struct tide_event span_event(uint32_t lane, uint64_t ticks,
                                           uint64_t bytes)
{
    return (struct tide_event){.kind = TIDE_EVENT_SPAN,
                               .lane = lane,
                               .ticks = ticks,
                               .size = bytes,
                               .usable = UINT64_MAX};
}

/* ARGUMENTS: address, length, and the call's two others (see enum tide_map_call). */
static inline struct tide_event map_event(uint8_t call, const uint64_t arguments[4],
                                          uint32_t stack)
{
    return (struct tide_event){.kind = TIDE_EVENT_MAP,
                               .map_call = call,
                               .address = arguments[0],
                               .size = arguments[1],
                               .value = arguments[2],
                               .value2 = arguments[3],
                               .stack = stack};
}

/* Numbers that look random and are the same in every run. */
static inline uint64_t next_number(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* One of 0 .. LIMIT - 1. */
static inline uint64_t any_below(uint64_t *state, uint64_t limit)
{
    return next_number(state) % limit;
}

#endif
