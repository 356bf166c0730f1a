/* symbol/debug_image.c - compressed debug information, decompressed as far as it is read.
 *
 * Only files of this machine's class and byte order get an image, and only sections that
 * zlib made.  The sizes are what the file says, held against what zlib can do; memory is
 * taken from the system when something is written there.  The contents are as the file
 * has them, so libdw's checks are as needed as ever.
 */
#include "symbol/debug_image.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/zeroed.h"
#include "symbol/inflate.h"

enum {
    TIDE_IMAGE_SECTIONS = 12,
    TIDE_IMAGE_ALIGN = 16,
    TIDE_ZLIB_RATIO_MAX = 1032, /* it cannot compress better */
    TIDE_UNIT_HEAD_MAX = 40,    /* the longest there is, of a type unit of 64 bits */
};

/* Those that are filled when asked for, in the order of enum tide_image_section; the
 * others. */
static const char *const NAMES[TIDE_IMAGE_SECTIONS] = {
    ".debug_info",     ".debug_line",        ".debug_abbrev", ".debug_str",
    ".debug_line_str", ".debug_str_offsets", ".debug_addr",   ".debug_ranges",
    ".debug_rnglists", ".debug_aranges",     ".debug_types",  ".gnu_debugaltlink",
};

struct section {
    const uint8_t *stored; /* borrowed from the file; NULL: it has none such */
    size_t stored_size;
    bool compressed;
    size_t size;                  /* decompressed */
    size_t at;                    /* in the image */
    size_t ready;                 /* so many bytes of it are */
    struct tide_inflate *inflate; /* owned; NULL: not begun */
};

struct tide_debug_image {
    uint8_t *bytes; /* owned: mapped */
    size_t size;
    Elf *elf; /* owned */
    struct section sections[TIDE_IMAGE_SECTIONS];
};

/* --- What there is ----------------------------------------------------------------- */

/* Note where the file has a SECTION; false when it cannot be taken over. */
static bool take_section(struct section *section, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *const data = elf_rawdata(scn, NULL);
    if (!data || !data->d_buf)
        return false;
    section->stored = data->d_buf;
    section->stored_size = data->d_size;
    section->size = data->d_size;
    if (!(header->sh_flags & SHF_COMPRESSED))
        return true;

    GElf_Chdr how;
    if (!gelf_getchdr(scn, &how) || how.ch_type != ELFCOMPRESS_ZLIB ||
        data->d_size < sizeof(Elf64_Chdr))
        return false;
    section->stored += sizeof(Elf64_Chdr);
    section->stored_size -= sizeof(Elf64_Chdr);
    section->size = how.ch_size;
    section->compressed = true;
    return section->stored_size < SIZE_MAX / TIDE_ZLIB_RATIO_MAX &&
           section->size <= section->stored_size * TIDE_ZLIB_RATIO_MAX;
}

/* The one of NAME that was not found yet; NULL when it is not wanted. */
static struct section *wanted(struct tide_debug_image *image, const char *name)
{
    for (int i = 0; name && i < TIDE_IMAGE_SECTIONS; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return image->sections[i].stored ? NULL : &image->sections[i];
    return NULL;
}

/* Find the sections in ELF; false when no image can be made or none is needed. */
static bool find_sections(struct tide_debug_image *image, Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    bool compressed = false;
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS ||
            header.sh_size == 0)
            continue;
        struct section *const section =
            wanted(image, elf_strptr(elf, names, header.sh_name));
        if (!section)
            continue;
        if (!take_section(section, scn, &header))
            return false;
        compressed = compressed || section->compressed;
    }
    return compressed && image->sections[TIDE_IMAGE_INFO].stored;
}

/* --- The file in memory ------------------------------------------------------------ */

/* Lay SIZE bytes out at *AT, behind *END; false when there is no end to it. */
static bool reserve(size_t *end, size_t size, size_t *at)
{
    if (size > SIZE_MAX / (2 * TIDE_IMAGE_SECTIONS))
        return false;
    *at = (*end + TIDE_IMAGE_ALIGN - 1) / TIDE_IMAGE_ALIGN * TIDE_IMAGE_ALIGN;
    *end = *at + size;
    return true;
}

