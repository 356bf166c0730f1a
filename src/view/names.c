/* view/names.c - names from the outside world, made safe and made to fit.
 *
 * Demangled C++ and Rust names are shortened by their brackets only, without a grammar:
 * a wrong guess makes an odd but still safe and fitting name.
 */
#include "view/names.h"

#include <stdint.h>
#include <string.h>

#include "view/utf8.h"

/* How much of a name's brackets is shown. */
enum brevity {
    TIDE_BREVITY_ARGUMENTS = 1, /* (...) */
    TIDE_BREVITY_BARE = 2,      /* and no last (...) at all */
    TIDE_BREVITY_TEMPLATES = 3, /* and <...> */
};

/* Brackets are matched in time that grows with the square of the length: a name longer
 * than this is nobody's to read, and only cut. */
enum { TIDE_BRACKETS_MAX = 4096 };

/* Columns that say something. */
enum {
    TIDE_CLASS_LEAST = 6,
    TIDE_MODULE_LEAST = 3,
};

void tide_name_safe(struct tide_text *out, const char *name,
                    const struct tide_style *style)
{
    if (style->utf8)
        tide_text_add_safe(out, name);
    for (; name && *name && !style->utf8; name++) {
        if (*name >= ' ' && *name <= '~')
            tide_text_add_bytes(out, name, 1);
        else
            tide_text_addf(out, "\\x%02x", (unsigned char)*name);
    }
}

/* --- Brackets ---------------------------------------------------------------------- */

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* If an operator's name stands at AT: its length, of which no < > ( ) is a bracket. */
static size_t operator_length(const char *name, size_t at)
{
    static const char *const SIGNS[] = {"<<=", ">>=", "<=>", "->*", "()", "<<",
                                        ">>",  "<=",  ">=",  "->",  "<",  ">"};
    static const char WORD[] = "operator";
    const size_t length = sizeof(WORD) - 1;
    if (!starts(name + at, WORD))
        return 0;
    const bool inside_word = at > 0 && name[at - 1] != ':' && name[at - 1] != ' ';
    if (inside_word)
        return 0;
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++)
        if (starts(name + at + length, SIGNS[i]))
            return length + strlen(SIGNS[i]);
    return 0;
}

/* Where the bracket that opens at AT is closed; 0 when it is not.  "->" closes nothing. */
static size_t closing(const char *name, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; name[i]; i++) {
        const char c = name[i];
        if (strchr("<({[", c))
            depth++;
        else if (strchr(")}]", c) || (c == '>' && name[i - 1] != '-'))
            depth--;
        if (depth == 0)
            return i;
    }
    return 0;
}

/* Does the part of NAME that may hold a return type end at AT? */
static bool ends_type(const char *name, size_t at)
{
    return strchr("[{", name[at]) || starts(name + at, "operator") ||
           (name[at] == '(' && !starts(name + at, "(anonymous"));
}

void tide_name_unnamed(struct tide_text *out, const char *module, size_t count,
                       const struct tide_style *style)
{
    tide_name_safe(out, tide_name_base(module), style);
    tide_text_addf(out, " (%zu unnamed)", count);
}

const char *tide_name_start(const char *name)
{
    size_t start = 0;
    for (size_t at = 0; name[at] && !ends_type(name, at); at++) {
        if (name[at] == ' ' && name[at + 1] && name[at + 1] != '[')
            start = at + 1;
        if (name[at] != '<' && name[at] != '(')
            continue;
        const size_t close = closing(name, at);
        if (close == 0)
            break;
        at = close;
    }
    return name + start;
}

/* Of a group of brackets at AT: does BREVITY hide what is inside? */
static bool hides(const char *name, size_t at, enum brevity brevity)
{
    if (name[at] == '<')
        return brevity >= TIDE_BREVITY_TEMPLATES &&
               at > 0; /* Rust's <T as Trait>::f: only what nests in it */
    return name[at] == '(' && brevity >= TIDE_BREVITY_ARGUMENTS &&
           name[at + 1] != ')' && !starts(name + at, "(anonymous") &&
           !starts(name + at, "({");
}

/* A parameter list ends the name, but for words like "const". */
static bool ends_name(const char *name, size_t close)
{
    const char *const rest = name + close + 1;
    return rest[0] == '\0' || (rest[0] == ' ' && !strchr(rest, '(')) ||
           (rest[0] == '[' && !strstr(rest, "::"));
}

