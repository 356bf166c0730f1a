/* symbol/aranges.c - which unit an address belongs to, by .debug_aranges.
 *
 * The section is one set of ranges after the other, each for one unit (DWARF 5, 6.1.2).
 * libdw reads it too, but looks into .debug_info for every set.  A set of a kind that is
 * not known here is passed over; where one is damaged, all that follow are.
 */
#include "symbol/aranges.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf_file.h"

enum { TIDE_SETS_MAX = 512 * 1024 };

/* What is left of the section, or of one set of it. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

/* Copy the next SIZE bytes to OUT; false when there are not as many. */
static bool take(struct bytes *bytes, void *out, size_t size)
{
    if (bytes->left < size)
        return false;
    memcpy(out, bytes->at, size);
    bytes->at += size;
    bytes->left -= size;
    return true;
}

/* An offset or length of four bytes or, where WIDE, of eight. */
static bool take_offset(struct bytes *bytes, bool wide, uint64_t *out)
{
    uint32_t narrow;
    if (wide)
        return take(bytes, out, sizeof(*out));
    if (!take(bytes, &narrow, sizeof(narrow)))
        return false;
    *out = narrow;
    return true;
}

static enum tide_status add_unit(struct tide_aranges *aranges, uint64_t unit)
{
    if (aranges->unit_count == aranges->unit_capacity) {
        const uint32_t capacity =
            aranges->unit_capacity ? aranges->unit_capacity * 2 : 64;
        uint64_t *const units =
            reallocarray(aranges->units, capacity, sizeof(*aranges->units));
        if (!units)
            return TIDE_ENOMEM;
        aranges->units = units;
        aranges->unit_capacity = capacity;
    }
    aranges->units[aranges->unit_count++] = unit;
    return TIDE_OK;
}

/* The ranges of one SET, behind its length, which was WIDE. */
static enum tide_status read_set(struct tide_aranges *aranges,
                                 struct tide_span_list *spans, struct bytes set,
                                 bool wide)
{
    const size_t length = set.left + (wide ? 12 : 4);
    uint16_t version;
    uint64_t unit;
    uint8_t sizes[2]; /* of an address, of a segment */
    if (!take(&set, &version, sizeof(version)) || !take_offset(&set, wide, &unit) ||
        !take(&set, sizes, sizeof(sizes)))
        return TIDE_OK;
    if (version != 2 || sizes[0] != sizeof(uint64_t) || sizes[1] != 0)
        return TIDE_OK;

    /* Ranges are aligned to their size, counted from where the set begins. */
    uint64_t range[2];
    uint8_t ignored[sizeof(range)];
    (void)take(&set, ignored,
               (sizeof(range) - (length - set.left) % sizeof(range)) % sizeof(range));
    enum tide_status status = add_unit(aranges, unit);
    while (!status && take(&set, range, sizeof(range))) {
        if (range[0] == 0) /* a function that the linker threw away, or the end */
            continue;
        status = tide_span_list_add(spans, &(struct tide_span){
                                               .low = range[0],
                                               .high = range[0] + range[1],
                                               .owner = aranges->unit_count - 1,
                                           });
    }
    return status;
}

static enum tide_status read_sets(struct tide_aranges *aranges,
                                  struct tide_span_list *spans, struct bytes section)
{
    enum tide_status status = TIDE_OK;
    uint64_t length;
    while (!status && aranges->unit_count < TIDE_SETS_MAX &&
           take_offset(&section, false, &length)) {
        const bool wide = length == UINT32_MAX;
        if ((wide && !take_offset(&section, true, &length)) || length > section.left)
            break;
        status = read_set(aranges, spans, (struct bytes){section.at, length}, wide);
        section.at += length;
        section.left -= length;
    }
    return status;
}

/* The section's data; NULL when there is none that can be read as it is. */
static Elf_Data *find_data(Elf *elf)
{
    size_t names;
    if (!tide_elf_is_native(elf) || elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            header.sh_flags & SHF_COMPRESSED)
            continue;
        const char *const name = elf_strptr(elf, names, header.sh_name);
        if (name && strcmp(name, ".debug_aranges") == 0)
            return elf_rawdata(section, NULL);
    }
    return NULL;
}

enum tide_status tide_aranges_load(struct tide_aranges *aranges, Elf *elf)
{
    *aranges = (struct tide_aranges){0};
    const Elf_Data *const data = find_data(elf);
    if (!data || !data->d_buf)
        return TIDE_OK;
    struct tide_span_list spans = {0};
    enum tide_status status =
        read_sets(aranges, &spans, (struct bytes){data->d_buf, data->d_size});
    if (!status)
        status = tide_span_table_build(&aranges->spans, &spans);
    tide_span_list_release(&spans);
    if (status)
        tide_aranges_release(aranges);
    return status;
}

void tide_aranges_release(struct tide_aranges *aranges)
{
    free(aranges->units);
    tide_span_table_release(&aranges->spans);
    *aranges = (struct tide_aranges){0};
}
