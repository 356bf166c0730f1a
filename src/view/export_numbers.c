/* view/export_numbers.c - strings become numbers: for formats with tables of names. */
#include "view/export_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { TIDE_NUMBERS_FIRST = 1024 }; /* slots; a power of two */

void tide_numbers_release(struct tide_numbers *numbers)
{
    tide_arena_release(&numbers->arena);
    free(numbers->list);
    free(numbers->slots);
    *numbers = (struct tide_numbers){0};
}

static uint64_t hash_of(const char *string)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *string; string++)
        hash = (hash ^ (unsigned char)*string) * 0x100000001b3ull;
    return hash ^ (hash >> 32);
}

/* Where STRING stands, or the empty place where it would. */
static size_t slot_of(const struct tide_numbers *numbers, const char *string)
{
    size_t at = (size_t)hash_of(string) & numbers->mask;
    while (numbers->slots[at] &&
           strcmp(numbers->list[numbers->slots[at] - 1], string) != 0)
        at = (at + 1) & numbers->mask;
    return at;
}

/* Twice the room, for the list as well: half of the slots stay empty. */
static bool widen(struct tide_numbers *numbers)
{
    const size_t slots = numbers->slots ? (numbers->mask + 1) * 2 : TIDE_NUMBERS_FIRST;
    const char **const list = realloc(numbers->list, slots / 2 * sizeof(*list));
    if (list)
        numbers->list = list;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!list || !wider) {
        free(wider);
        return false;
    }
    free(numbers->slots);
    numbers->slots = wider;
    numbers->mask = slots - 1;
    numbers->capacity = slots / 2;
    for (size_t i = 0; i < numbers->count; i++)
        wider[slot_of(numbers, list[i])] = (uint32_t)i + 1;
    return true;
}

uint32_t tide_number_of(struct tide_numbers *numbers, const char *string)
{
    if (numbers->failed)
        return 0;
    if (numbers->count == numbers->capacity && !widen(numbers)) {
        numbers->failed = true;
        return 0;
    }
    const size_t at = slot_of(numbers, string);
    if (numbers->slots[at])
        return numbers->slots[at] - 1;
    const char *const copy = tide_arena_copy(&numbers->arena, string, strlen(string));
    if (!copy) {
        numbers->failed = true;
        return 0;
    }
    numbers->list[numbers->count++] = copy;
    numbers->slots[at] = (uint32_t)numbers->count;
    return (uint32_t)numbers->count - 1;
}
