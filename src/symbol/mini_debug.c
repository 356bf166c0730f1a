/* symbol/mini_debug.c - the symbol table that a stripped module brings along, compressed.
 *
 * The section may say that it becomes anything: no more is decompressed than a symbol table can
 * sensibly have, nor than half of the memory that is left.
 */
#include "symbol/mini_debug.h"

#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_memory.h"

#define TIDE_MINI_MOST (256ull << 20) /* bytes decompressed */
#define TIDE_MINI_MEMORY \
    (68ull << 20) /* of the decompressor: xz -9 makes it take 65 MiB */
enum { TIDE_MINI_FIRST = 64 * 1024 };

struct unpacked {
    uint8_t *bytes; /* owned */
    size_t length, capacity;
};

/* The contents of section .gnu_debugdata of MODULE, borrowed; NULL: there is none. */
static const Elf_Data *find_section(const struct tide_elf_file *module)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(module->elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(module->elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
            continue;
        const char *const name = elf_strptr(module->elf, names, header.sh_name);
        if (name && strcmp(name, ".gnu_debugdata") == 0)
            return elf_rawdata(section, NULL);
    }
    return NULL;
}

static bool widen(struct unpacked *out)
{
    const uint64_t left = tide_data_left();
    const size_t capacity = out->capacity ? out->capacity * 2 : TIDE_MINI_FIRST;
    uint8_t *const moved = capacity <= TIDE_MINI_MOST && capacity <= left / 2
                               ? realloc(out->bytes, capacity)
                               : NULL;
    if (!moved)
        return false;
    out->bytes = moved;
    out->capacity = capacity;
    return true;
}

/* Decompress all of DATA; false: it is damaged, or too large. */
static bool unpack(const Elf_Data *data, struct unpacked *out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret code = lzma_stream_decoder(&stream, TIDE_MINI_MEMORY, 0);
    stream.next_in = data->d_buf;
    stream.avail_in = data->d_size;
    while (code == LZMA_OK) {
        if (out->length == out->capacity && !widen(out))
            break;
        stream.next_out = out->bytes + out->length;
        stream.avail_out = out->capacity - out->length;
        code = lzma_code(&stream, LZMA_FINISH);
        out->length = out->capacity - stream.avail_out;
    }
    lzma_end(&stream);
    return code == LZMA_STREAM_END;
}

struct tide_elf_file *tide_mini_debug_open(const struct tide_elf_file *module)
{
    const Elf_Data *const data = find_section(module);
    struct unpacked image = {0};
    struct tide_elf_file *file = NULL;
    if (data && data->d_buf && data->d_size > 0 && unpack(data, &image))
        (void)tide_elf_file_of_memory(image.bytes, image.length, &file);
    else
        free(image.bytes);
    if (file && !file->has_symtab) {
        tide_elf_file_close(file);
        file = NULL;
    }
    return file;
}
