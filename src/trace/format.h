/* trace/format.h - the bytes of a trace file, and of the lanes that feed it.
 *
 * For: everybody.  This header allocates nothing and includes only <stdint.h>, so
 * the recorder may use it.  docs/format.md says the same in prose.
 *
 * A trace is a file header followed by chunks, nothing else:
 *
 *     header | chunk | chunk | ... | chunk(END)
 *
 * Glossary
 *   lane    one thread's stream of records.  A lane is re-used when its thread ends,
 *           so a process has as many lanes as it ever had threads alive at once.
 *   record  one thing that happened; one tag byte, then its fields.
 *   chunk   whole records of one lane, compressed and checksummed together.
 *   reset   a SYNC record: the coder forgets everything, so what follows can be
 *           decoded without what came before.  Where a chunk begins it forgets all but
 *           the stacks.
 *   number  the position of an event in the history of its slot (see "Order").
 *   word    a frame of a stack: kind in the upper bits, address or id below.
 *
 * Invariants
 *   1. All integers are little-endian.  A varint holds 7 bits a byte, lowest first, at
 *      most 10 bytes; zigzag maps signed to unsigned (0, -1, 1, -2 -> 0, 1, 2, 3).
 *   2. A chunk holds whole records.  Its raw size is at most TIDE_CHUNK_MAX.
 *   3. A chunk flagged RESET starts with SYNC.  One that is not goes on with the stacks
 *      that its lane's previous chunk (sequence - 1) left; one flagged GOES_ON with all
 *      that it left.
 *   4. Chunks of one lane stand in the file in the order of their sequence.
 *   5. Nothing in a chunk refers to a byte of another lane's chunks; what lanes share
 *      (modules, names, threads) travels in NOTES chunks, which may be read first.
 */
#ifndef TIDE_TRACE_FORMAT_H
#define TIDE_TRACE_FORMAT_H

#include <stdint.h>

/* --- The file ------------------------------------------------------------------ */

#define TIDE_FILE_MAGIC   "tidemark"
#define TIDE_FILE_VERSION 1u
#define TIDE_CHUNK_MAGIC  0x4b484354u     /* "TCHK" */
#define TIDE_CHUNK_MAX    (6144u * 1024u) /* raw bytes in a chunk, at most */
#define TIDE_NO_PROCESS   0xffffffffu     /* chunk says something of the whole run */

/* 64 bytes at offset 0. */
struct tide_format_header {
    char magic[8];             /* TIDE_FILE_MAGIC, without its final zero */
    uint32_t version;          /* TIDE_FILE_VERSION */
    uint32_t header_bytes;     /* 64: where the first chunk starts */
    uint64_t start_unix_ns;    /* wall clock when the run began */
    uint64_t start_ticks;      /* tick clock at that moment */
    uint64_t ticks_per_second; /* first estimate; CLOCK notes refine it */
    uint8_t id[16];            /* random */
    uint64_t checksum;         /* XXH3-64 of the 56 bytes before */
};

enum tide_chunk_kind {
    TIDE_CHUNK_EVENTS = 1, /* records of a lane */
    TIDE_CHUNK_NOTES = 2,  /* notes of a process: modules, names, threads */
    TIDE_CHUNK_RUN = 3,    /* notes of the collector: run, processes, clock, samples */
    TIDE_CHUNK_END = 4,    /* one END note; the file is complete */
};

enum tide_chunk_flag {
    TIDE_CHUNK_RESET = 1,    /* starts with SYNC: can be decoded alone */
    TIDE_CHUNK_PLAIN = 2,    /* stored, not compressed */
    TIDE_CHUNK_GOES_ON = 8,  /* EVENTS: nothing is forgotten where it begins */
    TIDE_CHUNK_COLUMNS = 16, /* EVENTS: by columns, see enum tide_column */
};

/* The payload of an EVENTS chunk by columns: for each column its length and its stored
 * length (varints), then the columns, each compressed on its own, or plain when the two
 * lengths are equal.  raw_bytes is the sum of the lengths.  A column holds one kind of
 * field of all records, in their order: what stands in a record is said below, and here in
 * which column each field is.  Without columns, the payload is the records themselves. */
