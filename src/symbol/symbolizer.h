/* symbol/symbolizer.h - address in an ELF file -> functions, files, lines.
 *
 * For: model/, tests/.  Knows nothing of traces.  One symbolizer serves one module; its
 * tables (symbols, compilation units, inlined ranges, lines) are built once, on the
 * first question that needs them, and then searched, since asking libdw per address is
 * a hundred times slower.  A symbolizer belongs to one thread at a time.
 */
#ifndef TIDE_SYMBOL_SYMBOLIZER_H
#define TIDE_SYMBOL_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

/* One answer: innermost inlined function first, the real one last. */
struct tide_location {
    const char *function; /* demangled; NULL when unknown; dies with the symbolizer */
    const char *file;     /* NULL when unknown */
    uint32_t line;        /* 0 when unknown */
    uint64_t
        start; /* of a function that has no name: where it begins; 0 when unknown */
};

struct tide_symbolizer; /* opaque */
struct tide_debuginfod; /* see symbol/debuginfod.h */
struct tide_name_child; /* see symbol/name_child.h */

/* Why names are missing, if any are. */
enum tide_module_state {
    TIDE_MODULE_READ,  /* there is a table of names, which may have gaps */
    TIDE_MODULE_GONE,  /* no such file */
    TIDE_MODULE_OTHER, /* another file has its place: the build-id differs, or without
                          one size or time */
    TIDE_MODULE_STRIPPED, /* only the names that it exports are known */
    TIDE_MODULE_TOO_BIG,  /* its debug information needs more memory than there is */
    TIDE_MODULE_BROKEN, /* its debug information breaks the reader, or takes too long */
    TIDE_MODULE_STATES,
};

/* What a module's file was when it ran; zeros: that is not known. */
struct tide_file_known {
    uint64_t bytes, mtime_ns;
};

struct tide_symbolizer_options {
    struct tide_file_known file; /* it tells files without build-id apart */
    const char *debug_root; /* where .build-id folders live; NULL: /usr/lib/debug */
    struct tide_debuginfod *debuginfod; /* borrowed: asked for what is not here; NULL:
                                           nobody is */
    struct tide_name_child *child; /* borrowed: the process that reads the files and
                                           asks its own servers; NULL: this one does */
    bool symbols_only;             /* leave the debug information alone */
};

/* Open the module at PATH; BUILD_ID is lower-case hex or "".  If the file is gone or
 * is another one, its debug file is looked for by build-id all the same.  Nothing is
 * fetched from the network, unless OPTIONS say so.  TIDE_OK also when no file is found: then nothing
 * is known of any address. */
enum tide_status tide_symbolizer_open(const char *path, const char *build_id,
                                      const struct tide_symbolizer_options *options,
                                      struct tide_symbolizer **out);
void tide_symbolizer_close(struct tide_symbolizer *symbolizer);

/* What stands at ADDRESS (as in the ELF file: without load bias).  *OUT points at COUNT
 * locations that live as long as the symbolizer.  COUNT is 0 when nothing is known. */
enum tide_status tide_symbolizer_find(struct tide_symbolizer *symbolizer,
                                      uint64_t address,
                                      const struct tide_location **out, size_t *count);

/* COUNT ADDRESSES will be asked for: a child answers them at once, rather than one by one.
 * Only want of memory is a failure. */
enum tide_status tide_symbolizer_expect(struct tide_symbolizer *symbolizer,
                                        const uint64_t *addresses, size_t count);

/* What there is to be asked. */
enum tide_module_state tide_symbolizer_state(const struct tide_symbolizer *symbolizer);

/* NAME demangled (C++ Itanium, Rust legacy and v0), or a copy; NULL without memory.
 * The caller frees it. */
char *tide_demangle(const char *name);

#endif