/* Add what stands for the group from AT to CLOSE. */
static void add_group(struct tide_text *out, const char *name, size_t at,
                      const struct tide_style *style)
{
    const char *const dots = tide_glyph(style, TIDE_GLYPH_ELLIPSIS);
    tide_text_addf(out, name[at] == '<' ? "<%s>" : "(%s)", dots);
}

static void add_brief(struct tide_text *out, const char *name, enum brevity brevity,
                      const struct tide_style *style)
{
    size_t at = 0;
    name = tide_name_start(name);
    while (name[at]) {
        size_t step = operator_length(name, at);
        const bool opens = step == 0 && (name[at] == '<' || name[at] == '(');
        const size_t close = opens ? closing(name, at) : 0;
        if (close > 0 && name[at] == '(' && brevity >= TIDE_BREVITY_BARE &&
            ends_name(name, close))
            return;
        if (close > 0 && hides(name, at, brevity)) {
            add_group(out, name, at, style);
            at = close + 1;
            continue;
        }
        step = step ? step : 1;
        tide_text_add_bytes(out, name + at, step);
        at += step;
    }
}

/* --- Fitting ----------------------------------------------------------------------- */

/* Add SAFE without its middle: HEAD columns of its start, dots, the rest of its end. */
static void add_ends(struct tide_text *out, const char *safe, int columns, int head,
                     const struct tide_style *style)
{
    const char *dots = tide_glyph(style, TIDE_GLYPH_ELLIPSIS);
    const int wide = tide_columns(dots);
    if (columns <= wide) {
        tide_text_add_bytes(out, dots, tide_columns_prefix(dots, columns));
        return;
    }
    tide_text_add_bytes(out, safe, tide_columns_prefix(safe, head));
    tide_text_add(out, dots);
    tide_text_add(out, safe + tide_columns_suffix(safe, columns - wide - head));
}

/* Where the last part of a qualified name starts that ends before END. */
static const char *last_part(const char *name, const char *end)
{
    const char *part = name;
    for (size_t at = 0; name + at < end; at++) {
        if (at > 0 && (name[at] == '<' || name[at] == '(')) {
            const size_t close = closing(name, at);
            at = close > 0 ? close : at;
        } else if (name[at] == ':' && name[at + 1] == ':' && name + at + 2 < end) {
            part = name + at + 2;
        }
    }
    return part;
}

/* The bytes of the start of a qualified name that fit into COLUMNS and end with "::":
 * "std::" says more than "std::vec". */
static size_t whole_parts(const char *safe, int columns)
{
    size_t end = tide_columns_prefix(safe, columns);
    while (end >= 2 && !(safe[end - 1] == ':' && safe[end - 2] == ':'))
        end--;
    return end < 2 ? 0 : end;
}

/* The last two parts of a qualified name: a method without its class says little. */
static const char *class_part(const char *safe)
{
    const char *const last = last_part(safe, safe + strlen(safe));
    return last == safe ? safe : last_part(safe, last - 2);
}

/* Add a qualified name as its first parts, dots, and as many of its last parts as there is
 * room for, two or more; false when there is no room for these. */
static bool add_parts(struct tide_text *out, const char *safe, int columns,
                      const struct tide_style *style)
{
    const char *const dots = tide_glyph(style, TIDE_GLYPH_ELLIPSIS);
    const char *last = class_part(safe);
    const int room = columns - tide_columns(dots) - 2;
    const int left = room - tide_columns(last);
    if (last == safe || left < 0)
        return false;
    const int third = columns / 3;
    const size_t start = whole_parts(safe, left < third ? left : third);
    const int head = tide_columns(safe) - tide_columns(safe + start);
    for (const char *more = last_part(safe, last - 2);
         more > safe + start && head + tide_columns(more) <= room;
         more = last_part(safe, last - 2))
        last = more;
    tide_text_add_bytes(out, safe, start);
    tide_text_addf(out, "%s::%s", dots, last);
    return true;
}

/* Add the end of a qualified name, with some of its class at least if there is room for
 * that; false when the last part alone is too long. */
static bool add_tail(struct tide_text *out, const char *safe, int columns,
                     const struct tide_style *style)
{
    const char *const dots = tide_glyph(style, TIDE_GLYPH_ELLIPSIS);
    const char *const last = last_part(safe, safe + strlen(safe));
    const int room = columns - tide_columns(dots);
    const int left = room - tide_columns(last) - 2;
    if (last == safe || left < 0)
        return false;
    if (left >= TIDE_CLASS_LEAST) {
        const char *const tail = safe + tide_columns_suffix(safe, room);
        tide_text_addf(out, "%s%s", dots, tail + strspn(tail, ":"));
    } else {
        tide_text_addf(out, "%s::%s", dots, last);
    }
    return true;
}