enum tide_column {
    TIDE_COLUMN_TAGS,  /* tags, but for TIME */
    TIDE_COLUMN_TIMES, /* TIME: varint records since the one before or since the chunk
                                 began, then its field */
    TIDE_COLUMN_NUMBERS_LOW,  /* numbers: low bytes */
    TIDE_COLUMN_NUMBERS_HIGH, /* high bytes */
    TIDE_COLUMN_SIZES,        /* sizes of births: their first bytes */
    TIDE_COLUMN_SIZES_MORE,   /* the bytes after these */
    TIDE_COLUMN_PLACES_HIGH,  /* places of births: high bytes */
    TIDE_COLUMN_PLACES_LOW,   /* low bytes */
    TIDE_COLUMN_BIRTHS,       /* addresses of births: NEAR and FAR */
    TIDE_COLUMN_DEATHS,       /* addresses of deaths */
    TIDE_COLUMN_AGES_LOW,     /* ages of FREE_AGE: low bytes */
    TIDE_COLUMN_AGES_HIGH,    /* high bytes */
    TIDE_COLUMN_STACKS,       /* entries of RECENT */
    TIDE_COLUMN_FRAMES,       /* DELTA and LEAF */
    TIDE_COLUMN_REST,         /* everything else */
    TIDE_COLUMNS,
};

/* The most bytes that a payload takes in the file: lengths of columns included. */
#define TIDE_STORED_MAX (TIDE_CHUNK_MAX + TIDE_CHUNK_MAX / 128 + 8192u)

/* 64 bytes, then stored_bytes of payload, then the next chunk. */
struct tide_format_chunk {
    uint32_t magic;        /* TIDE_CHUNK_MAGIC */
    uint16_t kind;         /* enum tide_chunk_kind */
    uint16_t flags;        /* enum tide_chunk_flag */
    uint32_t stored_bytes; /* payload as it stands in the file */
    uint32_t raw_bytes;    /* payload when decompressed (zstd) */
    uint32_t process;      /* process index, or TIDE_NO_PROCESS */
    uint32_t lane;         /* EVENTS: lane number in its process; else 0 */
    uint32_t sequence;     /* EVENTS: 0, 1, 2... per (process, lane) */
    uint32_t reserved;     /* 0 */
    uint64_t first_ticks;  /* collector's clock: not later than the first record */
    uint64_t last_ticks;   /* not earlier than the last record */
    uint64_t reserved2;    /* 0 */
    uint64_t checksum;     /* XXH3-64 of the 56 bytes before and the stored payload */
};

/* --- Notes: payload of NOTES, RUN and END chunks --------------------------------
 *
 * A note is: varint kind, varint length, then length bytes.  Unknown kinds are
 * skipped, and bytes after the known fields of a kind are ignored, so both can grow.
 * "str" is varint length + bytes (UTF-8 or whatever the system gave).  Fields are
 * varints unless said otherwise. */
enum tide_note {
    /* By the process, in NOTES chunks. */
    TIDE_NOTE_PROCESS = 1,     /* pid, ppid, birth ticks, parent birth ticks (0: none),
                                  flags (enum tide_process_flag) */
    TIDE_NOTE_MODULE = 2,      /* id, first epoch, start, end (addresses), load bias,
                                  str build-id, str path */
    TIDE_NOTE_MODULE_GONE = 3, /* id, last epoch in which it was there */
    TIDE_NOTE_NAME = 4,        /* id, str: regions, labels, marks refer to ids */
    TIDE_NOTE_THREAD = 5,      /* lane, tid, ticks, str name: a thread took this lane;
                                  the same again with another name: it was renamed */
    TIDE_NOTE_RECORDER = 6,    /* private bytes of the recorder in the target, bytes
                                  reserved for its order table */
    TIDE_NOTE_WINDOW = 7,      /* name id (0: none), scope (0 process, 1 thread), tid,
                                  ticks of its start and its end; bytes requested, used,
                                  freed; calls that allocated, freed, failed; zigzag of
                                  the peak; smallest and largest size, bits of the
                                  standard deviation (a double) */
    TIDE_NOTE_ATTRIBUTE = 8,   /* name id, enum tide_attribute_type: EXTRA records will
                                  set it; said once for each type */
    TIDE_NOTE_VALUE = 9,       /* name id, name id of an attribute: regions with the
                                  first name are values of the second (Caliper's
                                  function=solve) */

