/* symbol/unwind_starts.c - where the functions of an ELF file begin, by its unwind tables.
 *
 * .eh_frame_hdr is a sorted table of (start of function, its entry in .eh_frame), made for
 * binary search.  It does not say where functions end, the entry does.  Linkers write the
 * numbers of both in one way (32 bits, relative); a table in any other way is not read.
 *
 *     .eh_frame_hdr   version, 3 encodings, place of .eh_frame, count, pairs
 *     an entry        length, distance to its CIE, start (relative to itself), length
 */
#include "symbol/unwind_starts.h"

#include <gelf.h>
#include <string.h>

enum {
    TIDE_HEADER_BYTES = 12,
    TIDE_HEADER_VERSION = 1,
    TIDE_ENCODED_UDATA4 = 0x03,
    TIDE_ENCODED_PCREL_SDATA4 = 0x1b,
    TIDE_ENCODED_DATAREL_SDATA4 = 0x3b,
    TIDE_PAIR_BYTES = 8,
    TIDE_ENTRY_START = 8, /* in an entry */
    TIDE_ENTRY_BYTES = 16,
};

static int32_t word_at(const uint8_t *bytes)
{
    int32_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static uint64_t moved(uint64_t base, int32_t by)
{
    return base + (uint64_t)(int64_t)by;
}

/* DATA is .eh_frame_hdr, which stands at ADDRESS. */
static void take_header(struct tide_unwind_starts *starts, const Elf_Data *data,
                        uint64_t address)
{
    const uint8_t *const bytes = data->d_buf;
    if (data->d_size < TIDE_HEADER_BYTES || bytes[0] != TIDE_HEADER_VERSION ||
        bytes[1] != TIDE_ENCODED_PCREL_SDATA4 || bytes[2] != TIDE_ENCODED_UDATA4 ||
        bytes[3] != TIDE_ENCODED_DATAREL_SDATA4)
        return;
    const size_t room = (data->d_size - TIDE_HEADER_BYTES) / TIDE_PAIR_BYTES;
    const uint32_t count = (uint32_t)word_at(bytes + 8);
    starts->table = bytes + TIDE_HEADER_BYTES;
    starts->count = count < room ? count : room;
    starts->base = address;
}

/* SECTION, called NAME, may be one of the two tables. */
static void take_section(struct tide_unwind_starts *starts, const char *name,
                         Elf_Scn *section, const GElf_Shdr *header)
{
    const bool is_header = strcmp(name, ".eh_frame_hdr") == 0;
    if (!is_header && strcmp(name, ".eh_frame") != 0)
        return;
    const Elf_Data *const data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf)
        return;
    if (is_header) {
        take_header(starts, data, header->sh_addr);
        return;
    }
    starts->frames = data->d_buf;
    starts->frame_bytes = data->d_size;
    starts->frame_base = header->sh_addr;
}

void tide_unwind_starts_load(struct tide_unwind_starts *starts,
                             const struct tide_elf_file *file)
{
    Elf_Scn *section = NULL;
    size_t names;
    if (!tide_elf_is_native(file->elf) || elf_getshdrstrndx(file->elf, &names) != 0)
        return;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            (header.sh_flags & SHF_COMPRESSED))
            continue;
        const char *const name = elf_strptr(file->elf, names, header.sh_name);
        if (name)
            take_section(starts, name, section, &header);
    }
}

/* How long the function that begins at START is, whose entry stands at ENTRY; 0: the
 * entry is not what it should be. */
static uint32_t length_of(const struct tide_unwind_starts *starts, uint64_t start,
                          uint64_t entry)
{
    const uint64_t offset = entry - starts->frame_base;
    if (!starts->frames || entry < starts->frame_base || starts->frame_bytes < offset ||
        starts->frame_bytes - offset < TIDE_ENTRY_BYTES)
        return 0;
    const uint8_t *const bytes = starts->frames + offset;
    if (moved(entry + TIDE_ENTRY_START, word_at(bytes + TIDE_ENTRY_START)) != start)
        return 0;
    return (uint32_t)word_at(bytes + TIDE_ENTRY_START + 4);
}

uint64_t tide_unwind_starts_find(const struct tide_unwind_starts *starts,
                                 uint64_t address)
{
    size_t low = 0,
           high = starts->count; /* the last start at or below is before high */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint8_t *const pair = starts->table + middle * TIDE_PAIR_BYTES;
        if (moved(starts->base, word_at(pair)) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const uint8_t *const pair = starts->table + (low - 1) * TIDE_PAIR_BYTES;
    const uint64_t start = moved(starts->base, word_at(pair));
    const uint64_t entry = moved(starts->base, word_at(pair + 4));
    return address - start < length_of(starts, start, entry) ? start : 0;
}
