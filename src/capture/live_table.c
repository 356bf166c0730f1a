/* capture/live_table.c - the blocks that live now.
 *
 * Two maps from addresses to records: blocks of the heap, which never overlap, and what
 * lies inside of others: pools' blocks, and parts that have a label.  Of two of those that
 * begin in the same eight bytes the later one is kept.  What lies inside remembers the
 * block that holds it by its uid: when that has gone, it has gone as well, though its
 * record stays until the place is used again.
 *
 * A record is changed only by whoever owns its block, as the program's own threads may
 * use it.  Who looks reads while others write; afterwards it looks again whether the
 * record was the same all the time.
 */
#include "capture/live_table.h"

#include <stdatomic.h>

#include "capture/api.h"
#include "capture/live_map.h"
#include "capture/live_slab.h"
#include "capture/tallies.h"
#include "capture/watch.h"

/* Words of a record. */
enum { TIDE_R_UID, TIDE_R_ADDRESS, TIDE_R_SIZE, TIDE_R_REST, TIDE_RECORD_WORDS };
/* Words of a naming: what the program told of a block. */
enum {
    TIDE_N_HOLDER, /* uid of the block of the heap that it lies in; 0: none, or it is one */
    TIDE_N_LABEL, /* struct tide_name, as are pools */
    TIDE_N_POOL,
    TIDE_N_ELEMENT,
    TIDE_N_DIMENSIONS,
    TIDE_N_EXTENTS,
    TIDE_NAMING_WORDS = TIDE_N_EXTENTS + TIDE_SHAPE_DIMENSIONS,
};

enum { TIDE_LIVE_TRIES = 16, TIDE_CUT_STEPS = 4096 };

struct layer {
    struct tide_live_map map;
    _Atomic uint64_t largest; /* bytes of one that there ever was */
};

static struct layer heap, inside;
static struct tide_live_slab records, namings;
static _Atomic uint64_t last_uid;
static _Atomic uint64_t lost; /* blocks for which there was no memory */

bool tide_live_kept;

/* What was read of a record, at one moment. */
struct sight {
    uint64_t record[TIDE_RECORD_WORDS];
    uint64_t naming[TIDE_NAMING_WORDS]; /* zeros: it has none */
};

void tide_live_begin(void)
{
    tide_live_kept = tide_live_map_begin(&heap.map) &&
                     tide_live_map_begin(&inside.map) &&
                     tide_live_slab_begin(&records, TIDE_RECORD_WORDS) &&
                     tide_live_slab_begin(&namings, TIDE_NAMING_WORDS);
    if (tide_live_kept)
        tide_attend(1);
}

static uint64_t word(const struct tide_live_slab *slab, uint32_t number, uint32_t which)
{
    return atomic_load_explicit(&tide_live_slot(slab, number)[which],
                                memory_order_relaxed);
}

static void set_word(const struct tide_live_slab *slab, uint32_t number, uint32_t which,
                     uint64_t value)
{
    atomic_store_explicit(&tide_live_slot(slab, number)[which], value,
                          memory_order_relaxed);
}

/* --- Records --------------------------------------------------------------------------- */

/* What the allocator gave beyond what was asked for, and above it the naming's number. */
static uint32_t naming_of(uint64_t rest)
{
    return (uint32_t)(rest >> 32);
}

static uint64_t span_of(const uint64_t *record)
{
    const uint64_t span = record[TIDE_R_SIZE] + (uint32_t)record[TIDE_R_REST];
    return span ? span : 1;
}

static void drop(uint32_t number)
{
    if (!number)
        return;
    tide_live_slab_give(&namings, naming_of(word(&records, number, TIDE_R_REST)));
    tide_live_slab_give(&records, number);
}

