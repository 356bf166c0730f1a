/* capture/cfi_table.h - .eh_frame_hdr: which entry of .eh_frame is for a pc.
 *
 * For: cfi_row.c.
 */
#ifndef TIDE_CAPTURE_CFI_TABLE_H
#define TIDE_CAPTURE_CFI_TABLE_H

#include <stdint.h>

#include "capture/frame_tables.h"

/* The FDE for PC by the table at HEADER, which is in TABLES, or, when that is NULL, where the
 * target has it.  NULL: there is none, or the table is not of the usual form. */
const uint8_t *tide_cfi_search(struct tide_frame_tables *tables, uintptr_t header,
                               uintptr_t pc);

#endif
