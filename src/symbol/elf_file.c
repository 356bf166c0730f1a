/* symbol/elf_file.c - one ELF file: a module, or what holds its debug information. */
#include "symbol/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain_file.h"

bool tide_build_id_equal(const struct tide_build_id *a, const struct tide_build_id *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return -1;
}

bool tide_build_id_parse(struct tide_build_id *id, const char *hex)
{
    *id = (struct tide_build_id){0};
    const size_t digits = strlen(hex);
    if (digits % 2 != 0 || digits / 2 > TIDE_BUILD_ID_MAX)
        return false;
    for (size_t i = 0; i < digits / 2; i++) {
        const int high = hex_value(hex[2 * i]);
        const int low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        id->bytes[i] = (uint8_t)(high * 16 + low);
    }
    id->length = digits / 2;
    return true;
}

bool tide_elf_is_native(Elf *elf)
{
    const int order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    const char *const ident = elf_getident(elf, NULL);
    return ident && ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == order;
}

static void read_build_id(struct tide_elf_file *file)
{
    const void *bytes;
    const ssize_t length = dwelf_elf_gnu_build_id(file->elf, &bytes);
    if (length <= 0 || length > TIDE_BUILD_ID_MAX)
        return;
    memcpy(file->id.bytes, bytes, (size_t)length);
    file->id.length = (size_t)length;
}

/* Note which tables are there.  What strip took away is NOBITS or gone. */
static void look_at_sections(struct tide_elf_file *file)
{
    size_t names;
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            header.sh_size == 0)
            continue;
        const char *const name = elf_strptr(file->elf, names, header.sh_name);
        if (header.sh_type == SHT_SYMTAB)
            file->has_symtab = true;
        else if (name && (strcmp(name, ".debug_info") == 0 ||
                          strcmp(name, ".zdebug_info") == 0))
            file->has_dwarf = true;
    }
}

/* Relocatable files are refused: their sections all begin at 0. */
static bool is_loadable(Elf *elf)
{
    GElf_Ehdr header;
    return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/* What FILE->elf has. */
static enum tide_status look_at(struct tide_elf_file *file)
{
    if (!file->elf || !is_loadable(file->elf))
        return TIDE_ECORRUPT;
    read_build_id(file);
    look_at_sections(file);
    return TIDE_OK;
}

static enum tide_status load(struct tide_elf_file *file, int fd)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return TIDE_ESYSTEM;
    file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const enum tide_status status = look_at(file);
    return status || elf_cntl(file->elf, ELF_C_FDREAD) == 0 ? status : TIDE_ECORRUPT;
}

enum tide_status tide_elf_file_of_memory(void *image, size_t size,
                                         struct tide_elf_file **out)
{
    struct tide_elf_file *const file = *out = calloc(1, sizeof(*file));
    if (!file) {
        free(image);
        return TIDE_ENOMEM;
    }
    file->image = image;
    enum tide_status status = TIDE_ESYSTEM;
    if (elf_version(EV_CURRENT) != EV_NONE) {
        file->elf = elf_memory(image, size);
        status = look_at(file);
    }
    if (status) {
        tide_elf_file_close(file);
        *out = NULL;
    }
    return status;
}

enum tide_status tide_elf_file_open(const char *path, struct tide_elf_file **out)
{
    *out = NULL;
    struct stat about;
    const int fd = tide_plain_file_open(path, 0, &about);
    if (fd < 0)
        return errno == ENOENT || errno == TIDE_ENOTPLAIN ? TIDE_ENOENT : TIDE_EIO;

    enum tide_status status = TIDE_ENOMEM;
    struct tide_elf_file *const file = calloc(1, sizeof(*file));
    if (!file)
        goto close_fd;
    file->path = strdup(path);
    if (!file->path)
        goto close_file;
    file->known = (struct tide_file_known){(uint64_t)about.st_size,
                                           (uint64_t)about.st_mtim.tv_sec * 1000000000 +
                                               (uint64_t)about.st_mtim.tv_nsec};
    status = load(file, fd);
    if (status)
        goto close_file;
    close(fd);
    *out = file;
    return TIDE_OK;

close_file:
    tide_elf_file_close(file);
close_fd:
    close(fd);
    return status;
}

void tide_elf_file_close(struct tide_elf_file *file)
{
    if (!file)
        return;
    (void)elf_end(file->elf); /* NULL is fine */
    free(file->image);
    free(file->path);
    free(file);
}
