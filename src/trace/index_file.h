/* trace/index_file.h - internal: the bytes of NAME.tide.idx.
 *
 * For: index_out.c and index_in.c.
 *
 *     header | section (CHECKPOINT) | ... | section (STACKS)
 *
 * A section is its head, then its bytes, compressed as one zstd frame.  A file without
 * STACKS is no index.
 */
#ifndef TIDE_TRACE_INDEX_FILE_H
#define TIDE_TRACE_INDEX_FILE_H

#include <stdint.h>

#define TIDE_INDEX_MAGIC   "tideindx"
#define TIDE_SECTION_MAGIC 0x58444954u /* "TIDX" */

enum {
    TIDE_INDEX_VERSION = 1,
    TIDE_INDEX_BUFFER = 64 * 1024, /* compressed bytes, on either side */
    TIDE_CHECKPOINTS_MAX = 1024,
};

/* 64 bytes at offset 0. */
struct tide_index_header {
    char magic[8];
    uint32_t version;
    uint32_t model_version;
    uint8_t trace_id[16];
    uint64_t trace_bytes;
    uint64_t trace_good_bytes;
    uint64_t reserved;
    uint64_t checksum; /* XXH3-64 of the 56 bytes before */
};

enum tide_section_kind {
    TIDE_SECTION_CHECKPOINT =
        1,                   /* u64 length, replay's state, then the model's bytes */
    TIDE_SECTION_STACKS = 2, /* u64 frames, u64 nodes; frames: u8 kind, u32 module,
                                    u64 value; nodes from 1 on: u32 parent, u32 frame */
};

/* 48 bytes, then stored_bytes. */
struct tide_section_head {
    uint32_t magic;
    uint32_t kind;         /* enum tide_section_kind */
    uint64_t stored_bytes; /* as they stand in the file */
    uint64_t raw_bytes;    /* when decompressed */
    uint64_t ticks;        /* CHECKPOINT: all events before it have ticks up to these */
    uint64_t payload_sum;  /* XXH3-64 of the stored bytes */
    uint64_t checksum;     /* XXH3-64 of the 40 bytes before */
};

_Static_assert(sizeof(struct tide_index_header) == 64, "no holes");
_Static_assert(sizeof(struct tide_section_head) == 48, "no holes");

#endif
