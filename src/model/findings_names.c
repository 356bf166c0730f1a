/* model/findings_names.c - how findings call what they name: short enough for a sentence.
 */
#include <string.h>

#include "model/amounts.h"
#include "model/findings_parts.h"

enum {
    TIDE_NAME_LONG = 48,   /* without parameters then */
    TIDE_NAME_LONGER = 80, /* and without template arguments */
    TIDE_NAME_TRIES = 16,  /* brackets of one name that do not close */
};

/* The end of what NAME opens at its first byte, a bracket; NULL: it does not close, or is part
 * of an operator's name. */
static const char *find_close(const char *name)
{
    const char open = *name, close = open == '<' ? '>' : ')';
    int depth = 0;
    for (const char *at = name; *at; at++) {
        depth += (*at == open) - (*at == close && at[-1] != '-');
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Add NAME, with "..." in place of what stands in brackets that begin with OPEN. */
static void add_shorter(struct tide_text *out, const char *name, char open)
{
    static const char word[] = "operator";
    const size_t before = sizeof(word) - 1;
    int tries = TIDE_NAME_TRIES; /* each looks at all the rest */
    for (const char *at = name; *at; at++) {
        const bool opens =
            *at == open && tries > 0 && strncmp(at, "(anonymous", 10) != 0 &&
            ((size_t)(at - name) < before || memcmp(at - before, word, before) != 0);
        const char *const end = opens ? find_close(at) : NULL;
        tries -= opens && !end;
        if (!end || end == at + 1) {
            tide_text_add_bytes(out, at, 1);
            continue;
        }
        tide_text_add(out, open == '<' ? "<...>" : "(...)");
        at = end;
    }
}

void tide_found_name(struct tide_text *out, const char *name)
{
    struct tide_text plain = {0};
    if (strlen(name) <= TIDE_NAME_LONG) {
        tide_text_add(out, name);
        return;
    }
    add_shorter(&plain, name, '(');
    if (plain.length > TIDE_NAME_LONGER)
        add_shorter(out, plain.bytes, '<');
    else
        tide_text_add(out, plain.bytes ? plain.bytes : "");
    out->failed |= plain.failed;
    tide_text_release(&plain);
}

/* Heaps that a language's runtime maps: who called it is no news, and what lies in them is not
 * known. */
static const char *runtime_heap(const struct tide_function *function)
{
    static const struct {
        const char *module, *name, *words;
    } HEAPS[] = {
        {"libjvm", "", "Java's heap (libjvm.so)"},
        {"libpython", "", "Python's heap of small objects"},
        {"python3", "", "Python's heap of small objects"},
        {"node", "", "The heap of V8 (node)"},
        {"", "runtime.", "Go's heap"},
        {"", "x_cgo_mmap", "Go's heap"},
    };
    const char *const base = tide_path_base(function->module);
    for (size_t i = 0; i < sizeof(HEAPS) / sizeof(HEAPS[0]); i++)
        if (strncmp(base, HEAPS[i].module, strlen(HEAPS[i].module)) == 0 &&
            strncmp(function->name, HEAPS[i].name, strlen(HEAPS[i].name)) == 0)
            return HEAPS[i].words;
    return NULL;
}

bool tide_found_heap(struct tide_text *out, const struct tide_function *function)
{
    const char *const words = runtime_heap(function);
    if (words)
        tide_text_add(out, words);
    return words != NULL;
}

void tide_found_who(struct tide_text *out, const struct tide_paths *paths, size_t at,
                    const struct tide_found *found)
{
    const struct tide_call *const call = &paths->calls[at];
    const uint32_t others = found->lines > 1 ? found->lines - 1 : 0;
    tide_found_name(out, paths->functions[call->function].name);
    if (!call->file || !call->line)
        return;
    tide_text_addf(out, " (%s:%u", tide_path_base(call->file), call->line);
    if (others) {
        tide_text_add(out, "; ");
        tide_add_count(out, others, "other line");
        tide_text_add(out, others == 1 ? " has " : " have ");
        tide_add_bytes(out, (double)found->other_bytes);
        tide_text_add(out, " in ");
        tide_add_count(out, found->other_blocks, "block");
    }
    tide_text_add(out, ")");
}
