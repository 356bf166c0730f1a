/* symbol/debug_file.c - where a module's debug information lives. */
#include "symbol/debug_file.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_file.h"
#include "base/text.h"

/* Open the file at PATH (given back here) and keep it if it has ID. */
static struct tide_elf_file *open_with_id(struct tide_text *path,
                                          const struct tide_build_id *id)
{
    struct tide_elf_file *file = NULL;
    if (!path->failed && path->bytes)
        (void)tide_elf_file_open(path->bytes, &file);
    tide_text_release(path);
    if (file && !tide_build_id_equal(&file->id, id)) {
        tide_elf_file_close(file);
        file = NULL;
    }
    return file;
}

struct tide_elf_file *tide_debug_file_by_id(const char *root,
                                            const struct tide_build_id *id)
{
    if (id->length < 2)
        return NULL;
    struct tide_text path = {0};
    tide_text_addf(&path, "%s/.build-id/%02x/", root, id->bytes[0]);
    for (size_t i = 1; i < id->length; i++)
        tide_text_addf(&path, "%02x", id->bytes[i]);
    tide_text_add(&path, ".debug");
    return open_with_id(&path, id);
}

/* --- .gnu_debuglink --------------------------------------------------------------- */

/* CRC-32 as in IEEE 802.3, bit by bit through a table of nibbles: enough for the rare
 * file that has no build-id. */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    static const uint32_t nibbles[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ nibbles[crc & 15];
        crc = (crc >> 4) ^ nibbles[crc & 15];
    }
    return ~crc;
}

/* What a module says of its debug file. */
struct link {
    const char *name; /* borrowed from the module */
    uint32_t crc;
    const struct tide_build_id *id;
};

static bool is_linked(const struct tide_elf_file *file, const struct link *link)
{
    if (!file->has_dwarf && !file->has_symtab)
        return false;
    if (link->id->length > 0 && file->id.length > 0)
        return tide_build_id_equal(link->id, &file->id);
    size_t size;
    const char *const bytes = elf_rawfile(file->elf, &size);
    return bytes && checksum((const unsigned char *)bytes, size) == link->crc;
}

/* Try the link's name BELOW the FOLDER under ROOT. */
static struct tide_elf_file *try_link(const struct link *link, const char *root,
                                      const char *folder, const char *below)
{
    struct tide_text path = {0};
    tide_text_addf(&path, "%s%s%s%s", root, folder, below, link->name);
    struct tide_elf_file *file = NULL;
    if (!path.failed)
        (void)tide_elf_file_open(path.bytes, &file);
    tide_text_release(&path);
    if (file && !is_linked(file, link)) {
        tide_elf_file_close(file);
        file = NULL;
    }
    return file;
}

/* FOLDER ends with a slash. */
static struct tide_elf_file *try_places(const struct link *link, const char *root,
                                        const char *folder)
{
    struct tide_elf_file *file = try_link(link, "", folder, "");
    if (!file)
        file = try_link(link, "", folder, ".debug/");
    if (!file)
        file = try_link(link, root, folder, "");
    return file;
}

/* The folder of PATH, with its slash; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

struct tide_elf_file *tide_debug_file_by_link(const char *root,
                                              const struct tide_elf_file *module)
{
    GElf_Word crc;
    const char *const name = dwelf_elf_gnu_debuglink(module->elf, &crc);
    if (!name || name[0] == '\0' || strchr(name, '/'))
        return NULL;

    const struct link link = {.name = name, .crc = crc, .id = &module->id};
    char *const real = realpath(module->path, NULL);
    char *const folder = folder_of(real ? real : module->path);
    struct tide_elf_file *const file = folder ? try_places(&link, root, folder) : NULL;
    free(folder);
    free(real);
    return file;
}

/* --- .gnu_debugaltlink ------------------------------------------------------------ */

/* The path NAME, as FILE means it. */
static void add_alternate_path(struct tide_text *path, const struct tide_elf_file *file,
                               const char *name)
{
    if (name[0] != '/') {
        char *const folder = folder_of(file->path);
        if (folder)
            tide_text_add(path, folder);
        else
            path->failed = true;
        free(folder);
    }
    tide_text_add(path, name);
}

/* NAME under ROOT, when it is meant to be under the usual root. */
static struct tide_elf_file *try_under_root(const char *root, const char *name,
                                            const struct tide_build_id *id)
{
    const size_t length = strlen(TIDE_DEBUG_ROOT "/");
    if (strncmp(name, TIDE_DEBUG_ROOT "/", length) != 0)
        return NULL;
    struct tide_text path = {0};
    tide_text_addf(&path, "%s/%s", root, name + length);
    return open_with_id(&path, id);
}

struct tide_elf_file *tide_debug_file_alternate(const char *root,
                                                const struct tide_elf_file *file,
                                                Dwarf *dwarf, bool *safe)
{
    *safe = true;
    const char *name;
    const void *bytes;
    const ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes);
    if (length <= 0)
        return NULL;
    if (length > TIDE_BUILD_ID_MAX) {
        *safe = false;
        return NULL;
    }

    struct tide_build_id id = {.length = (size_t)length};
    memcpy(id.bytes, bytes, id.length);
    struct tide_elf_file *alternate = tide_debug_file_by_id(root, &id);
    if (!alternate)
        alternate = try_under_root(root, name, &id);
    if (!alternate) {
        struct tide_text path = {0};
        add_alternate_path(&path, file, name);
        *safe = !path.failed && !tide_plain_file_barred(path.bytes);
        alternate = open_with_id(&path, &id);
    }
    return alternate;
}