/* Record NUMBER, which is right, can be found at ADDRESS from here on. */
static void put_in(struct layer *layer, uint32_t number, uint64_t address)
{
    uint32_t before;
    if (tide_live_map_put(&layer->map, address, number, &before)) {
        drop(before);
    } else {
        atomic_fetch_add(&lost, 1);
        drop(number);
    }
}

static void place(struct layer *layer, uint32_t number, uint64_t address,
                  struct tide_live_size size)
{
    const uint64_t slack = size.used > size.requested ? size.used - size.requested : 0;
    const uint64_t naming = word(&records, number, TIDE_R_REST) >> 32 << 32;
    set_word(&records, number, TIDE_R_ADDRESS, address);
    set_word(&records, number, TIDE_R_SIZE, size.requested);
    set_word(&records, number, TIDE_R_REST,
             naming | (slack > UINT32_MAX ? UINT32_MAX : slack));
    tide_raise(&layer->largest, size.requested + slack);
    put_in(layer, number, address);
}

static uint32_t new_record(uint32_t naming)
{
    const uint32_t number = tide_live_slab_take(&records);
    if (!number) {
        atomic_fetch_add(&lost, 1);
        tide_live_slab_give(&namings, naming);
        return 0;
    }
    set_word(&records, number, TIDE_R_REST, (uint64_t)naming << 32);
    set_word(&records, number, TIDE_R_UID, atomic_fetch_add(&last_uid, 1) + 1);
    return number;
}

void tide_live_born(const void *block, struct tide_live_size size)
{
    const uint32_t number = new_record(0);
    if (number)
        place(&heap, number, (uintptr_t)block, size);
}

/* A block that was not known may have a name all the same. */
void tide_live_dies(const void *block)
{
    const uint32_t number = tide_live_map_take(&heap.map, (uintptr_t)block);
    drop(number ? number : tide_live_map_take(&inside.map, (uintptr_t)block));
}

uint32_t tide_live_lift(const void *block)
{
    return tide_live_map_take(&heap.map, (uintptr_t)block);
}

void tide_live_set_down(uint32_t lifted, const void *block, struct tide_live_size size)
{
    if (lifted)
        place(&heap, lifted, (uintptr_t)block, size);
    else
        tide_live_born(block, size);
}

void tide_live_put_back(uint32_t lifted, bool gone)
{
    if (gone)
        drop(lifted);
    else if (lifted)
        put_in(&heap, lifted, word(&records, lifted, TIDE_R_ADDRESS));
}

/* --- Looking --------------------------------------------------------------------------- */

/* Read record NUMBER of LAYER.  False: it was changed meanwhile, or is not there. */
static bool see(const struct layer *layer, uint32_t number, struct sight *sight)
{
    *sight = (struct sight){{0}, {0}};
    for (uint32_t i = 0; i < TIDE_RECORD_WORDS; i++)
        sight->record[i] = word(&records, number, i);
    const uint32_t naming = naming_of(sight->record[TIDE_R_REST]);
    for (uint32_t i = 0; naming && i < TIDE_NAMING_WORDS; i++)
        sight->naming[i] = word(&namings, naming, i);
    atomic_thread_fence(memory_order_acquire);
    return tide_live_map_at(&layer->map, sight->record[TIDE_R_ADDRESS]) == number &&
           word(&records, number, TIDE_R_UID) == sight->record[TIDE_R_UID] &&
           word(&records, number, TIDE_R_REST) == sight->record[TIDE_R_REST];
}

/* What was seen holds ADDRESS, and lies in HOLDER (0: in none).  What has no holder, where
 * one is now, was named before that was made: after a free, say. */
static bool holds(const struct sight *sight, uint64_t address, uint64_t holder)
{
    const uint64_t start = sight->record[TIDE_R_ADDRESS];
    const uint64_t inside_of = sight->naming[TIDE_N_HOLDER];
    return address >= start && address - start < span_of(sight->record) &&
           inside_of == holder;
}

