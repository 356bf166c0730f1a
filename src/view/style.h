/* view/style.h - how text is to look: width, colours, characters, units.
 *
 * For: view/, cli/, tests/.  What may be used is found out once (tide_style_detect) and
 * handed to every view, so that tests can ask for any combination.
 */
#ifndef TIDE_VIEW_STYLE_H
#define TIDE_VIEW_STYLE_H

#include <stdbool.h>

#include "view/units.h"

enum {
    TIDE_WIDTH_MIN = 60,   /* narrower terminals wrap */
    TIDE_WIDTH_MAX = 400,  /* wider lines cannot be read */
    TIDE_WIDTH_PIPED = 80, /* neither terminal nor COLUMNS */
};

enum tide_color {
    TIDE_COLOR_AUTO,
    TIDE_COLOR_ALWAYS,
    TIDE_COLOR_NEVER,
};

struct tide_style {
    int width; /* columns; no line is longer */
    bool
        fitted; /* a terminal or COLUMNS says so: tables that scripts read keep to it */
    bool color; /* escape sequences for colours */
    bool bars;  /* bars and curves: on a terminal */
    bool utf8;  /* characters beyond ASCII */
    enum tide_units units;
};

/* The style for output to descriptor FD.  Width: COLUMNS, else the terminal's, else 80.
 * Colours: as asked for, or on a terminal unless NO_COLOR is set or TERM is "dumb".
 * UTF-8: as the first of LC_ALL, LC_CTYPE, LANG that is set says. */
struct tide_style tide_style_detect(int fd, enum tide_color color,
                                    enum tide_units units);

/* The width that tables which scripts read keep to on descriptor FD; 0: any, since neither
 * a terminal nor COLUMNS says how wide lines may be. */
int tide_style_fit(int fd);

/* The parts that need no descriptor, for tests. */
int tide_style_width(const char *columns_variable, int terminal_columns);
bool tide_style_locale_is_utf8(const char *lc_all, const char *lc_ctype,
                               const char *lang);

/* --- Ink --- */

enum tide_ink {
    TIDE_INK_PLAIN,
    TIDE_INK_BOLD,
    TIDE_INK_DIM,
    TIDE_INK_TITLE, /* of a section */
    TIDE_INK_WATER, /* bars and curves */
    TIDE_INK_HOT,   /* large shares */
    TIDE_INK_WARM,  /* middling shares */
    TIDE_INK_ALARM, /* what the reader must not overlook */
};
/* The escape sequence that starts INK, "" for PLAIN. */
const char *tide_ink_start(enum tide_ink ink);
#define TIDE_INK_END "\033[0m"
/* The ink for a share of the whole. */
enum tide_ink tide_ink_share(uint64_t part, uint64_t whole);

/* --- Characters that have an ASCII stand-in --- */

enum tide_glyph {
    TIDE_GLYPH_ELLIPSIS, /* … */
    TIDE_GLYPH_RULE,     /* ─ */
    TIDE_GLYPH_FORK,     /* ├─ */
    TIDE_GLYPH_LAST,     /* └─ */
    TIDE_GLYPH_TRUNK,    /* │ and two blanks */
    TIDE_GLYPH_GAP,      /* three blanks */
    TIDE_GLYPH_INTO,     /* › : calls */
    TIDE_GLYPH_FROM,     /* ← : called by */
    TIDE_GLYPH_DOT,      /* · */
    TIDE_GLYPH_BULLET,   /* ● */
    TIDE_GLYPH_ABOUT,    /* ± */
    TIDE_GLYPH_CREST,    /* ▲ */
    TIDE_GLYPH_TIMES,    /* × */
    TIDE_GLYPHS,
};
const char *tide_glyph(const struct tide_style *style, enum tide_glyph glyph);

#endif
