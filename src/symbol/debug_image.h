/* symbol/debug_image.h - compressed debug information, decompressed as far as it is read.
 *
 * For: symbol/.  libdw decompresses every section whole before it reads anything: up to a
 * quarter of a report, for the few frames that a program has in libc.  An image is an ELF
 * file in memory with the sections that are read here, each as large as it will be; those
 * with functions and lines are filled from their beginning to what somebody asks for.
 * Whoever makes libdw look at one of them asks before.
 */
#ifndef TIDE_SYMBOL_DEBUG_IMAGE_H
#define TIDE_SYMBOL_DEBUG_IMAGE_H

#include "symbol/elf_file.h"

/* The sections that are filled when they are asked for; all others are there at once. */
enum tide_image_section {
    TIDE_IMAGE_INFO,
    TIDE_IMAGE_LINES,
    TIDE_IMAGE_LAZY, /* how many there are */
};

struct tide_debug_image; /* opaque */

/* The image of FILE (borrowed: must outlive it); NULL when its sections are not
 * compressed, when they are so in a way not known here, or without memory: then FILE
 * itself must do. */
struct tide_debug_image *tide_debug_image_open(const struct tide_elf_file *file);
void tide_debug_image_close(struct tide_debug_image *image);

/* Bytes that the compressed debug information of FILE takes when all of it is
 * decompressed, as the file says: 0 when it has none. */
uint64_t tide_debug_image_unpacked(const struct tide_elf_file *file);

/* Borrowed from the image. */
Elf *tide_debug_image_elf(const struct tide_debug_image *image);

/* Make SECTION ready, or the unit or line table that begins at OFFSET of it, with all that
 * is before.  False when it is damaged or not there.  All is ready where IMAGE is NULL. */
bool tide_debug_image_whole(struct tide_debug_image *image,
                            enum tide_image_section section);
bool tide_debug_image_part(struct tide_debug_image *image,
                           enum tide_image_section section, uint64_t offset);

#endif