/* The one that holds ADDRESS; 0: none.  Those of the heap do not overlap, so that the
 * nearest one decides.  HOLDER, of those inside: the uid of the block that they must lie
 * in; 0: of none. */
static uint32_t look(const struct layer *layer, uint64_t address, uint64_t holder,
                     struct sight *sight)
{
    const uint64_t reach = atomic_load(&layer->largest);
    const uint64_t lowest = address > reach ? address - reach : 0;
    uint64_t at = address;
    for (int tries = TIDE_LIVE_TRIES;;) {
        const uint32_t number = tide_live_map_before(&layer->map, &at, lowest);
        if (!number)
            return 0;
        if (!see(layer, number, sight)) {
            if (tries-- == 0)
                return 0;
            continue;
        }
        if (holds(sight, address, holder))
            return number;
        if (layer == &heap || at == 0)
            return 0;
        at -= 1;
    }
}

/* --- Names ----------------------------------------------------------------------------- */

static const struct tide_live_shape NO_SHAPE;

static uint32_t new_naming(const uint64_t *kept, const struct tide_name *label,
                           const struct tide_live_shape *shape)
{
    const uint32_t number = tide_live_slab_take(&namings);
    const size_t dimensions = shape->dimensions < TIDE_SHAPE_DIMENSIONS
                                  ? shape->dimensions
                                  : TIDE_SHAPE_DIMENSIONS;
    if (!number)
        return 0;
    set_word(&namings, number, TIDE_N_HOLDER, kept[TIDE_N_HOLDER]);
    set_word(&namings, number, TIDE_N_POOL, kept[TIDE_N_POOL]);
    set_word(&namings, number, TIDE_N_LABEL, (uintptr_t)label);
    set_word(&namings, number, TIDE_N_ELEMENT, shape->element_bytes);
    set_word(&namings, number, TIDE_N_DIMENSIONS, dimensions);
    for (uint32_t i = 0; i < dimensions; i++)
        set_word(&namings, number, TIDE_N_EXTENTS + i, shape->extents[i]);
    return number;
}

static void name_record(uint32_t number, uint32_t naming)
{
    _Atomic uint64_t *const rest = &tide_live_slot(&records, number)[TIDE_R_REST];
    uint64_t before = atomic_load(rest);
    while (!atomic_compare_exchange_weak(rest, &before,
                                         (uint32_t)before | (uint64_t)naming << 32))
        ;
    tide_live_slab_give(&namings, naming_of(before));
}

/* What begins at ADDRESS: inside first.  0: nothing does. */
static uint32_t that_begins_at(uint64_t address, struct sight *sight)
{
    const struct layer *const layers[] = {&inside, &heap};
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t number = tide_live_map_at(&layers[i]->map, address);
        if (number && see(layers[i], number, sight) &&
            sight->record[TIDE_R_ADDRESS] == address)
            return number;
    }
    return 0;
}

static void begin_inside(uint64_t address, size_t bytes, uint64_t pool,
                         const struct tide_live_shape *shape,
                         const struct tide_name *label)
{
    struct sight around;
    uint64_t kept[TIDE_NAMING_WORDS] = {[TIDE_N_POOL] = pool};
    if (look(&heap, address, 0, &around))
        kept[TIDE_N_HOLDER] = around.record[TIDE_R_UID];
    const uint32_t naming = new_naming(kept, label, shape);
    const uint32_t number = naming ? new_record(naming) : 0;
    if (number)
        place(&inside, number, address, (struct tide_live_size){bytes, bytes});
    else if (!naming)
        atomic_fetch_add(&lost, 1);
}

/* A holder that has gone leaves what was inside of it, and a new one comes where something
 * is named: that begins nowhere. */
static bool is_left_behind(const struct sight *sight)
{
    struct sight around;
    uint64_t holder = 0;
    if (look(&heap, sight->record[TIDE_R_ADDRESS], 0, &around))
        holder = around.record[TIDE_R_UID];
    const bool is_block = holder && holder == sight->record[TIDE_R_UID];
    return !is_block && holder != sight->naming[TIDE_N_HOLDER];
}