/* Where "+0x1f2e" stands in a name that is made of it; else NULL. */
static const char *offset_of(const char *safe)
{
    const char *const offset = strrchr(safe, '+');
    const bool is_offset = offset && starts(offset, "+0x") &&
                           !offset[strspn(offset, "+0123456789abcdefx")];
    return is_offset ? offset : NULL;
}

/* Add "libfoo.so+0x1f2e", which stands for a function without a name, without the end of
 * its module; false when SAFE is no such name, or has no room. */
static bool add_offset(struct tide_text *out, const char *safe, int columns,
                       const struct tide_style *style)
{
    const char *const offset = strrchr(safe, '+');
    const char *const dots = tide_glyph(style, TIDE_GLYPH_ELLIPSIS);
    if (!offset || !starts(offset, "+0x") ||
        offset[strspn(offset, "+0123456789abcdefx")])
        return false;
    const int room = columns - tide_columns(dots) - tide_columns(offset);
    if (room < 0)
        return false;
    if (room >= TIDE_MODULE_LEAST)
        tide_text_add_bytes(out, safe, tide_columns_prefix(safe, room));
    tide_text_addf(out, "%s%s", dots, offset);
    return true;
}

static const char *bytes_of(const struct tide_text *text)
{
    return text->bytes ? text->bytes : "";
}

void tide_name_fit(struct tide_text *out, const char *name, int columns,
                   const struct tide_style *style)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, name, style);
    if (tide_columns(bytes_of(&safe)) <= columns)
        tide_text_add(out, bytes_of(&safe));
    else
        add_ends(out, bytes_of(&safe), columns, (columns - 1) / 2, style);
    out->failed |= safe.failed;
    tide_text_release(&safe);
}

void tide_name_function(struct tide_text *out, const char *name, int columns,
                        const struct tide_style *style)
{
    struct tide_text safe = {0}, shorter = {0};
    tide_name_safe(&safe, name, style);
    const char *best = bytes_of(&safe);
    for (int brevity = TIDE_BREVITY_ARGUMENTS;
         brevity <= TIDE_BREVITY_TEMPLATES && tide_columns(best) > columns &&
         safe.length <= TIDE_BRACKETS_MAX;
         brevity++) {
        tide_text_clear(&shorter);
        add_brief(&shorter, bytes_of(&safe), (enum brevity)brevity, style);
        best = bytes_of(&shorter);
    }
    if (tide_columns(best) <= columns)
        tide_text_add(out, best);
    else if (safe.length > TIDE_BRACKETS_MAX ||
             (!add_offset(out, best, columns, style) &&
              !add_parts(out, best, columns, style) &&
              !add_tail(out, best, columns, style)))
        add_ends(out, best, columns, (columns - 1) / 2, style);
    out->failed |= safe.failed || shorter.failed;
    tide_text_release(&safe);
    tide_text_release(&shorter);
}

int tide_name_least(const char *name, const struct tide_style *style)
{
    enum { TIDE_ENDS_LEAST = 12 };
    struct tide_text brief = {0};
    tide_name_brief(&brief, name, style);
    const char *const safe = bytes_of(&brief);
    const char *const offset = offset_of(safe);
    const char *const last = last_part(safe, safe + strlen(safe));
    const int dots = tide_columns(tide_glyph(style, TIDE_GLYPH_ELLIPSIS));
    int least = tide_columns(safe);
    if (offset)
        least = dots + tide_columns(offset);
    else if (last != safe)
        least = dots + 2 + tide_columns(last);
    else if (least > TIDE_ENDS_LEAST)
        least = TIDE_ENDS_LEAST;
    tide_text_release(&brief);
    return least;
}

void tide_name_brief(struct tide_text *out, const char *name,
                     const struct tide_style *style)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, name, style);
    if (safe.length <= TIDE_BRACKETS_MAX)
        add_brief(out, bytes_of(&safe), TIDE_BREVITY_TEMPLATES, style);
    else
        add_ends(out, bytes_of(&safe), TIDE_WIDTH_MAX, TIDE_WIDTH_MAX / 2, style);
    out->failed |= safe.failed;
    tide_text_release(&safe);
}

const char *tide_name_base(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
