/* model/sources.h - lines of source files, where they are at hand.
 *
 * For: view/, cli/, tests/.  The names come from debug information, perhaps from a trace
 * that somebody else made: so only plain files are opened, of bounded size, for reading, and
 * only in folders that are allowed.
 * What is in them is text of anybody's: whoever prints it makes it safe.
 */
#ifndef TIDE_MODEL_SOURCES_H
#define TIDE_MODEL_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

enum { TIDE_SNIPPET_AROUND = 2, TIDE_SNIPPET_LINES = 2 * TIDE_SNIPPET_AROUND + 1 };

struct tide_sources; /* opaque: see sources.c */

/* Files changed after UNIX_NS are said to be.  NULL without memory. */
struct tide_sources *tide_sources_new(uint64_t unix_ns);
void tide_sources_free(struct tide_sources *sources);

/* Files below FOLDER may be shown, wherever links seem to have them.  HIDDEN: also those in
 * folders whose name begins with a dot, where secrets are kept.  Before this is called no
 * file may.  TIDE_ENOENT: there is no such folder. */
enum tide_status tide_sources_allow(struct tide_sources *sources, const char *folder,
                                    bool hidden);

/* Some lines, without their ends. */
struct tide_snippet {
    const char *problem; /* why there are none; NULL: there are */
    bool changed;        /* the file is younger than the run */
    uint32_t first;      /* number of the first line */
    uint32_t count;
    struct tide_source_line {
        const char *start; /* borrowed: good until the next question */
        size_t length;
    } lines[TIDE_SNIPPET_LINES];
};

/* The lines around LINE of FILE. */
void tide_sources_find(struct tide_sources *sources, const char *file, uint32_t line,
                       struct tide_snippet *out);

#endif
