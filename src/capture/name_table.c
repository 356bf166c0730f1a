/* capture/name_table.c - names, each kept once.
 *
 * Open addressing; a place is taken by compare-and-swap and never changes again, so that
 * readers need nothing but one load.  The texts lie in pieces of memory that are handed
 * out by adding to a counter.  When two threads bring the same name at once, the one that
 * comes second leaves its copy unused.
 */
#include "capture/name_table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "capture/cautions.h"
#include "capture/process.h"

enum { TIDE_PIECE = 64 * 1024 };

struct piece {
    _Atomic uint32_t used; /* of bytes; may be counted beyond them */
    _Alignas(8) unsigned char bytes[TIDE_PIECE - 8];
};

typedef _Atomic(struct tide_name *) place;

static _Atomic(place *) places;
static _Atomic(struct piece *) newest_piece;
static _Atomic uint32_t taken;

/* The table, made when the first name comes. */
static place *all_places(void)
{
    place *table = atomic_load_explicit(&places, memory_order_acquire);
    if (TIDE_LIKELY(table != NULL))
        return table;
    place *const made = tide_lasting_memory(TIDE_NAMES_MAX * sizeof(*made));
    if (made && !atomic_compare_exchange_strong(&places, &table, made)) {
        tide_lasting_release(made, TIDE_NAMES_MAX * sizeof(*made));
        return table;
    }
    return made;
}

static void *take_bytes(uint32_t bytes)
{
    for (;;) {
        struct piece *piece = atomic_load(&newest_piece);
        if (piece) {
            const uint32_t at = atomic_fetch_add(&piece->used, bytes);
            if (at + bytes <= sizeof(piece->bytes))
                return piece->bytes + at;
        }
        struct piece *const made = tide_lasting_memory(sizeof(*made));
        if (!made)
            return NULL;
        if (!atomic_compare_exchange_strong(&newest_piece, &piece, made))
            tide_lasting_release(made, sizeof(*made));
    }
}

static uint64_t hash_text(const char *text, uint32_t *length)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    uint32_t i = 0;
    for (; i < TIDE_NAME_BYTES && text[i]; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
    *length = i;
    return hash;
}

/* A name that is on its way into the table. */
struct wanted {
    const struct tide_name *attribute;
    const char *text;
    uint64_t hash;
    uint32_t length;
    struct tide_name *made; /* NULL: not yet */
};

static struct tide_name *make_name(const struct wanted *wanted)
{
    const uint32_t length = wanted->length;
    const uint32_t bytes =
        (uint32_t)(offsetof(struct tide_name, text) + length + 1 + 7) & ~7u;
    struct tide_name *const name = take_bytes(bytes);
    if (!name)
        return NULL;
    name->hash = wanted->hash;
    name->length = length;
    name->attribute = wanted->attribute;
    memcpy(name->text, wanted->text, length);
    name->text[length] = '\0';
    return name;
}

static bool is_it(const struct tide_name *name, const struct wanted *wanted)
{
    return name->hash == wanted->hash && name->length == wanted->length &&
           name->attribute == wanted->attribute &&
           memcmp(name->text, wanted->text, wanted->length) == 0;
}

/* The name at *AT, where there was none: ours, or what another thread has just put there.
 * NULL: there is no room. */
static const struct tide_name *put(struct wanted *wanted, place *at, uint32_t id)
{
    struct tide_name *found = NULL;
    if (!wanted->made) {
        if (atomic_load(&taken) >= TIDE_NAMES_MAX / 4 * 3) {
            tide_caution_names();
            return NULL;
        }
        atomic_fetch_add(&taken, 1);
        wanted->made = make_name(wanted);
    }
    if (!wanted->made)
        return NULL;
    wanted->made->id = id;
    return atomic_compare_exchange_strong(at, &found, wanted->made) ? wanted->made
                                                                    : found;
}

const struct tide_name *tide_name_of(const char *text)
{
    return tide_name_under(NULL, text);
}

const struct tide_name *tide_name_under(const struct tide_name *attribute,
                                        const char *text)
{
    place *const table = text ? all_places() : NULL;
    if (!table)
        return NULL;
    struct wanted wanted = {.attribute = attribute, .text = text};
    wanted.hash = hash_text(text, &wanted.length);
    if (attribute)
        wanted.hash ^= attribute->hash * 0x9e3779b97f4a7c15ull;
    for (uint32_t i = 0; i < TIDE_NAMES_MAX; i++) {
        const uint32_t at = ((uint32_t)(wanted.hash >> 20) + i) & (TIDE_NAMES_MAX - 1);
        const struct tide_name *found =
            atomic_load_explicit(&table[at], memory_order_acquire);
        if (!found)
            found = put(&wanted, &table[at], at + 1);
        if (!found || is_it(found, &wanted))
            return found;
    }
    return NULL;
}

const struct tide_name *tide_name_numbered(uint32_t id)
{
    place *const table = atomic_load_explicit(&places, memory_order_acquire);
    return table && id - 1 < TIDE_NAMES_MAX ? atomic_load(&table[id - 1]) : NULL;
}
