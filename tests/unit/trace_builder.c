/* unit/trace_builder.c - traces made by hand, for tests of whatever reads them. */
#include "trace_builder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include <zstd.h>

enum { TIDE_CELL_BYTES = ((1 << 22) + 1) * 4 };

static void demand(bool right)
{
    if (!right)
        abort();
}

static void put_u8(struct tide_buffer *buffer, unsigned value)
{
    const uint8_t byte = (uint8_t)value;
    tide_buffer_put(buffer, &byte, 1);
}

/* --- The file --- */

struct tide_builder *tide_builder_new(void)
{
    struct tide_builder *builder = calloc(1, sizeof(*builder));
    demand(builder != NULL);
    struct tide_format_header header = {
        .version = 1,
        .header_bytes = 64,
        .start_unix_ns = 1700000000000000000u,
        .start_ticks = 1000,
        .ticks_per_second = 1000000,
    };
    memcpy(header.magic, "tidemark", 8);
    memcpy(header.id, "0123456789abcdef", 16);
    header.checksum = XXH3_64bits(&header, 56);
    tide_buffer_put(&builder->file, &header, sizeof(header));
    return builder;
}

static void free_lanes(struct tide_lane_out **lanes)
{
    for (size_t i = 0; lanes && i < TIDE_BUILDER_LANES; i++) {
        if (!lanes[i])
            continue;
        tide_buffer_release(&lanes[i]->records);
        free(lanes[i]);
    }
    free(lanes);
}

void tide_builder_free(struct tide_builder *builder)
{
    for (size_t i = 0; i < TIDE_BUILDER_PROCESSES; i++) {
        free_lanes(builder->lanes[i]);
        if (builder->cells[i])
            munmap(builder->cells[i], TIDE_CELL_BYTES);
        tide_buffer_release(&builder->notes[i]);
    }
    tide_buffer_release(&builder->run);
    tide_buffer_release(&builder->file);
    free(builder);
}

void tide_builder_seal(uint8_t *chunk)
{
    struct tide_format_chunk head;
    memcpy(&head, chunk, sizeof(head));
    uint8_t *checked = malloc(56 + (size_t)head.stored_bytes);
    demand(checked != NULL);
    memcpy(checked, chunk, 56);
    memcpy(checked + 56, chunk + 64, head.stored_bytes);
    head.checksum = XXH3_64bits(checked, 56 + (size_t)head.stored_bytes);
    memcpy(chunk, &head, sizeof(head));
    free(checked);
}

void tide_builder_chunk(struct tide_builder *builder, struct tide_format_chunk head,
                        const struct tide_buffer *raw)
{
    struct tide_buffer *file = &builder->file;
    const size_t at = file->length;
    demand(raw->length > 0 && raw->length <= TIDE_CHUNK_MAX);
    head.magic = TIDE_CHUNK_MAGIC;
    head.raw_bytes = (uint32_t)raw->length;
    const size_t bound = ZSTD_compressBound(raw->length);
    uint8_t *packed = malloc(bound);
    demand(packed != NULL);
    const size_t size = ZSTD_compress(packed, bound, raw->bytes, raw->length, 1);
    const bool plain = builder->plain || ZSTD_isError(size) || size >= raw->length;
    if (plain)
        head.flags |= TIDE_CHUNK_PLAIN;
    head.stored_bytes = (uint32_t)(plain ? raw->length : size);
    tide_buffer_put(file, &head, sizeof(head));
    tide_buffer_put(file, plain ? raw->bytes : packed, head.stored_bytes);
    free(packed);
    tide_builder_seal(file->bytes + at);
    builder->chunks++;
}

/* --- Lanes --- */

static struct tide_lane_out *new_lane(struct tide_builder *builder, uint32_t process,
                                      uint32_t number)
{
    struct tide_lane_out *lane = calloc(1, sizeof(*lane));
    demand(lane != NULL);
    lane->builder = builder;
    lane->process = process;
    lane->number = number;
    return lane;
}