void tide_live_label(const void *block, const struct tide_name *label, size_t bytes,
                     const struct tide_live_shape *shape)
{
    struct sight sight;
    const uint64_t address = (uintptr_t)block;
    uint32_t number = that_begins_at(address, &sight);
    if (number && is_left_behind(&sight)) {
        drop(tide_live_map_take(&inside.map, address));
        number = that_begins_at(address, &sight);
    }
    if (number) {
        const uint32_t naming =
            new_naming(sight.naming, label, shape ? shape : &NO_SHAPE);
        if (naming)
            name_record(number, naming);
    } else if (block && bytes) {
        begin_inside(address, bytes, 0, shape ? shape : &NO_SHAPE, label);
    }
}

/* A part that nobody gave out was only there for its name. */
void tide_live_unlabel(const void *block)
{
    struct sight sight;
    const uint64_t address = (uintptr_t)block;
    const uint32_t number = that_begins_at(address, &sight);
    if (!number || !naming_of(sight.record[TIDE_R_REST]))
        return;
    if (tide_live_map_at(&heap.map, address) == number) {
        name_record(number, 0);
    } else if (sight.naming[TIDE_N_POOL]) {
        const uint32_t naming = new_naming(sight.naming, NULL, &NO_SHAPE);
        if (naming)
            name_record(number, naming);
    } else {
        drop(tide_live_map_take(&inside.map, address));
    }
}

void tide_live_pool_alloc(const struct tide_name *pool, const void *block, size_t bytes,
                          const struct tide_name *label)
{
    begin_inside((uintptr_t)block, bytes, (uintptr_t)pool, &NO_SHAPE, label);
}

void tide_live_pool_free(const void *block)
{
    drop(tide_live_map_take(&inside.map, (uintptr_t)block));
}

/* --- Mappings -------------------------------------------------------------------------- */

/* What was taken from AT for NUMBER is another: somebody has put it there meanwhile. */
static bool take_it(uint64_t at, uint32_t number)
{
    const uint32_t taken = tide_live_map_take(&inside.map, at);
    if (taken && taken != number)
        put_in(&inside, taken, at);
    return taken == number;
}

/* Those that begin in BYTES at START and lie in no block of the heap, from the last to the
 * first: they move to TO; NULL: they go. */
static void each_in(const void *start, size_t bytes, const void *to)
{
    const uint64_t lowest = (uintptr_t)start;
    uint64_t at = lowest + bytes - 1;
    uint32_t number;
    while (bytes > 0 &&
           (number = tide_live_map_before(&inside.map, &at, lowest)) != 0) {
        struct sight sight;
        const bool free = see(&inside, number, &sight) && !sight.naming[TIDE_N_HOLDER];
        if (free && take_it(at, number)) {
            const uint64_t size = sight.record[TIDE_R_SIZE];
            if (to)
                place(&inside, number,
                      (uintptr_t)to + (sight.record[TIDE_R_ADDRESS] - lowest),
                      (struct tide_live_size){size, size});
            else
                drop(number);
        }
        if (at == 0)
            return;
        at -= 1;
    }
}

/* Bytes of record NUMBER, if it lies in no block of the heap, or 0. */
static uint64_t loose_bytes(uint32_t number, struct sight *sight)
{
    const bool free = see(&inside, number, sight) && !sight->naming[TIDE_N_HOLDER];
    return free ? sight->record[TIDE_R_SIZE] : 0;
}

