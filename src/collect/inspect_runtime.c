/* collect/inspect_runtime.c - what a trace says of interpreters, and of programs that divide
 * their memory by themselves.
 *
 * These are notes and no warnings: all that the program takes from malloc and mmap is
 * recorded, but it is not what its user expects to see.
 */
#include "collect/inspect_elf.h"

struct runtime {
    const char *kind;   /* what it is */
    const char *memory; /* what becomes of its objects */
    const char *advice;
};

/* By enum tide_interpreter. */
static const struct runtime RUNTIMES[] = {
    [TIDE_INTERPRETER_PYTHON] =
        {"Python", "objects of up to 512 bytes lie in arenas that it maps",
         "mark parts of the script with the package tidemark (docs/python.md); set "
         "PYTHONMALLOC=malloc to record each object"},
    [TIDE_INTERPRETER_JAVA] =
        {"Java", "its objects lie in one map that it reserves ahead",
         "see its objects with jcmd PID GC.class_histogram or a flight recording"},
    [TIDE_INTERPRETER_NODE] =
        {"JavaScript", "its objects lie in pages that it maps",
         "see its objects with node --heap-prof or a heap snapshot"},
    [TIDE_INTERPRETER_RUBY] =
        {"Ruby", "its objects lie in pages that it divides by itself",
         "see its objects with ObjectSpace.trace_object_allocations"},
    [TIDE_INTERPRETER_PERL] = {"Perl",
                               "small values lie in arenas that it divides by itself",
                               "see its values with Devel::Size"},
    [TIDE_INTERPRETER_PHP] = {"PHP", "small values lie in pages that it maps",
                              "set USE_ZEND_ALLOC=0 to record each value"},
    [TIDE_INTERPRETER_R] = {"R", "small vectors lie in pages that it divides by itself",
                            "see its objects with Rprofmem"},
};

static void check_interpreter(const char *path, const struct tide_elf_facts *facts,
                              struct tide_checks *out)
{
    const struct runtime *const runtime = &RUNTIMES[facts->interpreter];
    const struct tide_check check = {
        .name = "interpreter",
        .level = TIDE_LEVEL_NOTE,
        .advice = runtime->advice,
    };
    tide_checks_add(out, &check,
                    "%s runs %s: stacks show functions of the interpreter and of "
                    "libraries in machine code, none of the program in %s; %s",
                    path, runtime->kind, runtime->kind, runtime->memory);
}

static void check_arena(const char *path, const struct tide_elf_facts *facts,
                        struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "arena",
        .level = TIDE_LEVEL_NOTE,
        .advice = "tell what it gives out with tide_pool_alloc (docs/api.md)",
    };
    tide_checks_add(
        out, &check,
        "%s divides memory by itself (%s): the trace shows the large blocks "
        "that it takes, not the parts that it gives out",
        path, facts->arena);
}

void tide_inspect_runtime(const char *path, const struct tide_elf_facts *facts,
                          struct tide_checks *out)
{
    if (facts->interpreter)
        check_interpreter(path, facts, out);
    if (facts->arena)
        check_arena(path, facts, out);
}
