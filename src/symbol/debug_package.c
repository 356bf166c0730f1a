/* symbol/debug_package.c - the split units of a program, packed into one file (.dwp).
 *
 * A package has one section of each kind, and an index: a hash table from the id of a unit to a
 * row that says where in each section its part is (DWARF 5, 7.3.5; GNU's version 2 differs in
 * the numbers of sections).  All that stands in a unit counts from the beginning of its parts.
 *
 * So an ELF file of just one unit is made in memory, as a .dwo would be, but with the names that
 * sections of a whole program have; the addresses and ranges that it refers to in the program's
 * own file come with it.  libdw reads that as any other file.  The strings, which all units
 * share, are mapped into it from the package.
 */
#include "symbol/debug_package.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain_file.h"
#include "symbol/elf_file.h"

enum {
    TIDE_INDEX_HEAD = 16,
    TIDE_COLUMNS_MOST = 8,
    TIDE_UNIT_PAGE = 4096,
    TIDE_UNIT_BYTES_MOST = 1 << 28,
};

struct bytes {
    const uint8_t *at;
    size_t size;
};

/* The sections of a unit's file; the first COLUMNS are cut by the index. */
enum part {
    TIDE_PART_INFO,
    TIDE_PART_ABBREV,
    TIDE_PART_LINE,
    TIDE_PART_STR_OFFSETS,
    TIDE_PART_RNGLISTS,
    TIDE_PART_COLUMNS,
    TIDE_PART_STR = TIDE_PART_COLUMNS,
    TIDE_PART_ADDR,   /* of the program's file */
    TIDE_PART_RANGES, /* likewise */
    TIDE_PARTS
};

static const struct {
    const char *name, *packed; /* in the unit's file; in the package, or NULL */
    uint32_t column;           /* its number in the index */
} PARTS[TIDE_PARTS] = {
    [TIDE_PART_INFO] = {".debug_info", ".debug_info.dwo", 1},
    [TIDE_PART_ABBREV] = {".debug_abbrev", ".debug_abbrev.dwo", 3},
    [TIDE_PART_LINE] = {".debug_line", ".debug_line.dwo", 4},
    [TIDE_PART_STR_OFFSETS] = {".debug_str_offsets", ".debug_str_offsets.dwo", 6},
    [TIDE_PART_RNGLISTS] = {".debug_rnglists", ".debug_rnglists.dwo", 8},
    [TIDE_PART_STR] = {".debug_str", ".debug_str.dwo", 0},
    [TIDE_PART_ADDR] = {".debug_addr", NULL, 0},
    [TIDE_PART_RANGES] = {".debug_ranges", NULL, 0}, /* of DWARF 4 */
};

/* A unit that somebody asked for. */
struct unit {
    struct unit *next;
    void *image; /* owned: mapped */
    size_t image_bytes;
    Elf *elf;     /* owned */
    Dwarf *dwarf; /* owned */
};

struct tide_debug_package {
    int fd;   /* owned */
    Elf *elf; /* owned */
    struct bytes sections[TIDE_PARTS];
    off_t strings_at; /* in the file, if there are any */
    struct bytes index;
    uint32_t version, columns, rows, slots; /* of the index */
    struct unit *units;
};

static uint32_t u32(struct bytes bytes, size_t offset)
{
    uint32_t value;
    memcpy(&value, bytes.at + offset, sizeof(value));
    return value;
}

static uint64_t u64(struct bytes bytes, size_t offset)
{
    uint64_t value;
    memcpy(&value, bytes.at + offset, sizeof(value));
    return value;
}

/* --- Sections ---------------------------------------------------------------------- */

/* What the section NAME of ELF holds; nothing when it is not there, or compressed.  *AT is where
 * in the file that is. */
static struct bytes section_of(Elf *elf, const char *name, off_t *at)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return (struct bytes){0};
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            header.sh_flags & SHF_COMPRESSED)
            continue;
        const char *const found = elf_strptr(elf, names, header.sh_name);
        if (!found || strcmp(found, name) != 0)
            continue;
        const Elf_Data *const data = elf_rawdata(section, NULL);
        if (at)
            *at = (off_t)header.sh_offset;
        return data && data->d_buf ? (struct bytes){data->d_buf, data->d_size}
                                   : (struct bytes){0};
    }
    return (struct bytes){0};
}

/* --- The index --------------------------------------------------------------------- */

/* Is all of the tables that the index speaks of there? */
static bool read_index(struct tide_debug_package *package)
{
    const struct bytes index = package->index;
    if (index.size < TIDE_INDEX_HEAD)
        return false;
    package->version = u32(index, 0) & 0xffff;
    package->columns = u32(index, 4);
    package->rows = u32(index, 8);
    package->slots = u32(index, 12);
    if ((package->version != 2 && package->version != 5) || package->columns == 0 ||
        package->columns > TIDE_COLUMNS_MOST ||
        (package->slots & (package->slots - 1)) != 0)
        return false;
    const uint64_t tables =
        (uint64_t)package->slots * 12 +
        ((uint64_t)package->rows * 2 + 1) * package->columns * sizeof(uint32_t);
    return package->slots > 0 && tables <= index.size - TIDE_INDEX_HEAD;
}

