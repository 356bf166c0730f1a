/* model/diff_names.c - when is a function of one run the same as one of another?
 *
 * By its name and its module's.  What differs from build to build is left out: folders,
 * versions of libraries (libx.so.1.2 is libx.so), the marks that compilers put on clones
 * of a function (f.isra.0, f.part.1), and the addresses of functions that have no name,
 * which are all one function of their module.  The main program may be called something
 * else in NEW: prog-1.1 is then taken for prog-1.0; what only NEW has is of prog-1.1.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/diff.h"
#include "model/grow.h"
#include "model/path.h"

enum { TIDE_DIFF_SLOTS_FIRST = 256 }; /* a power of two */

/* --- Names --------------------------------------------------------------------------- */

/* Is what follows a dot in a name the compiler's mark of a clone? */
static bool is_clone_mark(const char *word)
{
    static const char *const marks[] = {"isra",     "constprop", "part",      "cold",
                                        "lto_priv", "llvm",      "localalias"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const size_t length = strlen(marks[i]);
        if (strncmp(word, marks[i], length) == 0 &&
            (word[length] == '.' || word[length] == '\0'))
            return true;
    }
    return false;
}

/* The length of NAME without marks of clones. */
static size_t bare_length(const char *name)
{
    const char *const demangled = strstr(name, " [clone .");
    if (demangled)
        return (size_t)(demangled - name);
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        if (dot > name && is_clone_mark(dot + 1))
            return (size_t)(dot - name);
    return strlen(name);
}

/* The length of BASE, a module's base name, without the version of a library. */
static size_t unversioned_length(const char *base)
{
    static const char library[] = ".so.";
    const char *const found = strstr(base, library);
    return found ? (size_t)(found - base) + sizeof(library) - 2 : strlen(base);
}

static const char *intern_part(struct tide_diff *diff, const char *text, size_t length)
{
    char shorter[512];
    if (!text[length])
        return tide_intern(&diff->strings, &diff->arena, text);
    if (length < sizeof(shorter)) {
        memcpy(shorter, text, length);
        shorter[length] = '\0';
        return tide_intern(&diff->strings, &diff->arena, shorter);
    }
    const char *const copy = tide_arena_copy(&diff->arena, text, length);
    return copy ? tide_intern(&diff->strings, &diff->arena, copy) : NULL;
}

static const char *module_name(struct tide_diff *diff, const char *path)
{
    const char *const base = tide_path_base(path);
    return intern_part(diff, base, unversioned_length(base));
}

/* "[module]", for whatever has no name in it. */
static const char *nameless(struct tide_diff *diff, const char *module)
{
    char name[512];
    if (!*module)
        return tide_intern(&diff->strings, &diff->arena, "[unknown]");
    (void)snprintf(name, sizeof(name), "[%.500s]", module);
    return tide_intern(&diff->strings, &diff->arena, name);
}

/* --- The main program ---------------------------------------------------------------- */

/* The path of the program that was started, as it was at last; NULL when unknown. */
static const char *program_of(const struct tide_model *model)
{
    const char *exe = NULL;
    for (size_t i = 0; i < model->trace->process_count; i++) {
        const struct tide_process *const process = &model->trace->processes[i];
        if (process->main && process->exe && *process->exe)
            exe = process->exe;
    }
    return exe;
}

enum tide_status tide_diff_name_programs(struct tide_diff *diff,
                                         const struct tide_diff_request *request)
{
    const char *const base = program_of(request->models[TIDE_SIDE_BASE]);
    const char *const fresh = program_of(request->models[TIDE_SIDE_NEW]);
    if (!base || !fresh)
        return TIDE_OK;
    diff->program = module_name(diff, base);
    diff->program_alias = module_name(diff, fresh);
    return diff->program && diff->program_alias ? TIDE_OK : TIDE_ENOMEM;
}

/* --- Functions ----------------------------------------------------------------------- */

static size_t slot_of(const struct tide_diff *diff,
                      const struct tide_diff_function *function)
{
    const uint64_t name = (uint64_t)(uintptr_t)function->name;
    const uint64_t module = (uint64_t)(uintptr_t)function->module;
    const uint64_t mixed = (name ^ (module << 21)) * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(mixed >> 32) & diff->function_mask;
    while (diff->function_slots[at]) {
        const struct tide_diff_function *const known =
            &diff->functions[diff->function_slots[at] - 1];
        if (known->name == function->name && known->module == function->module)
            break;
        at = (at + 1) & diff->function_mask;
    }
    return at;
}

static enum tide_status make_room(struct tide_diff *diff)
{
    if (diff->function_slots && diff->function_count < diff->function_mask / 2)
        return TIDE_OK;
    const size_t slots =
        diff->function_slots ? (diff->function_mask + 1) * 2 : TIDE_DIFF_SLOTS_FIRST;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    free(diff->function_slots);
    diff->function_slots = wider;
    diff->function_mask = slots - 1;
    for (size_t i = 0; i < diff->function_count; i++)
        wider[slot_of(diff, &diff->functions[i])] = (uint32_t)i + 1;
    return TIDE_OK;
}

static enum tide_status find_or_add(struct tide_diff *diff,
                                    const struct tide_diff_function *function,
                                    uint32_t *out)
{
    const enum tide_status status = make_room(diff);
    if (status)
        return status;
    const size_t at = slot_of(diff, function);
    if (!diff->function_slots[at]) {
        struct tide_diff_function *const functions =
            tide_grown(diff->functions, &diff->function_capacity,
                       diff->function_count + 1, sizeof(*functions));
        if (!functions)
            return TIDE_ENOMEM;
        diff->functions = functions;
        functions[diff->function_count++] = *function;
        diff->function_slots[at] = (uint32_t)diff->function_count;
    }
    *out = diff->function_slots[at] - 1;
    return TIDE_OK;
}

enum tide_status tide_diff_function(struct tide_diff *diff, enum tide_side side,
                                    const struct tide_function *function, uint32_t *out)
{
    struct tide_diff_function entry = {
        .module = module_name(diff, function->module),
    };
    if (!entry.module)
        return TIDE_ENOMEM;
    if (side == TIDE_SIDE_NEW && entry.module == diff->program_alias)
        entry.module = diff->program;
    const bool synthetic = !*function->module && function->name[0] == '[';
    entry.name = function->resolved || synthetic
                     ? intern_part(diff, function->name, bare_length(function->name))
                     : nameless(diff, entry.module);
    return entry.name ? find_or_add(diff, &entry, out) : TIDE_ENOMEM;
}

enum tide_status tide_diff_name_new(struct tide_diff *diff)
{
    const bool renamed = diff->program != diff->program_alias;
    for (size_t i = 0; renamed && i < diff->function_count; i++) {
        struct tide_diff_function *const function = &diff->functions[i];
        if (function->module != diff->program ||
            tide_change_kind(&function->inclusive) != TIDE_CHANGE_NEW)
            continue;
        if (function->name == nameless(diff, diff->program))
            function->name = nameless(diff, diff->program_alias);
        if (!function->name)
            return TIDE_ENOMEM;
        function->module = diff->program_alias;
    }
    return TIDE_OK;
}
