/* symbol/symbolizer.c - address in an ELF file -> functions, files, lines.
 *
 * What is known is put together from two tables: debug information, of the module or of
 * its separate debug file, gives inlined functions, files and lines; the symbol table
 * gives the function where debug information is silent.  Where both are, the unwind tables tell
 * which addresses are of one function.  Whatever is missing or damaged only makes answers
 * poorer.
 */
#include "symbol/symbolizer.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/debug_file.h"
#include "symbol/debuginfod.h"
#include "symbol/dwarf_info.h"
#include "symbol/elf_file.h"
#include "symbol/mini_debug.h"
#include "symbol/name_child.h"
#include "symbol/name_pool.h"
#include "symbol/symtab.h"
#include "symbol/unwind_starts.h"

enum { TIDE_ANSWERS_FIRST = 256 };

struct answer {
    uint64_t address;
    const struct tide_location *locations; /* in the pool's arena */
    uint32_t count;
    bool given; /* the slot is in use */
};

struct tide_symbolizer {
    char *debug_root;                   /* owned */
    struct tide_debuginfod *debuginfod; /* borrowed; may be NULL */
    struct tide_build_id id;
    struct tide_elf_file *module; /* owned; NULL: gone, or another one stands there */
    struct tide_elf_file *debug;  /* owned; NULL: none, or the module has it all */
    struct tide_elf_file *mini;   /* owned; NULL: it brings no symbols, or needs none */
    bool other;                   /* another one stands there */
    bool prepared;                /* all below is filled, as far as it can be */
    struct tide_symtab symtab;
    struct tide_unwind_starts starts;
    struct tide_dwarf_info *dwarf; /* owned; NULL: no debug information */
    struct tide_name_pool pool;
    struct tide_child_module remote; /* all zeros: this process reads the files */
    bool symbols_only;
    bool too_big;           /* the debug information, for the memory there is */
    struct answer *answers; /* owned: open addressing */
    size_t answer_capacity; /* a power of two, or 0 */
    size_t answer_count;
};

/* --- Open and close --------------------------------------------------------------- */

/* Open PATH, unless it is not the file that the trace speaks of. */
static enum tide_status open_module(struct tide_symbolizer *symbolizer,
                                    const char *path, const char *build_id,
                                    const struct tide_file_known *known)
{
    struct tide_elf_file *module;
    if (!tide_build_id_parse(&symbolizer->id, build_id))
        return TIDE_OK;
    const enum tide_status status = tide_elf_file_open(path, &module);
    if (status)
        return status == TIDE_ENOMEM ? status : TIDE_OK;

    const bool same =
        symbolizer->id.length > 0
            ? tide_build_id_equal(&symbolizer->id, &module->id)
            : known->bytes == 0 || (known->bytes == module->known.bytes &&
                                    known->mtime_ns == module->known.mtime_ns);
    if (!same) {
        tide_elf_file_close(module);
        symbolizer->other = true;
        return TIDE_OK;
    }
    symbolizer->id = module->id;
    symbolizer->module = module;
    return TIDE_OK;
}

enum tide_status tide_symbolizer_open(const char *path, const char *build_id,
                                      const struct tide_symbolizer_options *options,
                                      struct tide_symbolizer **out)
{
    *out = NULL;
    struct tide_symbolizer *const symbolizer = calloc(1, sizeof(*symbolizer));
    if (!symbolizer)
        return TIDE_ENOMEM;
    const char *const root = options ? options->debug_root : NULL;
    const struct tide_file_known known =
        options ? options->file : (struct tide_file_known){0};
    symbolizer->debuginfod = options ? options->debuginfod : NULL;
    symbolizer->symbols_only = options && options->symbols_only;
    symbolizer->debug_root = strdup(root ? root : TIDE_DEBUG_ROOT);
    enum tide_status status = symbolizer->debug_root ? TIDE_OK : TIDE_ENOMEM;
    if (!status && options && options->child)
        status = tide_child_module_open(
            &symbolizer->remote, options->child,
            &(struct tide_child_file){path, build_id, symbolizer->debug_root, known});
    else if (!status)
        status = open_module(symbolizer, path, build_id, &known);
    if (status) {
        tide_symbolizer_close(symbolizer);
        return status;
    }
    *out = symbolizer;
    return TIDE_OK;
}

void tide_symbolizer_close(struct tide_symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    tide_child_module_close(&symbolizer->remote);
    tide_dwarf_info_close(symbolizer->dwarf);
    tide_symtab_release(&symbolizer->symtab);
    tide_elf_file_close(symbolizer->mini);
    tide_elf_file_close(symbolizer->debug);
    tide_elf_file_close(symbolizer->module);
    tide_name_pool_release(&symbolizer->pool);
    free(symbolizer->answers);
    free(symbolizer->debug_root);
    free(symbolizer);
}