/* Those that reach beyond END are cut there, as far as they lie in no block of the heap. */
static void cut_at(uint64_t end)
{
    const uint64_t reach = atomic_load(&inside.largest);
    const uint64_t lowest = end > reach ? end - reach : 0;
    uint64_t at = end;
    for (int steps = 0; at > 0 && steps < TIDE_CUT_STEPS; steps++) {
        struct sight sight;
        at -= 1;
        const uint32_t number = tide_live_map_before(&inside.map, &at, lowest);
        if (!number)
            return;
        uint64_t size = loose_bytes(number, &sight);
        const uint64_t kept = end - sight.record[TIDE_R_ADDRESS];
        if (kept < size)
            (void)atomic_compare_exchange_strong(
                &tide_live_slot(&records, number)[TIDE_R_SIZE], &size, kept);
    }
}

void tide_live_unmapped(const void *start, size_t bytes)
{
    each_in(start, bytes, NULL);
    cut_at((uintptr_t)start);
}

/* With no bytes before, a second mapping of the same was made. */
void tide_live_remapped(const void *old, size_t bytes, const void *start, size_t now)
{
    if (bytes > now)
        tide_live_unmapped((const char *)old + now, bytes - now);
    if (old == start || bytes == 0)
        return;
    tide_live_unmapped(start, now);
    each_in(old, bytes < now ? bytes : now, start);
}

/* --- The question ---------------------------------------------------------------------- */

static void fill_text(char *out, size_t room, uint64_t name_word)
{
    const struct tide_name *const name =
        (const struct tide_name *)(uintptr_t)name_word; /* never given back */
    size_t length = name ? name->length : 0;
    if (length >= room) /* not in the middle of a letter */
        for (length = room - 1; length > 0 && (name->text[length] & 0xc0) == 0x80;)
            length--;
    for (size_t i = 0; i < length; i++)
        out[i] = name->text[i];
    out[length] = '\0';
}

/* Of the element, in each dimension; the slowest may be beyond its extent. */
static void fill_position(struct tide_found_block *out, const uint64_t *extents)
{
    uint64_t rest = out->index;
    for (uint64_t i = out->dimensions; i-- > 0;) {
        const uint64_t extent = i > 0 && extents[i] ? extents[i] : UINT64_MAX;
        out->position[i] = rest % extent;
        rest /= extent;
    }
}

static void fill(struct tide_found_block *out, const struct sight *sight, uint64_t at)
{
    const uint64_t *const record = sight->record;
    const uint64_t *const naming = sight->naming;
    out->address = record[TIDE_R_ADDRESS];
    out->bytes = record[TIDE_R_SIZE];
    out->used_bytes = record[TIDE_R_SIZE] + (uint32_t)record[TIDE_R_REST];
    out->offset = at - record[TIDE_R_ADDRESS];
    out->uid = record[TIDE_R_UID];
    out->element_bytes = naming[TIDE_N_ELEMENT] ? naming[TIDE_N_ELEMENT] : 1;
    out->index = out->offset / out->element_bytes;
    out->dimensions = naming[TIDE_N_DIMENSIONS];
    fill_position(out, naming + TIDE_N_EXTENTS);
    fill_text(out->label, sizeof(out->label), naming[TIDE_N_LABEL]);
    fill_text(out->pool, sizeof(out->pool), naming[TIDE_N_POOL]);
}

enum tide_answer tide_live_find(const void *address, struct tide_found_block *out)
{
    struct sight outer = {{0}, {0}}, inner;
    const uint64_t at = (uintptr_t)address;
    if (!tide_live_kept)
        return TIDE_UNAVAILABLE;
    const uint32_t holder = look(&heap, at, 0, &outer);
    if (look(&inside, at, holder ? outer.record[TIDE_R_UID] : 0, &inner)) {
        fill(out, &inner, at);
        out->holder = inner.naming[TIDE_N_HOLDER] ? outer.record[TIDE_R_ADDRESS] : 0;
        return TIDE_DONE;
    }
    if (holder) {
        fill(out, &outer, at);
        return TIDE_DONE;
    }
    return atomic_load(&lost) ? TIDE_UNAVAILABLE : TIDE_UNKNOWN;
}
