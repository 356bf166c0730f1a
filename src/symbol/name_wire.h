/* symbol/name_wire.h - what the process that reads names is asked, and answers.
 *
 * For: name_child.c, name_server.c.  Both ends are one program, so numbers have the
 * machine's order; but the reader of answers believes none of them, since files that
 * nobody trusts were read at the other end.
 */
#ifndef TIDE_SYMBOL_NAME_WIRE_H
#define TIDE_SYMBOL_NAME_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbolizer.h"

enum tide_name_request_kind {
    TIDE_NAME_OPEN, /* SIZE bytes follow: path, build-id and debug root, each with a 0 */
    TIDE_NAME_FIND, /* SIZE addresses follow, and get an answer each */
    TIDE_NAME_CLOSE,
};

struct tide_name_request {
    uint32_t kind;
    uint32_t module; /* its number; OPEN of a known one closes that first */
    uint32_t size;
    uint32_t symbols_only;       /* OPEN: leave the debug information alone */
    struct tide_file_known file; /* OPEN: what the file was */
};

/* The answer for one address; COUNT locations follow, innermost first. */
struct tide_name_answer {
    uint32_t status; /* enum tide_status: after a failure there are no more answers */
    uint32_t state;  /* enum tide_module_state */
    uint32_t silent; /* no debuginfod server answers */
    uint32_t count;
};

/* A text that was sent lately is known by its place among the last ones.  Bytes follow when
 * it is new: those of the function, then those of the file. */
#define TIDE_NAME_NONE UINT32_MAX
enum { TIDE_NAME_PLACES = 4096 };
struct tide_name_location {
    uint64_t start;                      /* as in struct tide_location */
    uint32_t function, file;             /* places; TIDE_NAME_NONE: not known */
    uint32_t function_bytes, file_bytes; /* of a new text; 0: it is in its place */
    uint32_t line;
    uint32_t unused; /* 0 */
};

/* Nothing that a file says makes these longer. */
enum {
    TIDE_NAME_TEXT_MOST = 1 << 24,
    TIDE_NAME_LOCATIONS_MOST = 1 << 16,
    TIDE_NAME_ADDRESSES_MOST = 1 << 24,
};

/* Read or write all SIZE bytes; false when that is not possible. */
bool tide_name_receive(int fd, void *bytes, size_t size);
bool tide_name_send(int fd, const void *bytes, size_t size);

#endif
