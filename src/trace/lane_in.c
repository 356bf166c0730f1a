/* trace/lane_in.c - one lane of a trace, read stretch by stretch.
 *
 * Chunks are loaded one at a time, each into the place of the one before: what was
 * decoded does not point into it.  A chunk that is missing or damaged, or bytes that are
 * no records, cost everything up to the lane's next reset, and are counted once.
 */
#include "trace/lane_in.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

enum { TIDE_CHUNK_KNOWN_BAD = 0x8000 }; /* in tide_chunk_place.flags: counted already */

void tide_lane_in_init(struct tide_lane_in *in, struct tide_lane_source *source,
                       uint32_t index)
{
    const struct tide_lane *lane = &source->trace->lanes[index];
    *in = (struct tide_lane_in){
        .source = source,
        .lane = lane,
        .events.item_bytes = sizeof(struct tide_event),
    };
    tide_decoder_init(&in->decoder, source->resolver, lane->process, index);
}

void tide_lane_in_release(struct tide_lane_in *in)
{
    tide_decoder_release(&in->decoder);
    free(in->raw);
    free(in->events.items);
    in->raw = NULL;
    in->raw_capacity = 0;
    in->fields = (struct tide_fields){0};
    in->events = (struct tide_list){.item_bytes = sizeof(struct tide_event)};
    in->taken = 0;
}

/* --- Chunks --- */

static void blame(struct tide_trace *trace, struct tide_chunk_place *place)
{
    if (place->flags & TIDE_CHUNK_KNOWN_BAD)
        return;
    place->flags |= TIDE_CHUNK_KNOWN_BAD;
    trace->bad_chunks++;
    if (!trace->problem[0])
        snprintf(trace->problem, sizeof(trace->problem),
                 "damaged chunk at byte %" PRIu64, place->offset);
}

static void lose(struct tide_lane_in *in)
{
    if (!in->need_reset)
        in->source->lost++;
    in->need_reset = true;
    tide_decoder_lost(&in->decoder);
}

static enum tide_status make_room(struct tide_lane_in *in, size_t bytes)
{
    if (bytes <= in->raw_capacity)
        return TIDE_OK;
    free(in->raw);
    in->raw_capacity = 0;
    in->raw = malloc(bytes + TIDE_COLUMN_SLACK);
    if (!in->raw)
        return TIDE_ENOMEM;
    in->raw_capacity = bytes;
    return TIDE_OK;
}

static void mark_reset(struct tide_lane_in *in)
{
    const struct tide_decoder *decoder = &in->decoder;
    in->next_mark = (struct tide_lane_mark){.chunk = in->next_chunk,
                                            .ticks = decoder->ticks,
                                            .move_count = decoder->move_count};
    memcpy(in->next_mark.moves, decoder->moves, sizeof(decoder->moves));
}

static bool begins_with_sync(struct tide_fields *fields)
{
    const struct tide_cursor *const tags = &fields->at[TIDE_COLUMN_TAGS];
    return tide_cursor_left(tags) > 0 && *tags->at == TIDE_OP_SYNC &&
           tide_fields_until_time(fields) > 0;
}

/* Load the chunk at PLACE, the lane's next one.  ECORRUPT when it is of no use. */
static enum tide_status load(struct tide_lane_in *in,
                             const struct tide_chunk_place *place)
{
    enum tide_status status = make_room(in, place->raw_bytes);
    if (!status)
        status = tide_chunk_load(in->source->reader, place->offset, in->raw,
                                 place->raw_bytes, &in->fields);
    if (!status && (place->flags & TIDE_CHUNK_RESET) && !begins_with_sync(&in->fields))
        status = TIDE_ECORRUPT;
    if (status) {
        in->fields = (struct tide_fields){0};
        return status;
    }
    if (!(place->flags & TIDE_CHUNK_GOES_ON))
        tide_decoder_begin_chunk(&in->decoder);
    in->chunk_last_ticks = place->last_ticks;
    if (place->flags & TIDE_CHUNK_RESET) {
        in->need_reset = false;
        mark_reset(in);
    }
    return TIDE_OK;
}

/* Go to the lane's next chunk that can be decoded; in->dry when there is none. */
static enum tide_status next_chunk(struct tide_lane_in *in)
{
    struct tide_trace *trace = in->source->trace;
    for (; in->next_chunk < in->lane->chunk_count; in->next_chunk++) {
        struct tide_chunk_place *place =
            &trace->lane_chunks[in->lane->first_chunk + in->next_chunk];
        const bool resets = place->flags & TIDE_CHUNK_RESET;
        if (place->sequence != in->next_sequence || (in->next_chunk == 0 && !resets))
            lose(in);
        in->next_sequence = place->sequence + 1;
        if (in->need_reset && !resets)
            continue;
        const enum tide_status status = load(in, place);
        if (status == TIDE_ENOMEM || status == TIDE_EIO)
            return status;
        if (!status) {
            in->next_chunk++;
            return TIDE_OK;
        }
        blame(trace, place);
        lose(in);
    }
    in->dry = true;
    return TIDE_OK;
}