/* The row of the unit ID, from 1 on; 0: there is none. */
static uint32_t find_row(const struct tide_debug_package *package, uint64_t id)
{
    const uint64_t mask = package->slots - 1;
    const size_t rows = TIDE_INDEX_HEAD + (size_t)package->slots * sizeof(uint64_t);
    uint64_t slot = id & mask;
    for (uint32_t i = 0; i < package->slots; i++) {
        const uint32_t row = u32(package->index, rows + slot * sizeof(uint32_t));
        if (row == 0)
            return 0;
        if (u64(package->index, TIDE_INDEX_HEAD + slot * sizeof(uint64_t)) == id)
            return row <= package->rows ? row : 0;
        slot = (slot + ((id >> 32 & mask) | 1)) & mask;
    }
    return 0;
}

/* Which PART the column NUMBER of the index is of; TIDE_PARTS: of none that is read. */
static enum part part_of(const struct tide_debug_package *package, uint32_t number)
{
    for (unsigned i = 0; i < TIDE_PART_COLUMNS; i++)
        if (PARTS[i].column == number &&
            (i != TIDE_PART_RNGLISTS || package->version == 5))
            return (enum part)i;
    return TIDE_PARTS;
}

/* The parts of the unit in ROW; false when one is not inside its section. */
static bool cut(const struct tide_debug_package *package, uint32_t row,
                struct bytes parts[TIDE_PARTS])
{
    const size_t width = package->columns * sizeof(uint32_t);
    const size_t head = TIDE_INDEX_HEAD + (size_t)package->slots * 12;
    for (uint32_t i = 0; i < package->columns; i++) {
        const size_t column = head + i * sizeof(uint32_t);
        const enum part part = part_of(package, u32(package->index, column));
        const uint32_t from = u32(package->index, column + row * width);
        const uint32_t size =
            u32(package->index, column + (row + (size_t)package->rows) * width);
        if (part == TIDE_PARTS || size == 0)
            continue;
        const struct bytes whole = package->sections[part];
        if (from > whole.size || size > whole.size - from)
            return false;
        parts[part] = (struct bytes){whole.at + from, size};
    }
    return parts[TIDE_PART_INFO].size > 0 && parts[TIDE_PART_ABBREV].size > 0;
}

/* --- The unit's file --------------------------------------------------------------- */

struct layout { /* where things are in it */
    size_t at[TIDE_PARTS];
    size_t names, headers, strings; /* the latter begins with a page */
    size_t bytes;
};

static size_t aligned(size_t offset, size_t to)
{
    return (offset + to - 1) / to * to;
}

static bool lay_out(const struct tide_debug_package *package,
                    const struct bytes parts[TIDE_PARTS], struct layout *out)
{
    size_t at = sizeof(Elf64_Ehdr);
    for (unsigned i = 0; i < TIDE_PARTS; i++) {
        if (i == TIDE_PART_STR)
            continue;
        out->at[i] = at = aligned(at, sizeof(uint64_t));
        at += parts[i].size;
        if (at > TIDE_UNIT_BYTES_MOST)
            return false;
    }
    out->names = at;
    for (unsigned i = 0; i < TIDE_PARTS; i++)
        at += strlen(PARTS[i].name) + 1;
    out->headers = at = aligned(at + 1, sizeof(uint64_t));
    at += (TIDE_PARTS + 2) * sizeof(Elf64_Shdr);
    out->strings = aligned(at, TIDE_UNIT_PAGE);
    out->at[TIDE_PART_STR] =
        out->strings + (size_t)(package->strings_at % TIDE_UNIT_PAGE);
    out->bytes = out->at[TIDE_PART_STR] + parts[TIDE_PART_STR].size;
    return true;
}

static void fill(char *image, const struct layout *layout, Elf64_Ehdr head,
                 const struct bytes parts[TIDE_PARTS])
{
    Elf64_Shdr headers[TIDE_PARTS + 2] = {{0}};
    char *name = image + layout->names + 1; /* the first one is empty */
    for (unsigned i = 0; i < TIDE_PARTS; i++) {
        headers[i + 1] = (Elf64_Shdr){
            .sh_name = (Elf64_Word)((size_t)(name - image) - layout->names),
            .sh_type = SHT_PROGBITS,
            .sh_offset = layout->at[i],
            .sh_size = parts[i].size,
            .sh_addralign = 1};
        name = stpcpy(name, PARTS[i].name) + 1;
        if (i != TIDE_PART_STR && parts[i].size > 0)
            memcpy(image + layout->at[i], parts[i].at, parts[i].size);
    }
    headers[TIDE_PARTS + 1] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB,
                     .sh_offset = layout->names,
                     .sh_size = (size_t)(name - image) - layout->names,
                     .sh_addralign = 1};
    head.e_phnum = 0;
    head.e_phoff = 0;
    head.e_shoff = layout->headers;
    head.e_shnum = TIDE_PARTS + 2;
    head.e_shstrndx = TIDE_PARTS + 1;
    head.e_shentsize = sizeof(Elf64_Shdr);
    memcpy(image, &head, sizeof(head));
    memcpy(image + layout->headers, headers, sizeof(headers));
}