    /* By the collector, in RUN chunks. */
    TIDE_NOTE_RUN = 32,           /* argc, then argc str; str cwd, str host,
                                     str tidemark version, str options */
    TIDE_NOTE_PROCESS_BEGIN = 33, /* process, pid, birth ticks, ticks seen, str exe,
                                     argc, then argc str; may be followed by MPI rank +
                                     1, 0: none */
    TIDE_NOTE_PROCESS_END = 34,   /* process, ticks, status known (0/1), wait status,
                                     dropped events, reason (enum tide_end); may be
                                     followed by 1: it had not said that it would end,
                                     else 0; and then by how many of the dropped events
                                     each enum tide_drop explains, in its order.  Of a
                                     main program that executed one that is not recorded
                                     it comes again, with the status of that one */
    TIDE_NOTE_CLOCK = 35,         /* ticks, unix ns: one point of the clock's line */
    TIDE_NOTE_RSS = 36,           /* process, ticks, RSS bytes, peak RSS bytes; exact
                                     with the ticks of an end whose status is known;
                                     may be followed by the bytes of it that are
                                     anonymous memory */
    TIDE_NOTE_TROUBLE = 37,       /* str: one line for the report's honesty section;
                                     processes may write it as well */
    TIDE_NOTE_RINGS = 38,         /* bytes of a segment that targets shared with the
                                     collector, when it was closed */
    TIDE_NOTE_TEXTS = 39,         /* number of the first, then str up to the note's end:
                                     names that SYMBOLS refer to by number, from 1 on */
    TIDE_NOTE_SYMBOLS = 40,       /* str path, str build-id in hex, then for each frame,
                                     up to the note's end: address less the one before
                                     (as in the ELF file: of the call, not the return),
                                     count, then count times, innermost first: function,
                                     file (numbers of texts, 0: unknown), line */
    TIDE_NOTE_UNRECORDED = 43, /* pid (0: not known), ticks at which it began and ended
                                     (0: not known), 1: nobody told of it, it was seen (so
                                     there may be more), str program, str reason: a program
                                     that should have been recorded and was not */
    TIDE_NOTE_NAMING =
        44,              /* frames that stood in stacks, how many of them SYMBOLS name,
                                  how many nobody looked for, for want of time: the run put
                                  its names into the trace */
    TIDE_NOTE_FILE = 45, /* str path, str build-id in hex, size, ns of its last change:
                                  what a module's file was when the run ended */
    TIDE_NOTE_TOTALS =
        46, /* events (ALLOC, FREE, MOVE_*, MAP), bytes asked for, frees; then
                                  three lists, each a count and so many numbers: births by
                                  enum tide_alloc_kind, MAP by call, EXTRA by kind; good when
                                  the file is complete */

    /* In the END chunk. */
    TIDE_NOTE_END = 64, /* ticks, chunks before this one, collector peak RSS bytes,
                           main program's wait status, processes */
};

enum tide_process_flag {
    TIDE_PROCESS_FORKED = 1, /* began by fork: frees of unknown blocks are inherited */
    TIDE_PROCESS_MAIN = 2,   /* not used by the target; the reader's */
};

enum tide_end {
    TIDE_END_EXITED = 0,
    TIDE_END_EXECED = 1,
    TIDE_END_LOST = 2, /* still running when the collector stopped */
};

