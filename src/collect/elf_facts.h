/* collect/elf_facts.h - what an executable file is, as far as recording it goes.
 *
 * For: collect/, tests/.  A small reader of its own: it looks at headers, the dynamic
 * section and a few names, so that it costs a fraction of a millisecond before a run.
 */
#ifndef TIDE_COLLECT_ELF_FACTS_H
#define TIDE_COLLECT_ELF_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tide_elf_kind {
    TIDE_ELF_NONE,    /* no ELF file at all */
    TIDE_ELF_DAMAGED, /* cut short, or its headers make no sense */
    TIDE_ELF_FOREIGN, /* for another kind of processor or word */
    TIDE_ELF_OBJECT,  /* an object file, a core, a library: nothing to start */
    TIDE_ELF_STATIC,  /* a program without loader; also static-pie */
    TIDE_ELF_DYNAMIC, /* a program that a loader loads, or the loader itself */
};

/* Bits of sanitizers. */
enum tide_sanitizer {
    TIDE_SANITIZER_ASAN = 1,
    TIDE_SANITIZER_HWASAN = 2,
    TIDE_SANITIZER_LSAN = 4,
    TIDE_SANITIZER_MSAN = 8,
    TIDE_SANITIZER_TSAN = 16,
    TIDE_SANITIZER_UBSAN = 32,
};

/* What runs programs that are no machine code. */
enum tide_interpreter {
    TIDE_INTERPRETER_NONE,
    TIDE_INTERPRETER_PYTHON,
    TIDE_INTERPRETER_JAVA,
    TIDE_INTERPRETER_NODE,
    TIDE_INTERPRETER_RUBY,
    TIDE_INTERPRETER_PERL,
    TIDE_INTERPRETER_PHP,
    TIDE_INTERPRETER_R,
};

struct tide_elf_facts {
    enum tide_elf_kind kind;
    unsigned bits;      /* 32 or 64 */
    unsigned machine;   /* EM_... */
    char loader[256];   /* path of the loader; "" in the loader itself */
    char library[64];   /* an allocator's library that it is linked with; "": none */
    unsigned shared;    /* sanitizers whose runtime is a library: enum tide_sanitizer */
    unsigned inside;    /* sanitizers whose runtime is in the executable */
    bool asan_options;  /* has an __asan_default_options() of its own */
    bool has_malloc;    /* defines malloc, seen by the loader */
    bool has_new;       /* defines an operator new, seen by the loader */
    const char *hidden; /* static: an allocator's function inside it, not seen by the
                           loader; NULL: none found */
    const char *arena;  /* static: a function or library that gives out parts of larger
                           blocks; NULL: none is known */
    enum tide_interpreter interpreter;
    bool go;          /* made by the Go compiler */
    bool frame_table; /* has .eh_frame_hdr: its stacks can be walked */
    bool symbols;     /* has a symbol table beside the loader's */
    bool debug;       /* has debug information */
};

/* Look at the SIZE bytes of a file.  Any bytes will do.  The symbol table is searched
 * for hidden allocators when it is small, or THOROUGH. */
void tide_elf_look(const uint8_t *bytes, size_t size, bool thorough,
                   struct tide_elf_facts *out);

#endif