static bool map_image(const struct tide_debug_package *package,
                      const struct bytes parts[TIDE_PARTS], struct unit *unit)
{
    struct layout layout;
    const Elf64_Ehdr *const head = elf64_getehdr(package->elf);
    if (!head || !lay_out(package, parts, &layout))
        return false;
    void *const image = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED)
        return false;
    unit->image = image;
    unit->image_bytes = layout.bytes;
    fill(image, &layout, *head, parts);
    return parts[TIDE_PART_STR].size == 0 ||
           mmap((char *)image + layout.strings, layout.bytes - layout.strings,
                PROT_READ, MAP_PRIVATE | MAP_FIXED, package->fd,
                package->strings_at / TIDE_UNIT_PAGE * TIDE_UNIT_PAGE) != MAP_FAILED;
}

static void free_unit(struct unit *unit)
{
    if (!unit)
        return;
    if (unit->dwarf)
        (void)dwarf_end(unit->dwarf);
    (void)elf_end(unit->elf); /* NULL is fine */
    if (unit->image)
        (void)munmap(unit->image, unit->image_bytes);
    free(unit);
}

/* The only unit of a file, which has ID. */
static bool read_unit(struct unit *unit, uint64_t id, Dwarf_Die *split)
{
    Dwarf_CU *cu;
    uint8_t type = 0;
    uint64_t own = 0;
    unit->elf = elf_memory(unit->image, unit->image_bytes);
    unit->dwarf = unit->elf ? dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL) : NULL;
    return unit->dwarf &&
           dwarf_get_units(unit->dwarf, NULL, &cu, NULL, &type, split, NULL) == 0 &&
           type == DW_UT_split_compile &&
           dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &own, NULL, NULL) == 0 &&
           own == id;
}

/* What is in the section NAME of the program from where the attribute of SKELETON says that its
 * unit's part begins. */
static struct bytes part_of_program(Dwarf_Die *skeleton, const char *name,
                                    unsigned attribute, unsigned gnu_attribute)
{
    Elf *const elf = dwarf_getelf(dwarf_cu_getdwarf(skeleton->cu));
    const struct bytes whole = section_of(elf, name, NULL);
    Dwarf_Attribute found;
    Dwarf_Word base = 0;
    if (dwarf_attr(skeleton, attribute, &found) ||
        dwarf_attr(skeleton, gnu_attribute, &found))
        (void)dwarf_formudata(&found, &base);
    return base < whole.size ? (struct bytes){whole.at + base, whole.size - base}
                             : (struct bytes){0};
}

bool tide_debug_package_find(struct tide_debug_package *package, Dwarf_Die *skeleton,
                             Dwarf_Die *split)
{
    struct bytes parts[TIDE_PARTS] = {{0}};
    uint8_t type;
    uint64_t id;
    if (!package ||
        dwarf_cu_info(skeleton->cu, NULL, &type, NULL, NULL, &id, NULL, NULL) != 0 ||
        type != DW_UT_skeleton)
        return false;
    const uint32_t row = find_row(package, id);
    if (row == 0 || !cut(package, row, parts))
        return false;
    parts[TIDE_PART_STR] = package->sections[TIDE_PART_STR];
    parts[TIDE_PART_ADDR] =
        part_of_program(skeleton, ".debug_addr", DW_AT_addr_base, DW_AT_GNU_addr_base);
    parts[TIDE_PART_RANGES] = part_of_program(
        skeleton, ".debug_ranges", DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
    struct unit *const unit = calloc(1, sizeof(*unit));
    if (!unit || !map_image(package, parts, unit) || !read_unit(unit, id, split)) {
        free_unit(unit);
        return false;
    }
    unit->next = package->units;
    package->units = unit;
    return true;
}

/* --- Open and close ---------------------------------------------------------------- */

static bool read_sections(struct tide_debug_package *package)
{
    Elf *const elf = package->elf;
    for (unsigned i = 0; i <= TIDE_PART_STR; i++)
        package->sections[i] = section_of(elf, PARTS[i].packed, &package->strings_at);
    package->index = section_of(elf, ".debug_cu_index", NULL);
    return read_index(package);
}

struct tide_debug_package *tide_debug_package_open(const char *path)
{
    struct stat about;
    const int fd = tide_plain_file_open(path, 0, &about);
    if (fd < 0)
        return NULL;
    struct tide_debug_package *const package = calloc(1, sizeof(*package));
    if (!package) {
        (void)close(fd);
        return NULL;
    }
    package->fd = fd;
    if (elf_version(EV_CURRENT) != EV_NONE)
        package->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (package->elf && tide_elf_is_native(package->elf) && read_sections(package))
        return package;
    tide_debug_package_close(package);
    return NULL;
}

void tide_debug_package_close(struct tide_debug_package *package)
{
    if (!package)
        return;
    while (package->units) {
        struct unit *const unit = package->units;
        package->units = unit->next;
        free_unit(unit);
    }
    (void)elf_end(package->elf); /* NULL is fine */
    (void)close(package->fd);
    free(package);
}