/* --- Records of a lane: payload of EVENTS chunks --------------------------------
 *
 * The tag byte: operation in bits 0-3, the rest per operation.
 *
 *   bit 4    numbered: the event's number (u16) follows the tag
 *   bits 5-6 ALLOC, MOVE_END, MAP: how the stack is given (enum tide_stack_mode)
 *            FREE, MOVE_BEGIN: bit 5 far: address is a varint, not a delta;
 *                              bit 6 a stack mode byte and a stack end the record
 *            MOVE_BACK: bit 5 gone: the old block was freed (realloc(p, 0))
 *   bit 7    ALLOC, MOVE_END: shaped: a shape byte follows (else kind as in the lane's
 *            previous ALLOC or MOVE_END, usable size as predicted)
 *
 * near address: varint zigzag((address - base) / 8).  The base of a birth (ALLOC,
 * MOVE_END) is where the next block would stand if memory were handed out in a row, 8
 * bytes after the end of the lane's previous birth; that of a death (FREE, MOVE_BEGIN) is
 * the address of its previous death.  Both are 0 at first.  Far: varint.
 *
 * The place of a birth: u8 high, then by high
 *   below TIDE_PLACE_NEAR  u8 low: v = high << 8 | low.  v < TIDE_DEAD: where the lane's
 *                          last death but v was.  Else 8 bytes after the end of its last
 *                          birth but v - TIDE_DEAD, which has to be one that is remembered
 *   TIDE_PLACE_NEAR        near address
 *   TIDE_PLACE_FAR         varint address
 *
 *   op            fields after the tag [and number]
 *   ALLOC         [shape u8], varint size, [varint usable - size], [align u8: log2],
 *                 place, stack
 *   ALLOC_HERE    as ALLOC without the place, which is the one expected
 *   ALLOC_LIKE    place, stack (NEXT or RECENT): size, usable size, alignment and kind
 *                 are those of the last birth with this stack; not shaped
 *   ALLOC_LIKE_HERE  stack: both
 *   FREE          address, [mode u8, stack]
 *   FREE_AGE      u16 age, [mode u8, stack]
 *   MOVE_BEGIN    address, [mode u8, stack]         realloc's old block, before the call
 *   MOVE_END      as ALLOC                          its new block, after the call
 *   MOVE_BACK     -                                 the call failed: the old block is
 *                                                   live again (numbered: on its slot)
 *   TIME          varint ticks since the lane's last TIME or SYNC
 *   SYNC          varint ticks (absolute), varint epoch, varint tid, varint flags:
 *                 1 = from here on the lane takes numbers
 *   MAP           varint call (enum tide_map_call), varint address, varint length,
 *                 varint argument 1, varint argument 2, stack
 *   EXTRA         varint kind (enum tide_extra), varint length, length bytes
 *
 * Stack, by mode:
 *   NEXT    nothing: the stack that stood after the present one last time, or, when
 *           there was none since the chunk began, the present one again
 *   DELTA   varint pop, varint push, push frame tokens, outermost first: off the present
 *           stack, then onto it.  The result is the present stack from here on, and
 *           entry n % TIDE_RECENTS of the table of recent stacks, n counting from 0
 *           after a reset
 *   RECENT  varint index of an entry: it is the present stack from here on, as after
 *           NEXT
 *   LEAF    varint word: one frame only; the present stack stays as it was
 * With each recent stack goes what the last birth with it was like, in this chunk.
 *
 * Ages.  The last TIDE_AGES births of the lane are remembered, unless they were forgotten since;
 * age 0 is the newest.  FREE_AGE frees the block of that birth.  So are the addresses of its last
 * TIDE_DEAD deaths, MOVE_BEGIN among them.
 *
 * The address expected.  Allocators like to give out again what came back last.  When
 * FREE_AGE frees a block of a class below TIDE_CLASSES (tide_class_of() its usable size),
 * its address goes on top of the pile of that class, or, when TIDE_PILE are there already,
 * on the heap behind it, which holds the last TIDE_HEAP.  A birth (not MOVE_END) of the
 * class takes the topmost one off the pile, and finds it right or not.  When the pile is
 * empty, one is taken from the heap, and more, each on top of the pile, until it is full or
 * the heap empty: of classes below TIDE_LIFO_CLASSES the newest first, else the oldest.
 * piles.h has it in C.
 *
 * A frame token is a varint v.  v = 0: the word that stood here last time, that is, after the
 * same word before it; or for the first frame of a DELTA, after the same first frame of
 * the DELTA before; words are the same that have the same entry of the dictionary.  words.h
 * has it in C.  Else v even: entry v/2 - 1 of the dictionary of words.  v odd: a new
 * word, zigzag(word - the last new word) = v >> 1, modulo 2^64, which also becomes entry
 * tide_word_slot(word).  At first the word before, and the last new one, are 0.
 *
 * What is forgotten.  A reset forgets everything: no recent stacks, no present one.  Where
 * a chunk begins, unless it is flagged GOES_ON, the rest is forgotten: dictionary, which stack
 * stood after which, what births were like, ages, deaths, piles, bases, previous kind (MALLOC). */
