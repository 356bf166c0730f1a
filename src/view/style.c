/* view/style.c - how text is to look: width, colours, characters, units. */
#include "view/style.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

int tide_style_width(const char *columns_variable, int terminal_columns)
{
    long width = terminal_columns > 0 ? terminal_columns : TIDE_WIDTH_PIPED;
    if (columns_variable && *columns_variable) {
        char *end;
        const long asked = strtol(columns_variable, &end, 10);
        if (*end == '\0' && asked > 0)
            width = asked;
    }
    if (width < TIDE_WIDTH_MIN)
        return TIDE_WIDTH_MIN;
    return width > TIDE_WIDTH_MAX ? TIDE_WIDTH_MAX : (int)width;
}

bool tide_style_locale_is_utf8(const char *lc_all, const char *lc_ctype,
                               const char *lang)
{
    const char *locale = lc_all && *lc_all       ? lc_all
                         : lc_ctype && *lc_ctype ? lc_ctype
                         : lang                  ? lang
                                                 : "";
    return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

static int terminal_columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static bool wants_color(bool terminal, enum tide_color color)
{
    if (color != TIDE_COLOR_AUTO)
        return color == TIDE_COLOR_ALWAYS;
    const char *const no_color = getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe)
    const char *const term = getenv("TERM");         // NOLINT(concurrency-mt-unsafe)
    return terminal && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

struct tide_style tide_style_detect(int fd, enum tide_color color,
                                    enum tide_units units)
{
    /* The tools read their environment before they start any thread. */
    const char *const columns = getenv("COLUMNS");   // NOLINT(concurrency-mt-unsafe)
    const char *const lc_all = getenv("LC_ALL");     // NOLINT(concurrency-mt-unsafe)
    const char *const lc_ctype = getenv("LC_CTYPE"); // NOLINT(concurrency-mt-unsafe)
    const char *const lang = getenv("LANG");         // NOLINT(concurrency-mt-unsafe)
    const bool terminal = isatty(fd) == 1;
    return (struct tide_style){
        .width = tide_style_width(columns, terminal ? terminal_columns(fd) : 0),
        .fitted = terminal || (columns && *columns),
        .color = wants_color(terminal, color),
        .bars = terminal || color == TIDE_COLOR_ALWAYS,
        .utf8 = tide_style_locale_is_utf8(lc_all, lc_ctype, lang),
        .units = units,
    };
}

int tide_style_fit(int fd)
{
    const struct tide_style style =
        tide_style_detect(fd, TIDE_COLOR_NEVER, TIDE_UNITS_IEC);
    return style.fitted ? style.width : 0;
}

const char *tide_ink_start(enum tide_ink ink)
{
    static const char *const STARTS[] = {
        [TIDE_INK_PLAIN] = "",         [TIDE_INK_BOLD] = "\033[1m",
        [TIDE_INK_DIM] = "\033[2m",    [TIDE_INK_TITLE] = "\033[1;36m",
        [TIDE_INK_WATER] = "\033[36m", [TIDE_INK_HOT] = "\033[1;33m",
        [TIDE_INK_WARM] = "\033[33m",  [TIDE_INK_ALARM] = "\033[1;31m",
    };
    return STARTS[ink];
}

enum tide_ink tide_ink_share(uint64_t part, uint64_t whole)
{
    if (part > whole / 4)
        return TIDE_INK_HOT;
    return part > whole / 20 ? TIDE_INK_WARM : TIDE_INK_PLAIN;
}

const char *tide_glyph(const struct tide_style *style, enum tide_glyph glyph)
{
    static const char *const GLYPHS[TIDE_GLYPHS][2] = {
        [TIDE_GLYPH_ELLIPSIS] = {"...", "…"}, [TIDE_GLYPH_RULE] = {"-", "─"},
        [TIDE_GLYPH_FORK] = {"|- ", "├─ "},   [TIDE_GLYPH_LAST] = {"`- ", "└─ "},
        [TIDE_GLYPH_TRUNK] = {"|  ", "│  "},  [TIDE_GLYPH_GAP] = {"   ", "   "},
        [TIDE_GLYPH_INTO] = {">", "›"},       [TIDE_GLYPH_FROM] = {"<-", "←"},
        [TIDE_GLYPH_DOT] = {"-", "·"},        [TIDE_GLYPH_BULLET] = {"*", "●"},
        [TIDE_GLYPH_ABOUT] = {"+/-", "±"},    [TIDE_GLYPH_CREST] = {"^", "▲"},
        [TIDE_GLYPH_TIMES] = {"x", "×"},
    };
    return GLYPHS[glyph][style->utf8 ? 1 : 0];
}