struct tide_lane_out *tide_builder_lane(struct tide_builder *builder, uint32_t process,
                                        uint32_t number)
{
    demand(process < TIDE_BUILDER_PROCESSES && number < TIDE_BUILDER_LANES);
    if (!builder->lanes[process])
        builder->lanes[process] =
            calloc(TIDE_BUILDER_LANES, sizeof(struct tide_lane_out *));
    demand(builder->lanes[process] != NULL);
    struct tide_lane_out **lane = &builder->lanes[process][number];
    if (!*lane)
        *lane = new_lane(builder, process, number);
    return *lane;
}

/* What the coder forgets where a chunk begins.  (Which stack stood after which is of no
 * interest here: no stack is used again after another.) */
static void forget(struct tide_lane_out *lane)
{
    lane->next_birth = lane->last_death = lane->last_new = 0;
    lane->last_kind = TIDE_KIND_MALLOC;
    memset(lane->in_dictionary, 0, sizeof(lane->in_dictionary));
}

void tide_out_cut(struct tide_lane_out *lane)
{
    if (!lane->records.length)
        return;
    const uint64_t clock = lane->builder->clock;
    const struct tide_format_chunk head = {
        .kind = TIDE_CHUNK_EVENTS,
        .flags = lane->resets ? TIDE_CHUNK_RESET : 0,
        .process = lane->process,
        .lane = lane->number,
        .sequence = lane->sequence++,
        .first_ticks = lane->first_ticks,
        .last_ticks = clock > lane->ticks ? clock : lane->ticks,
    };
    tide_builder_chunk(lane->builder, head, &lane->records);
    lane->records.length = 0;
    lane->begun = lane->resets = false;
    forget(lane);
}

void tide_out_lose(struct tide_lane_out *lane)
{
    if (!lane->records.length)
        return;
    lane->records.length = 0;
    lane->sequence++;
    lane->begun = lane->resets = false;
    forget(lane);
}

/* A record begins: remember what the chunk's header will say. */
static struct tide_buffer *record(struct tide_lane_out *lane)
{
    if (!lane->begun) {
        lane->begun = true;
        lane->first_ticks = lane->ticks;
    }
    return &lane->records;
}

void tide_out_sync(struct tide_lane_out *lane, uint64_t ticks, uint64_t epoch)
{
    lane->ticks = ticks;
    const bool first = !lane->begun;
    struct tide_buffer *out = record(lane);
    lane->resets |= first;
    forget(lane);
    lane->depth = 0;
    put_u8(out, TIDE_OP_SYNC);
    tide_buffer_varint(out, ticks);
    tide_buffer_varint(out, epoch);
    tide_buffer_varint(out, 100 + lane->number);
    tide_buffer_varint(out, lane->numbers);
}

void tide_out_time(struct tide_lane_out *lane, uint64_t ticks)
{
    demand(ticks >= lane->ticks);
    struct tide_buffer *out = record(lane);
    put_u8(out, TIDE_OP_TIME);
    tide_buffer_varint(out, ticks - lane->ticks);
    lane->ticks = ticks;
}