/* --- Tables ----------------------------------------------------------------------- */

static void find_debug_file(struct tide_symbolizer *symbolizer)
{
    if (symbolizer->module && symbolizer->module->has_dwarf)
        return;
    symbolizer->debug = tide_debug_file_by_id(symbolizer->debug_root, &symbolizer->id);
    if (!symbolizer->debug && symbolizer->module)
        symbolizer->debug =
            tide_debug_file_by_link(symbolizer->debug_root, symbolizer->module);
    if (!symbolizer->debug)
        symbolizer->debug =
            tide_debuginfod_fetch(symbolizer->debuginfod, &symbolizer->id);
}

static enum tide_status load_symtab(struct tide_symbolizer *symbolizer)
{
    const struct tide_elf_file *const module = symbolizer->module;
    const struct tide_elf_file *const debug = symbolizer->debug;
    if (debug && debug->has_symtab && !(module && module->has_symtab))
        return tide_symtab_load(&symbolizer->symtab, debug, NULL);
    if (!module)
        return TIDE_OK;
    if (!module->has_symtab)
        symbolizer->mini = tide_mini_debug_open(module);
    return tide_symtab_load(&symbolizer->symtab, module, symbolizer->mini);
}

static enum tide_status load_dwarf(struct tide_symbolizer *symbolizer)
{
    const struct tide_elf_file *file = symbolizer->module;
    if (!file || !file->has_dwarf)
        file = symbolizer->debug;
    if (!file || !file->has_dwarf || symbolizer->symbols_only)
        return TIDE_OK;
    const enum tide_status status = tide_dwarf_info_open(
        file, symbolizer->debug_root, &symbolizer->pool, &symbolizer->dwarf);
    symbolizer->too_big = status == TIDE_ELIMIT;
    return status == TIDE_ENOMEM ? status : TIDE_OK;
}

static enum tide_status prepare(struct tide_symbolizer *symbolizer)
{
    if (symbolizer->prepared)
        return TIDE_OK;
    symbolizer->prepared = true;
    find_debug_file(symbolizer);
    if (symbolizer->module)
        tide_unwind_starts_load(&symbolizer->starts, symbolizer->module);
    const enum tide_status status = load_symtab(symbolizer);
    return status ? status : load_dwarf(symbolizer);
}

enum tide_module_state tide_symbolizer_state(const struct tide_symbolizer *symbolizer)
{
    const struct tide_elf_file *const module = symbolizer->module;
    if (symbolizer->remote.child)
        return symbolizer->remote.state;
    if (symbolizer->too_big)
        return TIDE_MODULE_TOO_BIG;
    if (symbolizer->debug)
        return TIDE_MODULE_READ;
    if (!module)
        return symbolizer->other ? TIDE_MODULE_OTHER : TIDE_MODULE_GONE;
    return module->has_dwarf || module->has_symtab || symbolizer->mini
               ? TIDE_MODULE_READ
               : TIDE_MODULE_STRIPPED;
}

/* --- Answers ---------------------------------------------------------------------- */

/* Where the answer for ADDRESS is, or the free slot where it belongs. */
static struct answer *slot_of(struct answer *answers, size_t capacity, uint64_t address)
{
    size_t at = (size_t)((address * 0x9e3779b97f4a7c15u) >> 32) & (capacity - 1);
    while (answers[at].given && answers[at].address != address)
        at = (at + 1) & (capacity - 1);
    return &answers[at];
}

static enum tide_status grow_answers(struct tide_symbolizer *symbolizer)
{
    const size_t capacity = symbolizer->answer_capacity
                                ? symbolizer->answer_capacity * 2
                                : TIDE_ANSWERS_FIRST;
    struct answer *const answers = calloc(capacity, sizeof(*answers));
    if (!answers)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < symbolizer->answer_capacity; i++) {
        const struct answer *const old = &symbolizer->answers[i];
        if (old->given)
            *slot_of(answers, capacity, old->address) = *old;
    }
    free(symbolizer->answers);
    symbolizer->answers = answers;
    symbolizer->answer_capacity = capacity;
    return TIDE_OK;
}

static size_t underscores(const char *name)
{
    return strspn(name, "_");
}

/* Debug information knows a C function by the name it is defined with; the symbol
 * table also has the one that programs use (malloc is defined as __libc_malloc).  On
 * the other hand only debug information leaves the clone marks of the compiler out
 * (f.part.0). */
