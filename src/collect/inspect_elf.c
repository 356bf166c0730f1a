/* collect/inspect_elf.c - what the facts of an executable mean for recording it.
 *
 * One function a topic.  Each says one sentence that stands alone: run prints it without
 * the others, and the trace carries it to the report.
 */
#include "collect/inspect_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* --- Programs that cannot be recorded ------------------------------------------------- */

struct machine {
    unsigned number;
    const char *name;
};

static const char *machine_name(unsigned number)
{
    static const struct machine machines[] = {
        {EM_386, "i386"},        {EM_X86_64, "x86-64"}, {EM_ARM, "ARM"},
        {EM_AARCH64, "aarch64"}, {EM_PPC64, "PowerPC"}, {EM_RISCV, "RISC-V"},
        {EM_S390, "s390"},       {EM_MIPS, "MIPS"},
    };
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].number == number)
            return machines[i].name;
    }
    return "another processor";
}

static void refuse_damaged(const char *path, struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "program",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "build or copy it again",
    };
    tide_checks_add(out, &check,
                    "%s is a damaged executable: it is cut off, or its headers make no "
                    "sense",
                    path);
}

static void refuse_foreign(const char *path, const struct tide_elf_facts *facts,
                           struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "architecture",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "build it for this machine",
    };
    tide_checks_add(out, &check,
                    "%s is a %u-bit program for %s: the recorder cannot be loaded into "
                    "it",
                    path, facts->bits, machine_name(facts->machine));
}

static void refuse_object(const char *path, struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "program",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "name the program that uses it",
    };
    tide_checks_add(out, &check, "%s is a library or an object file, not a program",
                    path);
}

static void refuse_static(const char *path, const struct tide_elf_facts *facts,
                          struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "static",
        .level = TIDE_LEVEL_REFUSAL,
        .advice =
            "link it dynamically (without -static); run --force starts it all the "
            "same, for the dynamic programs that it starts in turn",
    };
    static const struct tide_check go = {
        .name = "static",
        .level = TIDE_LEVEL_REFUSAL,
        .advice =
            "see Go's own heap with pprof; run --force starts it all the same, for "
            "the dynamic programs that it starts in turn",
    };
    tide_checks_add(out, facts->go ? &go : &check,
                    "%s is %sstatically linked: there is no loader to bring the "
                    "recorder in, so nothing could be recorded",
                    path, facts->go ? "a Go program, " : "");
}

static void check_loader(const char *path, const struct tide_elf_facts *facts,
                         struct tide_checks *out)
{
    static const struct tide_check musl = {
        .name = "loader",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "build it for glibc",
    };
    static const struct tide_check strange = {
        .name = "loader",
        .level = TIDE_LEVEL_WARNING,
        .advice = "look whether the trace holds anything",
    };
    const char *const slash = strrchr(facts->loader, '/');
    const char *const name = slash ? slash + 1 : facts->loader;
    if (strncmp(name, "ld-musl", 7) == 0)
        tide_checks_add(out, &musl,
                        "%s is linked with musl: the recorder needs glibc, and would "
                        "keep the program from starting",
                        path);
    else if (*name && strncmp(name, "ld-linux", 8) != 0 &&
             strncmp(name, "ld64.", 5) != 0)
        tide_checks_add(out, &strange,
                        "%s has a loader that is not glibc's (%s): it may not let the "
                        "recorder in",
                        path, facts->loader);
}

/* --- Sanitizers -------------------------------------------------------------------------- */

static void name_sanitizers(struct tide_text *out, unsigned bits)
{
    static const char *const names[] = {"AddressSanitizer", "HWASan",
                                        "LeakSanitizer",    "MemorySanitizer",
                                        "ThreadSanitizer",  "UBSan"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (bits & 1u << i)
            tide_text_addf(out, "%s%s", out->length ? " and " : "", names[i]);
    }
}

/* Has the user told ASan not to insist on coming first? */
static bool order_is_free(void)
{
    static const char option[] = "verify_asan_link_order=";
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
    const char *value = getenv("ASAN_OPTIONS");
    value = value ? strstr(value, option) : NULL;
    if (!value)
        return false;
    value += strlen(option);
    return *value == '0' || *value == 'f' || *value == 'n';
}

/* True: it says where the malloc in the executable comes from. */
static bool check_sanitizer_inside(const char *path, const struct tide_elf_facts *facts,
                                   struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "sanitizer",
        .level = TIDE_LEVEL_WARNING,
        .advice = "link its runtime as a library (clang: -shared-libsan; gcc: without "
                  "-static-libasan), or leave it out",
    };
    if (!facts->inside)
        return false;
    struct tide_text names = {0};
    name_sanitizers(&names, facts->inside);
    tide_checks_add(
        out, &check,
        "%s carries %s inside the executable, whose malloc comes before the "
        "recorder's: its heap is not recorded",
        path, names.bytes ? names.bytes : "a sanitizer");
    tide_text_release(&names);
    return true;
}