/* Step the slot; true when the number has to be written. */
static bool step(const struct tide_lane_out *lane, uint32_t slot, unsigned *number)
{
    if (!lane->numbers)
        return false;
    uint32_t **cells = &lane->builder->cells[lane->process];
    if (!*cells)
        *cells = mmap(NULL, TIDE_CELL_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    demand(*cells != MAP_FAILED);
    const uint32_t cell = (*cells)[slot], owner = cell >> 20, count = cell & 0xfffff;
    const uint32_t me = lane->number < TIDE_BUILDER_OWNERS ? lane->number + 1 : 0;
    (*cells)[slot] = me << 20 | ((count + 1) & 0xfffff);
    *number = count & 0xffff;
    return (me == 0 || owner != me) && !lane->builder->strip_numbers;
}

static void put_tag(struct tide_buffer *out, unsigned tag, bool numbered,
                    unsigned number)
{
    put_u8(out, tag | (numbered ? 0x10u : 0));
    if (!numbered)
        return;
    put_u8(out, number & 0xff);
    put_u8(out, number >> 8);
}

static bool is_near(uint64_t address, uint64_t base)
{
    return (address - base) % 8 == 0;
}

static void put_address(struct tide_lane_out *lane, uint64_t address, uint64_t base)
{
    if (is_near(address, base)) {
        const int64_t eighths = (int64_t)(address - base) / 8;
        tide_buffer_varint(&lane->records, eighths < 0 ? (uint64_t)-eighths * 2 - 1
                                                       : (uint64_t)eighths * 2);
    } else {
        tide_buffer_varint(&lane->records, address);
    }
}

static void put_word(struct tide_lane_out *lane, uint64_t word)
{
    const uint32_t slot = tide_word_slot(word);
    if (lane->in_dictionary[slot] && lane->dictionary[slot] == word) {
        tide_buffer_varint(&lane->records, (uint64_t)slot * 2 + 2);
        return;
    }
    const uint64_t up = word - lane->last_new, down = lane->last_new - word;
    const uint64_t step = word >= lane->last_new ? up * 2 : down * 2 - 1;
    lane->in_dictionary[slot] = true;
    lane->dictionary[slot] = lane->last_new = word;
    tide_buffer_varint(&lane->records, step * 2 + 1);
}

static bool same_stack(const struct tide_lane_out *lane, struct tide_out_stack stack)
{
    return stack.depth == lane->depth &&
           !memcmp(stack.words, lane->stack, stack.depth * sizeof(*stack.words));
}

static unsigned mode_of(const struct tide_lane_out *lane, struct tide_out_stack stack)
{
    if (!stack.words)
        return TIDE_STACK_NEXT;
    if (stack.leaf)
        return TIDE_STACK_LEAF;
    return same_stack(lane, stack) ? TIDE_STACK_NEXT : TIDE_STACK_DELTA;
}

static void put_stack(struct tide_lane_out *lane, struct tide_out_stack stack,
                      unsigned mode)
{
    if (mode == TIDE_STACK_LEAF)
        tide_buffer_varint(&lane->records, stack.words[0]);
    if (mode != TIDE_STACK_DELTA)
        return;
    demand(stack.depth <= TIDE_BUILDER_DEPTH);
    uint32_t kept = 0;
    while (kept < stack.depth && kept < lane->depth &&
           stack.words[kept] == lane->stack[kept])
        kept++;
    tide_buffer_varint(&lane->records, lane->depth - kept);
    tide_buffer_varint(&lane->records, stack.depth - kept);
    for (uint32_t i = kept; i < stack.depth; i++)
        put_word(lane, stack.words[i]);
    memcpy(lane->stack, stack.words, stack.depth * sizeof(*stack.words));
    lane->depth = stack.depth;
}

static uint64_t predicted(uint64_t size)
{
    return size <= 24 ? 24 : (size + 23) / 16 * 16 - 8;
}

static void put_birth(struct tide_lane_out *lane, unsigned op,
                      struct tide_out_birth birth, struct tide_out_stack stack)
{
    unsigned number = 0, shape = birth.kind;
    struct tide_buffer *out = record(lane);
    if (birth.usable && birth.usable != predicted(birth.size))
        shape |= 0x20;
    if (birth.align_log2)
        shape |= 0x40;
    const bool numbered = step(lane, tide_slot_of(birth.address), &number);
    const bool shaped = shape != lane->last_kind;
    const unsigned mode = mode_of(lane, stack);
    put_tag(out, op | mode << 5 | (shaped ? 0x80u : 0), numbered, number);
    if (shaped)
        put_u8(out, shape);
    lane->last_kind = birth.kind;
    tide_buffer_varint(out, birth.size);
    if (shape & 0x20)
        tide_buffer_varint(out, birth.usable - birth.size);
    if (shape & 0x40)
        put_u8(out, birth.align_log2);
    put_u8(out, is_near(birth.address, lane->next_birth) ? 0xfe : 0xff);
    put_address(lane, birth.address, lane->next_birth);
    put_stack(lane, stack, mode);
    lane->next_birth =
        birth.address + (birth.usable ? birth.usable : predicted(birth.size)) + 8;
}

static void put_death(struct tide_lane_out *lane, unsigned op, uint64_t address,
                      const struct tide_out_stack *stack)
{
    unsigned number = 0;
    struct tide_buffer *out = record(lane);
    const bool numbered = step(lane, tide_slot_of(address), &number);
    const unsigned far = is_near(address, lane->last_death) ? 0 : 0x20u;
    put_tag(out, op | far | (stack ? 0x40u : 0), numbered, number);
    put_address(lane, address, lane->last_death);
    lane->last_death = address;
    if (!stack)
        return;
    const unsigned mode = mode_of(lane, *stack);
    put_u8(out, mode);
    put_stack(lane, *stack, mode);
}

void tide_out_alloc(struct tide_lane_out *lane, struct tide_out_birth birth,
                    struct tide_out_stack stack)
{
    put_birth(lane, TIDE_OP_ALLOC, birth, stack);
}

void tide_out_free(struct tide_lane_out *lane, uint64_t address)
{
    put_death(lane, TIDE_OP_FREE, address, NULL);
}

void tide_out_free_stacked(struct tide_lane_out *lane, uint64_t address,
                           struct tide_out_stack stack)
{
    put_death(lane, TIDE_OP_FREE, address, &stack);
}

void tide_out_move_begin(struct tide_lane_out *lane, uint64_t address)
{
    put_death(lane, TIDE_OP_MOVE_BEGIN, address, NULL);
}

void tide_out_move_end(struct tide_lane_out *lane, struct tide_out_birth birth,
                       struct tide_out_stack stack)
{
    put_birth(lane, TIDE_OP_MOVE_END, birth, stack);
}

void tide_out_move_back(struct tide_lane_out *lane, uint64_t old, bool gone)
{
    unsigned number = 0;
    struct tide_buffer *out = record(lane);
    const bool numbered = !gone && step(lane, tide_slot_of(old), &number);
    put_tag(out, TIDE_OP_MOVE_BACK | (gone ? 0x20u : 0), numbered, number);
}

void tide_out_map(struct tide_lane_out *lane, uint64_t call,
                  const uint64_t arguments[4], struct tide_out_stack stack)
{
    unsigned number = 0;
    struct tide_buffer *out = record(lane);
    const bool numbered = step(lane, TIDE_SLOT_MAP, &number);
    const unsigned mode = mode_of(lane, stack);
    put_tag(out, TIDE_OP_MAP | mode << 5, numbered, number);
    tide_buffer_varint(out, call);
    for (size_t i = 0; i < 4; i++)
        tide_buffer_varint(out, arguments[i]);
    put_stack(lane, stack, mode);
}

void tide_out_extra(struct tide_lane_out *lane, uint64_t kind, const uint64_t *values,
                    size_t count)
{
    struct tide_buffer fields = {0}, *out = record(lane);
    for (size_t i = 0; i < count; i++)
        tide_buffer_varint(&fields, values[i]);
    put_u8(out, TIDE_OP_EXTRA);
    tide_buffer_varint(out, kind);
    tide_buffer_varint(out, fields.length);
    tide_buffer_put(out, fields.bytes, fields.length);
    tide_buffer_release(&fields);
}

void tide_out_numbers(struct tide_lane_out *lane)
{
    if (lane->builder->strip_gate)
        return;
    tide_out_extra(lane, TIDE_EXTRA_NUMBERS, NULL, 0);
    lane->numbers = true;
}

int tide_fd_of_bytes(const uint8_t *bytes, size_t length)
{
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    demand(fd >= 0);
    for (size_t done = 0; done < length;) {
        const ssize_t wrote = pwrite(fd, bytes + done, length - done, (off_t)done);
        demand(wrote > 0);
        done += (size_t)wrote;
    }
    return fd;
}

int tide_builder_fd(const struct tide_builder *builder)
{
    return tide_fd_of_bytes(builder->file.bytes, builder->file.length);
}