enum tide_op {
    TIDE_OP_ALLOC = 1,
    TIDE_OP_FREE = 2,
    TIDE_OP_MOVE_BEGIN = 3,
    TIDE_OP_MOVE_END = 4,
    TIDE_OP_MOVE_BACK = 5,
    TIDE_OP_TIME = 6,
    TIDE_OP_SYNC = 7,
    TIDE_OP_MAP = 8,
    TIDE_OP_EXTRA = 9,
    TIDE_OP_ALLOC_HERE = 10,
    TIDE_OP_ALLOC_LIKE = 11,
    TIDE_OP_ALLOC_LIKE_HERE = 12,
    TIDE_OP_FREE_AGE = 13,
};

#define TIDE_TAG_OP(tag)    ((tag)&15u)
#define TIDE_TAG_NUMBERED   0x10u
#define TIDE_TAG_MODE_SHIFT 5
#define TIDE_TAG_MODE(tag)  (((tag) >> TIDE_TAG_MODE_SHIFT) & 3u)
#define TIDE_TAG_FAR        0x20u /* FREE, MOVE_BEGIN */
#define TIDE_TAG_STACKED    0x40u /* FREE, MOVE_BEGIN */
#define TIDE_TAG_GONE       0x20u /* MOVE_BACK */
#define TIDE_TAG_SHAPED     0x80u /* ALLOC, MOVE_END */

enum tide_stack_mode {
    TIDE_STACK_NEXT = 0,
    TIDE_STACK_DELTA = 1,
    TIDE_STACK_RECENT = 2,
    TIDE_STACK_LEAF = 3,
};

/* The shape byte: enum tide_alloc_kind in bits 0-4, then flags. */
#define TIDE_SHAPE_KIND(shape) ((shape)&31u)
#define TIDE_SHAPE_SLACK       0x20u /* usable - size follows */
#define TIDE_SHAPE_ALIGN       0x40u /* log2 of the alignment asked for follows */

/* The high byte of a place: see "The place of a birth". */
#define TIDE_PLACE_NEAR 0xfeu
#define TIDE_PLACE_FAR  0xffu

/* Which call made a block. */
enum tide_alloc_kind {
    TIDE_KIND_MALLOC = 0,
    TIDE_KIND_CALLOC = 1,
    TIDE_KIND_REALLOC = 2,
    TIDE_KIND_REALLOCARRAY = 3,
    TIDE_KIND_POSIX_MEMALIGN = 4,
    TIDE_KIND_ALIGNED_ALLOC = 5,
    TIDE_KIND_MEMALIGN = 6,
    TIDE_KIND_VALLOC = 7,
    TIDE_KIND_PVALLOC = 8,
    TIDE_KIND_NEW = 9,
    TIDE_KIND_NEW_ARRAY = 10,
    TIDE_KINDS = 11,
};

/* The usable size that a shapeless ALLOC implies: glibc's, for blocks from its heap. */
#define TIDE_USABLE_GLIBC(size) \
    ((uint64_t)(size) <= 24 ? (uint64_t)24 : ((((uint64_t)(size) + 23) & ~15ull) - 8))

enum tide_map_call {
    TIDE_MAP_MMAP = 0,     /* address, length, prot, flags | TIDE_MAP_FILE */
    TIDE_MAP_MUNMAP = 1,   /* address, length, 0, 0 */
    TIDE_MAP_MREMAP = 2,   /* new address, length, old address, length (0: it stays) */
    TIDE_MAP_MPROTECT = 3, /* address, length, prot, 0 */
    TIDE_MAP_MADVISE = 4,  /* address, length, advice, 0 */
    TIDE_MAP_CALLS = 5,
};
#define TIDE_MAP_FILE (1ull << 40) /* in argument 2 of MMAP: a file is mapped */