static void check_sanitizer_library(const char *path,
                                    const struct tide_elf_facts *facts,
                                    struct tide_checks *out)
{
    static const struct tide_check insists = {
        .name = "sanitizer",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "set ASAN_OPTIONS=verify_asan_link_order=0 and try again",
    };
    static const struct tide_check works = {
        .name = "sanitizer",
        .level = TIDE_LEVEL_NOTE,
        .advice = "for the program's own memory record a build without it",
    };
    static const struct tide_check untried = {
        .name = "sanitizer",
        .level = TIDE_LEVEL_WARNING,
        .advice = "compare its results with those of a run without tidemark",
    };
    const unsigned bits = facts->shared & ~(unsigned)TIDE_SANITIZER_UBSAN;
    if (!bits)
        return;
    if ((bits & TIDE_SANITIZER_ASAN) && facts->asan_options && !order_is_free()) {
        tide_checks_add(out, &insists,
                        "%s carries AddressSanitizer and its own "
                        "__asan_default_options: it would not start with another "
                        "library before it",
                        path);
        return;
    }
    if (bits & TIDE_SANITIZER_HWASAN) {
        tide_checks_add(out, &untried,
                        "%s carries HWASan: recording beside it has never been tried",
                        path);
        return;
    }
    struct tide_text names = {0};
    name_sanitizers(&names, bits);
    tide_checks_add(out, &works,
                    "%s carries %s: its blocks are recorded%s; red zones, quarantine "
                    "and shadow memory show in the RSS only",
                    path, names.bytes ? names.bytes : "a sanitizer",
                    bits & TIDE_SANITIZER_ASAN
                        ? ", but not those that strdup, strndup and realpath return"
                    : bits & TIDE_SANITIZER_TSAN
                        ? ", but not those that strndup and realpath return"
                        : "");
    tide_text_release(&names);
}

/* --- Allocators -------------------------------------------------------------------------- */

static void check_allocator(const char *path, const struct tide_elf_facts *facts,
                            struct tide_checks *out)
{
    static const struct tide_check inside = {
        .name = "malloc",
        .level = TIDE_LEVEL_WARNING,
        .recorder_says = true,
        .advice = "link the allocator as a library to see its blocks",
    };
    static const struct tide_check hidden = {
        .name = "malloc",
        .level = TIDE_LEVEL_WARNING,
        .advice = "link the allocator as a library to see its blocks",
    };
    static const struct tide_check replaced = {.name = "new", .level = TIDE_LEVEL_NOTE};
    static const struct tide_check library = {.name = "allocator",
                                              .level = TIDE_LEVEL_OK};
    if (facts->has_malloc)
        tide_checks_add(out, &inside,
                        "%s defines malloc itself, which comes before the recorder's: "
                        "its heap is not recorded, memory maps are",
                        path);
    else if (facts->hidden)
        tide_checks_add(out, &hidden,
                        "%s has an allocator inside (%s): blocks from it are not "
                        "recorded, the memory that it maps is",
                        path, facts->hidden);
    if (facts->has_new && !facts->has_malloc)
        tide_checks_add(out, &replaced,
                        "%s has an operator new of its own: what it takes from malloc "
                        "is recorded",
                        path);
    if (facts->library[0])
        tide_checks_add(out, &library,
                        "%s uses %s: its blocks are recorded, with its usable sizes",
                        path, facts->library);
}

static void check_go(const char *path, const struct tide_elf_facts *facts,
                     struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "go",
        .level = TIDE_LEVEL_WARNING,
        .advice = "see Go's own heap with pprof",
    };
    if (facts->go)
        tide_checks_add(out, &check,
                        "%s is a Go program: of Go's own heap only the memory maps are "
                        "recorded; blocks of C code in it are",
                        path);
}

/* --- Stacks and names --------------------------------------------------------------------- */

static void check_stacks(const char *path, const struct tide_elf_facts *facts,
                         struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "stacks",
        .level = TIDE_LEVEL_WARNING,
        .advice = "compile it with -fasynchronous-unwind-tables, or with "
                  "-fno-omit-frame-pointer and record it with --unwind fp",
    };
    if (!facts->frame_table)
        tide_checks_add(
            out, &check,
            "%s has no frame tables (.eh_frame): call stacks end at its own "
            "functions",
            path);
}

static void check_names(const char *path, const struct tide_elf_facts *facts,
                        struct tide_checks *out)
{
    static const struct tide_check check = {
        .name = "symbols",
        .level = TIDE_LEVEL_NOTE,
        .advice = "compile it with -g and do not strip it, or install its debug file",
    };
    if (!facts->symbols && !facts->debug)
        tide_checks_add(out, &check,
                        "%s is stripped: most of its functions will have no names",
                        path);
    else if (!facts->debug)
        tide_checks_add(out, &check,
                        "%s has no debug information: its functions will have names, "
                        "but no lines",
                        path);
}

static void check_dynamic(const char *path, const struct tide_elf_facts *facts,
                          struct tide_checks *out)
{
    static const struct tide_check loader = {.name = "program", .level = TIDE_LEVEL_OK};
    check_loader(path, facts, out);
    if (!facts->loader[0]) {
        tide_checks_add(out, &loader,
                        "%s is the loader: the program that it loads is "
                        "recorded",
                        path);
        return;
    }
    tide_checks_add(out, &loader,
                    "%s is dynamically linked: the loader brings the recorder in",
                    path);
    if (!check_sanitizer_inside(path, facts, out)) {
        check_sanitizer_library(path, facts, out);
        check_allocator(path, facts, out);
    }
    check_go(path, facts, out);
    tide_inspect_runtime(path, facts, out);
    check_stacks(path, facts, out);
    check_names(path, facts, out);
}

void tide_inspect_elf(const char *path, const struct tide_elf_facts *facts,
                      struct tide_checks *out)
{
    switch (facts->kind) {
    case TIDE_ELF_NONE:
        break;
    case TIDE_ELF_DAMAGED:
        refuse_damaged(path, out);
        break;
    case TIDE_ELF_FOREIGN:
        refuse_foreign(path, facts, out);
        break;
    case TIDE_ELF_OBJECT:
        refuse_object(path, out);
        break;
    case TIDE_ELF_STATIC:
        refuse_static(path, facts, out);
        break;
    case TIDE_ELF_DYNAMIC:
        check_dynamic(path, facts, out);
        break;
    }
}