/* Where the tables of the image begin. */
struct tables {
    size_t sections; /* none, those of NAMES, and the names */
    size_t names;    /* none, those of NAMES, and ".shstrtab" */
    size_t names_size;
};

/* Behind all stand some zeros, so that a string without end has one. */
static bool lay_out(struct tide_debug_image *image, struct tables *tables)
{
    static const size_t sections_size = (TIDE_IMAGE_SECTIONS + 2) * sizeof(Elf64_Shdr);
    size_t zeros;
    tables->names_size = 1 + sizeof(".shstrtab");
    for (int i = 0; i < TIDE_IMAGE_SECTIONS; i++)
        tables->names_size += strlen(NAMES[i]) + 1;
    image->size = sizeof(Elf64_Ehdr);
    bool fits = reserve(&image->size, sections_size, &tables->sections) &&
                reserve(&image->size, tables->names_size, &tables->names);
    for (int i = 0; i < TIDE_IMAGE_SECTIONS && fits; i++)
        fits = reserve(&image->size, image->sections[i].size, &image->sections[i].at);
    return fits && reserve(&image->size, TIDE_IMAGE_ALIGN, &zeros);
}

/* A section that is not there is one of no type. */
static void write_tables(struct tide_debug_image *image, const struct tables *tables,
                         const GElf_Ehdr *original)
{
    Elf64_Ehdr *const header = (Elf64_Ehdr *)(void *)image->bytes;
    Elf64_Shdr *const sections =
        (Elf64_Shdr *)(void *)(image->bytes + tables->sections);
    char *const names = (char *)image->bytes + tables->names;
    *header = *original;
    header->e_phoff = 0;
    header->e_phnum = 0;
    header->e_shoff = tables->sections;
    header->e_shentsize = sizeof(*sections);
    header->e_shnum = TIDE_IMAGE_SECTIONS + 2;
    header->e_shstrndx = TIDE_IMAGE_SECTIONS + 1;
    size_t name = 1;
    for (int i = 0; i < TIDE_IMAGE_SECTIONS; i++) {
        sections[i + 1] = (Elf64_Shdr){
            .sh_name = (Elf64_Word)name,
            .sh_type = image->sections[i].stored ? SHT_PROGBITS : SHT_NULL,
            .sh_offset = image->sections[i].at,
            .sh_size = image->sections[i].size,
            .sh_addralign = 1,
        };
        memcpy(names + name, NAMES[i], strlen(NAMES[i]));
        name += strlen(NAMES[i]) + 1;
    }
    memcpy(names + name, ".shstrtab", sizeof(".shstrtab"));
    sections[TIDE_IMAGE_SECTIONS + 1] = (Elf64_Shdr){
        .sh_name = (Elf64_Word)name,
        .sh_type = SHT_STRTAB,
        .sh_offset = tables->names,
        .sh_size = tables->names_size,
        .sh_addralign = 1,
    };
}