/* --- Stretches --- */

/* Room for more events, and how many of them the stretch may still have. */
static enum tide_status more_room(struct tide_lane_in *in, size_t *room)
{
    const size_t count = in->events.count;
    if (count == in->events.capacity &&
        !tide_list_reserve(&in->events, count < 64 ? 128 : count * 2))
        return TIDE_ENOMEM;
    const size_t most = TIDE_STRETCH_MAX + 1;
    const size_t end = in->events.capacity < most ? in->events.capacity : most;
    *room = end - count;
    return TIDE_OK;
}

/* Decode a piece of the stretch: up to a stamp, the end of the chunk, or no room. */
static enum tide_status decode_piece(struct tide_lane_in *in,
                                     enum tide_decode_stop *stop)
{
    size_t room, made;
    const enum tide_status status = more_room(in, &room);
    if (status)
        return status;
    struct tide_event *to = tide_lane_in_events(in) + in->events.count;
    *stop = tide_decode(&in->decoder, &in->fields, to, room, &made);
    in->events.count += made;
    if (*stop == TIDE_STOP_BAD) {
        in->fields = (struct tide_fields){0};
        lose(in);
    }
    return in->decoder.status;
}

/* When the stretch ends: at its stamp; else, in a long one, not later than its chunk. */
static uint64_t end_of_stretch(const struct tide_lane_in *in, bool stamped)
{
    if (in->dry)
        return UINT64_MAX;
    if (stamped)
        return in->decoder.ticks;
    return in->chunk_last_ticks > in->ticks ? in->chunk_last_ticks : in->ticks;
}

/* Decode until the next stamp, the end of the lane, or until the stretch is too long. */
static enum tide_status decode_stretch(struct tide_lane_in *in)
{
    enum tide_decode_stop stop = TIDE_STOP_FULL;
    while (in->events.count <= TIDE_STRETCH_MAX && stop != TIDE_STOP_STAMP &&
           !in->dry) {
        enum tide_status status = decode_piece(in, &stop);
        if (!status && stop == TIDE_STOP_EMPTY)
            status = next_chunk(in);
        if (status)
            return status;
    }
    in->end_ticks = end_of_stretch(in, stop == TIDE_STOP_STAMP);
    return TIDE_OK;
}

static void fill_span(struct tide_lane_in *in)
{
    *tide_lane_in_events(in) = (struct tide_event){
        .kind = TIDE_EVENT_SPAN,
        .process = in->decoder.process,
        .lane = in->decoder.lane,
        .ticks = in->ticks,
        .size = in->decoder.born_bytes,
        .usable = in->end_ticks,
    };
}

/* Find the lane's first stamp: what stands before it cannot be decoded. */
static enum tide_status find_start(struct tide_lane_in *in)
{
    while (!in->dry) {
        size_t made;
        struct tide_event none;
        const enum tide_status status = next_chunk(in);
        if (status || in->dry)
            return status;
        if (tide_decode(&in->decoder, &in->fields, &none, 1, &made) == TIDE_STOP_STAMP)
            return TIDE_OK;
        lose(in);
    }
    return TIDE_OK;
}

enum tide_status tide_lane_in_next(struct tide_lane_in *in, bool *more)
{
    const bool begins = !in->raw && !in->dry;
    enum tide_status status = begins ? find_start(in) : TIDE_OK;
    *more = !status && !in->dry;
    if (!*more) {
        tide_lane_in_release(in);
        return status;
    }
    in->ticks = in->decoder.ticks;
    in->numbers = in->decoder.numbers;
    in->mark = in->next_mark;
    in->next_mark.stretches++;
    in->events.count = 0;
    in->taken = 0;
    if (!tide_list_add(&in->events))
        return TIDE_ENOMEM;
    in->decoder.born_bytes = in->decoder.others = 0;
    status = decode_stretch(in);
    in->usual = in->decoder.others == 0;
    fill_span(in);
    in->source->cut_stacks += in->decoder.cut_stacks;
    in->decoder.cut_stacks = 0;
    return status;
}

enum tide_status tide_lane_in_seek(struct tide_lane_in *in,
                                   const struct tide_lane_mark *mark)
{
    struct tide_decoder *decoder = &in->decoder;
    if (mark->chunk >= in->lane->chunk_count || mark->move_count > TIDE_MOVES_KEPT)
        return TIDE_ECORRUPT;
    in->next_chunk = mark->chunk;
    in->next_sequence =
        in->source->trace->lane_chunks[in->lane->first_chunk + mark->chunk].sequence;
    decoder->ticks = mark->ticks;
    decoder->move_count = mark->move_count;
    memcpy(decoder->moves, mark->moves, sizeof(decoder->moves));
    do {
        bool more;
        const enum tide_status status = tide_lane_in_next(in, &more);
        if (status)
            return status;
        if (!more || in->mark.chunk != mark->chunk)
            return TIDE_ECORRUPT;
    } while (in->mark.stretches < mark->stretches);
    return TIDE_OK;
}