static const char *better_name(const char *described, const char *linked)
{
    if (!described || !linked)
        return described ? described : linked;
    const bool plainer =
        underscores(linked) < underscores(described) && !strpbrk(linked, ".:(");
    return plainer ? linked : described;
}

static enum tide_status answer_here(struct tide_symbolizer *symbolizer,
                                    struct answer *answer)
{
    struct tide_location *locations = NULL;
    size_t count = 0;
    const enum tide_status prepared = prepare(symbolizer);
    if (prepared)
        return prepared;
    if (symbolizer->dwarf) {
        const enum tide_status status = tide_dwarf_info_find(
            symbolizer->dwarf, answer->address, &locations, &count);
        if (status)
            return status;
    }
    const char *const linked =
        tide_symtab_find(&symbolizer->symtab, answer->address, &symbolizer->pool);
    const uint64_t start =
        linked ? 0 : tide_unwind_starts_find(&symbolizer->starts, answer->address);
    if (count == 0 && (linked || start)) {
        locations = tide_arena_take(&symbolizer->pool.arena, sizeof(*locations));
        if (!locations)
            return TIDE_ENOMEM;
        count = 1;
    }
    if (count > 0) {
        struct tide_location *const real = &locations[count - 1];
        real->function = better_name(real->function, linked);
        real->start = real->function ? 0 : start;
    }
    answer->locations = locations;
    answer->count = (uint32_t)count;
    return TIDE_OK;
}

/* Ask the child, as tide_child_module_ask().  Where there can be none, this process reads
 * the files from here on: TIDE_ESYSTEM. */
static enum tide_status ask(struct tide_symbolizer *symbolizer,
                            const uint64_t *addresses, size_t count,
                            struct tide_child_answer *found)
{
    struct tide_child_module *const remote = &symbolizer->remote;
    const enum tide_status status =
        tide_child_module_ask(remote, addresses, count, &symbolizer->pool, found);
    if (status != TIDE_ESYSTEM)
        return status;
    const char *const path = remote->texts;
    const enum tide_status opened =
        open_module(symbolizer, path, path + strlen(path) + 1, &remote->file);
    tide_child_module_close(remote);
    return opened ? opened : TIDE_ESYSTEM;
}

static enum tide_status answer_there(struct tide_symbolizer *symbolizer,
                                     struct answer *answer)
{
    struct tide_child_answer found;
    const enum tide_status status = ask(symbolizer, &answer->address, 1, &found);
    if (status)
        return status == TIDE_ESYSTEM ? answer_here(symbolizer, answer) : status;
    answer->locations = found.locations;
    answer->count = (uint32_t)found.count;
    return TIDE_OK;
}

static enum tide_status keep(struct tide_symbolizer *symbolizer,
                             const struct answer *fresh)
{
    const enum tide_status status =
        symbolizer->answer_count >= symbolizer->answer_capacity / 2
            ? grow_answers(symbolizer)
            : TIDE_OK;
    if (status)
        return status;
    *slot_of(symbolizer->answers, symbolizer->answer_capacity, fresh->address) = *fresh;
    symbolizer->answer_count++;
    return TIDE_OK;
}

enum tide_status tide_symbolizer_expect(struct tide_symbolizer *symbolizer,
                                        const uint64_t *addresses, size_t count)
{
    if (!symbolizer->remote.child || count == 0)
        return TIDE_OK;
    struct tide_child_answer *const found = calloc(count, sizeof(*found));
    enum tide_status status =
        found ? ask(symbolizer, addresses, count, found) : TIDE_ENOMEM;
    for (size_t i = 0; i < count && !status; i++) {
        const struct answer fresh = {.address = addresses[i],
                                     .given = true,
                                     .locations = found[i].locations,
                                     .count = (uint32_t)found[i].count};
        if (i == 0 || addresses[i] != addresses[i - 1])
            status = keep(symbolizer, &fresh);
    }
    free(found);
    return status == TIDE_ESYSTEM ? TIDE_OK : status;
}

enum tide_status tide_symbolizer_find(struct tide_symbolizer *symbolizer,
                                      uint64_t address,
                                      const struct tide_location **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    if (symbolizer->answer_capacity > 0) {
        const struct answer *const known =
            slot_of(symbolizer->answers, symbolizer->answer_capacity, address);
        *out = known->locations;
        *count = known->count;
        if (known->given)
            return TIDE_OK;
    }
    struct answer fresh = {.address = address, .given = true};
    enum tide_status status = symbolizer->remote.child
                                  ? answer_there(symbolizer, &fresh)
                                  : answer_here(symbolizer, &fresh);
    if (!status)
        status = keep(symbolizer, &fresh);
    if (status)
        return status;
    *out = fresh.locations;
    *count = fresh.count;
    return TIDE_OK;
}