static bool make(struct tide_debug_image *image, Elf *elf)
{
    struct tables tables;
    GElf_Ehdr original;
    if (!gelf_getehdr(elf, &original) || !lay_out(image, &tables))
        return false;
    void *const bytes = mmap(NULL, image->size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    image->bytes = bytes;
    tide_wants_huge(bytes, image->size);
    write_tables(image, &tables, &original);
    image->elf = elf_memory(bytes, image->size);
    return image->elf != NULL;
}

/* --- Contents ---------------------------------------------------------------------- */

/* Make the first END bytes of SECTION ready. */
static bool fill(struct tide_debug_image *image, struct section *section, size_t end)
{
    if (end <= section->ready)
        return true;
    if (end > section->size)
        return false;
    uint8_t *const bytes = image->bytes + section->at;
    if (!section->compressed) {
        memcpy(bytes, section->stored, section->size);
        section->ready = section->size;
        return true;
    }
    if (!section->inflate)
        section->inflate = tide_inflate_open(section->stored, section->stored_size,
                                             bytes, section->size);
    if (!section->inflate || !tide_inflate_until(section->inflate, end))
        return false;
    section->ready = end;
    return true;
}

/* The old way has ".zdebug_info", and "ZLIB" with the size, highest byte first, before the
 * contents. */
static uint64_t unpacked_old(Elf_Scn *scn)
{
    enum { TIDE_SIGN = 4, TIDE_HEAD = 12 };
    const Elf_Data *const data = elf_rawdata(scn, NULL);
    uint64_t size = 0;
    if (!data || !data->d_buf || data->d_size < TIDE_HEAD ||
        memcmp(data->d_buf, "ZLIB", TIDE_SIGN) != 0)
        return 0;
    for (int i = TIDE_SIGN; i < TIDE_HEAD; i++)
        size = size << 8 | ((const uint8_t *)data->d_buf)[i];
    return size;
}

/* Bytes of the section SCN of that NAME, decompressed; 0: it is not compressed. */
static uint64_t unpacked(Elf_Scn *scn, const GElf_Shdr *header, const char *name)
{
    GElf_Chdr how;
    if (header->sh_type == SHT_NOBITS || !name)
        return 0;
    if (strncmp(name, ".zdebug_", strlen(".zdebug_")) == 0)
        return unpacked_old(scn);
    if (strncmp(name, ".debug_", strlen(".debug_")) != 0 ||
        !(header->sh_flags & SHF_COMPRESSED) || !gelf_getchdr(scn, &how))
        return 0;
    return how.ch_size;
}

uint64_t tide_debug_image_unpacked(const struct tide_elf_file *file)
{
    size_t names;
    uint64_t sum = 0;
    Elf_Scn *scn = NULL;
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return 0;
    while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            continue;
        const uint64_t size =
            unpacked(scn, &header, elf_strptr(file->elf, names, header.sh_name));
        sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
    }
    return sum;
}

struct tide_debug_image *tide_debug_image_open(const struct tide_elf_file *file)
{
    struct tide_debug_image *const image = calloc(1, sizeof(*image));
    if (!image)
        return NULL;
    bool made = tide_elf_is_native(file->elf) && find_sections(image, file->elf) &&
                make(image, file->elf);
    for (int i = TIDE_IMAGE_LAZY; i < TIDE_IMAGE_SECTIONS && made; i++)
        made = fill(image, &image->sections[i], image->sections[i].size);
    if (made)
        return image;
    tide_debug_image_close(image);
    return NULL;
}

void tide_debug_image_close(struct tide_debug_image *image)
{
    if (!image)
        return;
    (void)elf_end(image->elf); /* NULL is fine */
    for (int i = 0; i < TIDE_IMAGE_SECTIONS; i++)
        tide_inflate_close(image->sections[i].inflate);
    if (image->bytes)
        (void)munmap(image->bytes, image->size);
    free(image);
}

Elf *tide_debug_image_elf(const struct tide_debug_image *image)
{
    return image->elf;
}

/* --- Parts ------------------------------------------------------------------------- */

bool tide_debug_image_whole(struct tide_debug_image *image,
                            enum tide_image_section section)
{
    return !image ||
           fill(image, &image->sections[section], image->sections[section].size);
}

/* The length that stands at OFFSET is of four bytes or, behind four of all ones, of
 * eight.  It may be wrong, or no unit begin here.  libdw then reads what it takes for the
 * header, and looks for the unit that holds what is behind it, which may begin there: the
 * bytes of both headers must be the right ones, for libdw never forgets a unit. */
static bool fill_unit(struct tide_debug_image *image, struct section *section,
                      size_t offset)
{
    uint32_t length = 0;
    uint64_t longer;
    const uint8_t *const at = image->bytes + section->at + offset;
    const size_t left = section->size - offset;
    const size_t heads = 2 * TIDE_UNIT_HEAD_MAX;
    if (left < sizeof(length) ||
        !fill(image, section, offset + (left < heads ? left : heads)))
        return false;
    memcpy(&length, at, sizeof(length));
    offset += sizeof(length);
    if (length < UINT32_MAX)
        return fill(image, section, offset + length);
    if (!fill(image, section, offset + sizeof(longer)))
        return false;
    memcpy(&longer, at + sizeof(length), sizeof(longer));
    offset += sizeof(longer);
    return longer <= section->size - offset && fill(image, section, offset + longer);
}

bool tide_debug_image_part(struct tide_debug_image *image,
                           enum tide_image_section section, uint64_t offset)
{
    return !image || (offset < image->sections[section].size &&
                      fill_unit(image, &image->sections[section], offset));
}