/* EXTRA records: unknown kinds are skipped. */
enum tide_extra {
    TIDE_EXTRA_THREAD_BEGIN = 1, /* varint tid: a thread takes the lane */
    TIDE_EXTRA_THREAD_END = 2,   /* nothing */
    TIDE_EXTRA_NUMBERS = 3,      /* nothing: the process has more than one thread from
                                    here; other lanes begin after this record */
    TIDE_EXTRA_DROPPED = 4,      /* varint events lost, varint enum tide_drop */
    TIDE_EXTRA_FAILED = 5, /* varint alloc kind, varint size: a call returned NULL */
    TIDE_EXTRA_CUT = 6,    /* varint stacks cut at the depth limit since the last */
    TIDE_EXTRA_REGION_BEGIN = 7, /* varint name id */
    TIDE_EXTRA_REGION_END = 8,   /* varint name id */
    TIDE_EXTRA_LABEL = 9,        /* varint address, varint name id, varint bytes */
    TIDE_EXTRA_EVENT = 10,       /* varint id: an iteration of the outer loop began */
    TIDE_EXTRA_SNAPSHOT = 11,    /* varint name id */
    TIDE_EXTRA_LOOP_BEGIN = 12,  /* varint name id: a region that is a loop; its end is
                                    REGION_END */
    TIDE_EXTRA_ITERATION = 13,   /* varint zigzag number: of the innermost loop */
    TIDE_EXTRA_ITERATION_END = 14, /* nothing */
    TIDE_EXTRA_REGION_BASE = 15,   /* varint level, varint name id, varint 1: it can end
                                    the region: one that the thread is in without having
                                    entered it in this lane; level 0 comes first and ends
                                    all regions before; name 0: there is none */
    TIDE_EXTRA_PHASE_BEGIN = 16,   /* varint name id: of the whole process */
    TIDE_EXTRA_PHASE_END = 17,     /* varint name id */
    TIDE_EXTRA_UNLABEL = 18,       /* varint address */
    TIDE_EXTRA_SHAPE = 19,         /* varint address, varint place, varint value: of the
                                    block's label, which was just given; place 0: bytes of
                                    an element, 1 to 8: extents, slowest first */
    TIDE_EXTRA_POOL_ALLOC = 20, /* varint address, varint bytes, varint name id of the
                                    pool << 32 | name id of the label, 0: none */
    TIDE_EXTRA_POOL_FREE = 21,  /* varint address, varint name id of the pool */
    TIDE_EXTRA_PAUSE = 22,      /* varint scope (0 process, 1 thread): births are not
                                    recorded from here on */
    TIDE_EXTRA_RESUME = 23,     /* varint scope */
    TIDE_EXTRA_ATTRIBUTE = 24,  /* varint name id, varint enum tide_attribute_type |
                                    enum tide_attribute_step << 4, varint value: what the
                                    thread calls a value that rows of queries have */
    TIDE_EXTRA_WINDOW_BEGIN =
        25,                     /* varint name id (0: none), varint scope (0 process, 1
                                    thread): a counting window opens; WINDOW notes have
                                    what it counted */
    TIDE_EXTRA_WINDOW_END = 26, /* the same: it closes */
};

/* Values of attributes: integers are zigzag, doubles their bits, strings name ids. */
enum tide_attribute_type {
    TIDE_ATTRIBUTE_NOTHING = 0, /* END and UNSET */
    TIDE_ATTRIBUTE_INT = 1,
    TIDE_ATTRIBUTE_DOUBLE = 2,
    TIDE_ATTRIBUTE_STRING = 3,
    TIDE_ATTRIBUTE_POINTER = 4,
};
enum tide_attribute_step {
    TIDE_ATTRIBUTE_SET = 0,   /* in place of the newest value of that name */
    TIDE_ATTRIBUTE_BEGIN = 1, /* it hides the one before, until END */
    TIDE_ATTRIBUTE_END = 2,
    TIDE_ATTRIBUTE_UNSET = 3, /* all values of that name */
};
#define TIDE_ATTRIBUTE_HOW(type, step) ((uint64_t)(type) | (uint64_t)(step) << 4)

