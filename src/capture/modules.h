/* capture/modules.h - which ELF file an address belongs to, said once per file.
 *
 * For: capture/.  Modules are noticed when the first frame in them is written, by
 * _dl_find_object: no lock of the loader is ever taken.  An unloaded module ends an
 * epoch, so that addresses used again are told apart.
 */
#ifndef TIDE_CAPTURE_MODULES_H
#define TIDE_CAPTURE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/self.h"

/* Remember the program's own path.  Called once, at start. */
void tide_modules_init(void);

/* ADDRESS is about to be written for the first time since a reset, to a lane in EPOCH: make
 * sure the collector knows its module, and that it was there by then. */
void tide_modules_see(uint64_t address, uint64_t epoch) TIDE_COLD;

/* The GNU build-id among the notes of one PT_NOTE segment; 0 bytes when it is not there. */
uint32_t tide_notes_build_id(const uint8_t *note, const uint8_t *end,
                             const uint8_t **id);

/* Does the loader keep what it knows of a module at PLACE? */
bool tide_modules_has_map(const void *place) TIDE_COLD;

/* Libraries may have gone: find out which. */
void tide_modules_check(void) TIDE_COLD;

#endif
