/* symbol/elf_file.h - one ELF file: a module, or the file with its debug information.
 *
 * For: symbol/, tests/.  Where debug files are found is debug_file.h's matter.
 */
#ifndef TIDE_SYMBOL_ELF_FILE_H
#define TIDE_SYMBOL_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

#include <tidemark/status.h>

#include "symbol/symbolizer.h"

/* The longest build-id that is believed; they have 8 to 20 bytes. */
#define TIDE_BUILD_ID_MAX 64

struct tide_build_id {
    uint8_t bytes[TIDE_BUILD_ID_MAX];
    size_t length; /* 0: none */
};

struct tide_elf_file {
    Elf *elf;    /* owned */
    char *path;  /* owned: as it was opened; NULL: it is in memory */
    void *image; /* owned: that memory; NULL: it is a file */
    struct tide_build_id id;
    struct tide_file_known known; /* what the file is now */
    bool has_dwarf;
    bool has_symtab; /* a full symbol table, not only the dynamic one */
};

/* Open the executable or shared object (or the debug file of one) at PATH.  Anything
 * but a regular file is refused, so that a FIFO or a device cannot hold us up.  No
 * descriptor stays open. */
enum tide_status tide_elf_file_open(const char *path, struct tide_elf_file **out);
/* Open the ELF file that lies in the SIZE bytes at IMAGE.  They are its own from here on, also
 * after a failure. */
enum tide_status tide_elf_file_of_memory(void *image, size_t size,
                                         struct tide_elf_file **out);
void tide_elf_file_close(struct tide_elf_file *file);

/* Is it of 64 bits and in this machine's order of bytes, so that it can be read as it
 * stands? */
bool tide_elf_is_native(Elf *elf);

/* Read HEX into ID; false when it is not a build-id.  "" is one, of length 0. */
bool tide_build_id_parse(struct tide_build_id *id, const char *hex);
bool tide_build_id_equal(const struct tide_build_id *a, const struct tide_build_id *b);

#endif