/* Why events were dropped. */
enum tide_drop {
    TIDE_DROP_NESTED = 0,    /* in a signal handler that interrupted the recorder */
    TIDE_DROP_EARLY = 1,     /* before the recorder could start */
    TIDE_DROP_COLLECTOR = 2, /* the collector took nothing for 2 s */
    TIDE_DROP_MEMORY = 3,    /* no memory for a lane */
    TIDE_DROP_STOPPED = 4,   /* the collector had stopped recording: a full disk */
    TIDE_DROP_SHUT_OFF = 5,  /* the program had shut itself off from the system */
    TIDE_DROPS = 6,
};

/* --- Words: one frame of a stack ------------------------------------------------- */

enum tide_frame_kind {
    TIDE_FRAME_NATIVE = 0, /* the low bits are a return address (or a pc: see LEAF) */
    TIDE_FRAME_PYTHON = 1, /* name id of the function, reserved */
    TIDE_FRAME_SYNTHETIC = 2, /* enum tide_synthetic */
};
#define TIDE_WORD_KIND_SHIFT 60
#define TIDE_WORD_VALUE_MASK ((1ull << TIDE_WORD_KIND_SHIFT) - 1)
#define TIDE_WORD(kind, v) \
    (((uint64_t)(kind) << TIDE_WORD_KIND_SHIFT) | ((uint64_t)(v)&TIDE_WORD_VALUE_MASK))
#define TIDE_WORD_KIND(word) ((unsigned)((word) >> TIDE_WORD_KIND_SHIFT) & 3u)
#define TIDE_WORD_MASK       (UINT64_MAX >> 2) /* the bits that words have */

enum tide_synthetic {
    TIDE_SYNTHETIC_CUT = 1,     /* outermost: the depth limit cut the stack here */
    TIDE_SYNTHETIC_EARLY = 2,   /* before the recorder started: no stack taken */
    TIDE_SYNTHETIC_UNKNOWN = 3, /* the walk could not start or go on */
    TIDE_SYNTHETICS = 4,
};

/* --- What coder and decoder of a lane remember alike ---------------------------------- */

#define TIDE_RECENTS      4096u
#define TIDE_AGES         8192u
#define TIDE_DEAD         4096u
#define TIDE_CLASSES      64u
#define TIDE_LIFO_CLASSES 8u
#define TIDE_PILE         7u
#define TIDE_HEAP         64u

static inline uint64_t tide_class_of(uint64_t usable)
{
    return usable >> 4;
}

#define TIDE_DICTIONARY_SLOTS 4096u
static inline uint32_t tide_word_slot(uint64_t word)
{
    return (uint32_t)((word * 0x9e3779b97f4a7c15ull) >> 52);
}

#define TIDE_STACK_MAX 2048u /* frames, the highest settable depth limit + 1 */

/* --- Order across lanes ------------------------------------------------------------
 *
 * Every event on an address advances the counter of that address's slot by one.  An
 * event carries the low 16 bits of the count it found ("number") when the slot's
 * previous event was of another lane; without a number, the slot's previous event is
 * earlier in the same lane.  So the reader keeps one count per slot: an event without
 * number is ready, one with number n is ready when count % 65536 == n; taking an event
 * adds one to the count.  MAP events all use the one slot TIDE_SLOT_MAP.
 *
 * A process that never had a second thread takes no numbers and counts no slots: its
 * lane has no NUMBERS record.  Events before NUMBERS do not count; other lanes start
 * after it.  MOVE_BACK counts on the slot of the block that comes back. */
#define TIDE_SLOT_BITS 22u
#define TIDE_SLOT_MAP  (1u << TIDE_SLOT_BITS)
static inline uint32_t tide_slot_of(uint64_t address)
{
    const uint64_t far = (address >> 26) * 0x9e3779b1u;
    return (uint32_t)(((address >> 5) + far) & ((1u << TIDE_SLOT_BITS) - 1));
}

#endif
