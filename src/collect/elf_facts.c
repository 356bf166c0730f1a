/* collect/elf_facts.c - what an executable file is, as far as recording it goes.
 *
 * The file may be anything and come from anybody, so no offset in it is followed before
 * take() has seen that it lies inside, and every loop has an end of its own.
 *
 * Names that the loader would find are looked up as the loader does, through the hash
 * table: the answer is the loader's, and a program with 100 000 names costs no more.
 */
#include "collect/elf_facts.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#    define TIDE_OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#    define TIDE_OWN_MACHINE EM_AARCH64
#else
#    define TIDE_OWN_MACHINE EM_NONE
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#    define TIDE_OWN_ORDER ELFDATA2LSB
#else
#    define TIDE_OWN_ORDER ELFDATA2MSB
#endif

enum {
    TIDE_ENTRIES_MOST = 1 << 16, /* of any table: more is not looked at */
    TIDE_SYMBOLS_QUICK = 1 << 14,
};

struct image {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr head;
    /* Of the dynamic section, as file offsets; 0: there is none. */
    uint64_t dynamic, dynamic_bytes;
    uint64_t strings, strings_bytes;
    uint64_t symbols, gnu_hash, hash;
    uint64_t soname; /* place in strings; 0: none */
    uint64_t flags_1;
};

/* Copy BYTES at OFFSET; false when they are not in the file. */
static bool take(const struct image *image, uint64_t offset, void *out, size_t bytes)
{
    if (offset > image->size || bytes > image->size - offset)
        return false;
    memcpy(out, image->bytes + offset, bytes);
    return true;
}

/* The string at PLACE of the table at OFFSET; NULL when it has no end in there. */
static const char *string_at(const struct image *image, uint64_t offset, uint64_t bytes,
                             uint64_t place)
{
    if (offset > image->size || place >= bytes)
        return NULL;
    const uint64_t inside = image->size - offset;
    const uint64_t end = bytes < inside ? bytes : inside;
    if (place >= end)
        return NULL;
    const char *const string = (const char *)image->bytes + offset + place;
    return memchr(string, '\0', (size_t)(end - place)) ? string : NULL;
}

static bool starts_with(const char *string, const char *start)
{
    return strncmp(string, start, strlen(start)) == 0;
}

/* --- Program headers --------------------------------------------------------------- */

static bool take_phdr(const struct image *image, unsigned index, Elf64_Phdr *out)
{
    return index < image->head.e_phnum &&
           image->head.e_phoff <= image->size && /* no sum below can overflow */
           take(image, image->head.e_phoff + (uint64_t)index * sizeof(*out), out,
                sizeof(*out));
}

/* Where in the file the address ADDRESS is; 0 when it is not. */
static uint64_t file_offset(const struct image *image, uint64_t address)
{
    Elf64_Phdr phdr;
    for (unsigned i = 0; take_phdr(image, i, &phdr); i++) {
        if (phdr.p_type == PT_LOAD && address >= phdr.p_vaddr &&
            address - phdr.p_vaddr < phdr.p_filesz &&
            phdr.p_offset <= image->size) /* else the sum may overflow */
            return phdr.p_offset + (address - phdr.p_vaddr);
    }
    return 0;
}

static void note_loader(const struct image *image, const Elf64_Phdr *phdr,
                        struct tide_elf_facts *out)
{
    const char *const path = string_at(image, phdr->p_offset, phdr->p_filesz, 0);
    if (path && strlen(path) < sizeof(out->loader))
        memcpy(out->loader, path, strlen(path) + 1);
}

/* False: they do not lie in the file. */
static bool read_phdrs(struct image *image, struct tide_elf_facts *out)
{
    Elf64_Phdr phdr;
    for (unsigned i = 0; i < image->head.e_phnum; i++) {
        if (!take_phdr(image, i, &phdr))
            return false;
        if (phdr.p_type == PT_INTERP)
            note_loader(image, &phdr, out);
        if (phdr.p_type == PT_GNU_EH_FRAME)
            out->frame_table = true;
        if (phdr.p_type == PT_DYNAMIC) {
            image->dynamic = phdr.p_offset;
            image->dynamic_bytes = phdr.p_filesz;
        }
        if (phdr.p_type == PT_LOAD && (phdr.p_offset > image->size ||
                                       phdr.p_filesz > image->size - phdr.p_offset))
            return false; /* the program was cut off */
    }
    return true;
}

/* --- Dynamic section --------------------------------------------------------------- */

static bool take_dyn(const struct image *image, unsigned index, Elf64_Dyn *out)
{
    const uint64_t at = (uint64_t)index * sizeof(*out);
    return index < TIDE_ENTRIES_MOST && at + sizeof(*out) <= image->dynamic_bytes &&
           image->dynamic <= image->size &&
           take(image, image->dynamic + at, out, sizeof(*out)) && out->d_tag != DT_NULL;
}

static void read_dynamic(struct image *image)
{
    Elf64_Dyn dyn;
    for (unsigned i = 0; take_dyn(image, i, &dyn); i++) {
        switch (dyn.d_tag) {
        case DT_STRTAB:
            image->strings = file_offset(image, dyn.d_un.d_ptr);
            break;
        case DT_STRSZ:
            image->strings_bytes = dyn.d_un.d_val;
            break;
        case DT_SYMTAB:
            image->symbols = file_offset(image, dyn.d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            image->gnu_hash = file_offset(image, dyn.d_un.d_ptr);
            break;
        case DT_HASH:
            image->hash = file_offset(image, dyn.d_un.d_ptr);
            break;
        case DT_SONAME:
            image->soname = dyn.d_un.d_val;
            break;
        case DT_FLAGS_1:
            image->flags_1 = dyn.d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static const char *dynamic_string(const struct image *image, uint64_t place)
{
    return string_at(image, image->strings, image->strings_bytes, place);
}

struct runtime {
    const char *start; /* of its library's name */
    unsigned sanitizer;
};

static const struct runtime RUNTIMES[] = {
    {"libasan.", TIDE_SANITIZER_ASAN},
    {"libclang_rt.asan", TIDE_SANITIZER_ASAN},
    {"libhwasan.", TIDE_SANITIZER_HWASAN},
    {"libclang_rt.hwasan", TIDE_SANITIZER_HWASAN},
    {"liblsan.", TIDE_SANITIZER_LSAN},
    {"libclang_rt.lsan", TIDE_SANITIZER_LSAN},
    {"libtsan.", TIDE_SANITIZER_TSAN},
    {"libclang_rt.tsan", TIDE_SANITIZER_TSAN},
    {"libubsan.", TIDE_SANITIZER_UBSAN},
    {"libclang_rt.ubsan", TIDE_SANITIZER_UBSAN},
};

static const char *const ALLOCATORS[] = {"libjemalloc.", "libtcmalloc", "libmimalloc",
                                         "libhoard.", "libsnmalloc"};

/* By the library that they are linked with. */
static const struct interpreter {
    const char *name;
    enum tide_interpreter kind;
} INTERPRETER_LIBRARIES[] = {
    {"libpython", TIDE_INTERPRETER_PYTHON}, {"libjvm.", TIDE_INTERPRETER_JAVA},
    {"libjli.", TIDE_INTERPRETER_JAVA},     {"libnode.", TIDE_INTERPRETER_NODE},
    {"libruby", TIDE_INTERPRETER_RUBY},     {"libperl.", TIDE_INTERPRETER_PERL},
    {"libR.", TIDE_INTERPRETER_R},
};

static const struct arena {
    const char *name, *words;
} ARENA_LIBRARIES[] = {{"libapr-1.", "libapr"}, {"libtalloc.", "libtalloc"}};

static void judge_library(const char *name, struct tide_elf_facts *out)
{
    for (size_t i = 0; i < sizeof(ARENA_LIBRARIES) / sizeof(ARENA_LIBRARIES[0]); i++) {
        if (starts_with(name, ARENA_LIBRARIES[i].name))
            out->arena = ARENA_LIBRARIES[i].words;
    }
    for (size_t i = 0;
         i < sizeof(INTERPRETER_LIBRARIES) / sizeof(INTERPRETER_LIBRARIES[0]); i++) {
        if (starts_with(name, INTERPRETER_LIBRARIES[i].name))
            out->interpreter = INTERPRETER_LIBRARIES[i].kind;
    }
    for (size_t i = 0; i < sizeof(RUNTIMES) / sizeof(RUNTIMES[0]); i++) {
        if (starts_with(name, RUNTIMES[i].start))
            out->shared |= RUNTIMES[i].sanitizer;
    }
    for (size_t i = 0; i < sizeof(ALLOCATORS) / sizeof(ALLOCATORS[0]); i++) {
        if (starts_with(name, ALLOCATORS[i]) && strlen(name) < sizeof(out->library))
            memcpy(out->library, name, strlen(name) + 1);
    }
}

static void read_needed(const struct image *image, struct tide_elf_facts *out)
{
    Elf64_Dyn dyn;
    for (unsigned i = 0; take_dyn(image, i, &dyn); i++) {
        const char *const name =
            dyn.d_tag == DT_NEEDED ? dynamic_string(image, dyn.d_un.d_val) : NULL;
        if (name)
            judge_library(name, out);
    }
}

/* --- Names that the loader finds ---------------------------------------------------- */

static bool defines_symbol(const struct image *image, uint64_t index, const char *name)
{
    Elf64_Sym symbol;
    if (!take(image, image->symbols + index * sizeof(symbol), &symbol, sizeof(symbol)))
        return false;
    const char *const found = dynamic_string(image, symbol.st_name);
    return symbol.st_shndx != SHN_UNDEF && found && strcmp(found, name) == 0;
}

static bool find_by_gnu_hash(const struct image *image, const char *name)
{
    uint32_t head[4], hash = 5381, index, mark = 0; /* buckets, first, bloom, shift */
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    if (!take(image, image->gnu_hash, head, sizeof(head)) || head[0] == 0)
        return false;
    const uint64_t buckets = image->gnu_hash + sizeof(head) + (uint64_t)head[2] * 8;
    const uint64_t chain = buckets + (uint64_t)head[0] * 4;
    if (!take(image, buckets + (uint64_t)(hash % head[0]) * 4, &index, sizeof(index)))
        return false;
    for (unsigned i = 0; i < TIDE_ENTRIES_MOST && index >= head[1]; i++, index++) {
        if (!take(image, chain + (uint64_t)(index - head[1]) * 4, &mark, sizeof(mark)))
            return false;
        if ((mark | 1) == (hash | 1) && defines_symbol(image, index, name))
            return true;
        if (mark & 1)
            return false;
    }
    return false;
}

/* Old files have the older table only: it says at least how many names there are. */
static bool find_one_by_one(const struct image *image, const char *name)
{
    uint32_t head[2] = {0}; /* buckets, names */
    if (!take(image, image->hash, head, sizeof(head)))
        return false;
    for (uint32_t i = 0; i < head[1] && i < TIDE_ENTRIES_MOST; i++) {
        if (defines_symbol(image, i, name))
            return true;
    }
    return false;
}

/* Is NAME defined here, for all to see? */
static bool defines(const struct image *image, const char *name)
{
    if (!image->symbols)
        return false;
    return image->gnu_hash ? find_by_gnu_hash(image, name)
                           : image->hash && find_one_by_one(image, name);
}

static const struct runtime INITS[] = {
    {"__asan_init", TIDE_SANITIZER_ASAN}, {"__hwasan_init", TIDE_SANITIZER_HWASAN},
    {"__lsan_init", TIDE_SANITIZER_LSAN}, {"__msan_init", TIDE_SANITIZER_MSAN},
    {"__tsan_init", TIDE_SANITIZER_TSAN},
};
enum { TIDE_INITS = sizeof(INITS) / sizeof(INITS[0]) };

/* By a function that they define. */
static const struct interpreter INTERPRETERS[] = {
    {"Py_BytesMain", TIDE_INTERPRETER_PYTHON},
    {"_ZN2v87Isolate3NewERKNS0_12CreateParamsE", TIDE_INTERPRETER_NODE},
    {"ruby_init", TIDE_INTERPRETER_RUBY},
    {"perl_parse", TIDE_INTERPRETER_PERL},
    {"php_request_startup", TIDE_INTERPRETER_PHP},
};

/* PostgreSQL, nginx, PHP, Apache, GCC. */
static const struct arena ARENAS[] = {
    {"palloc", "palloc"},
    {"ngx_palloc", "ngx_palloc"},
    {"_emalloc", "emalloc"},
    {"apr_palloc", "apr_palloc"},
    {"_Z18ggc_internal_allocmPFvPvEmm", "ggc_alloc"},
};

static void read_runtimes(const struct image *image, struct tide_elf_facts *out)
{
    for (size_t i = 0; i < sizeof(INTERPRETERS) / sizeof(INTERPRETERS[0]); i++) {
        if (defines(image, INTERPRETERS[i].name))
            out->interpreter = INTERPRETERS[i].kind;
    }
    for (size_t i = 0; i < sizeof(ARENAS) / sizeof(ARENAS[0]); i++) {
        if (defines(image, ARENAS[i].name))
            out->arena = ARENAS[i].words;
    }
}

static void read_names(const struct image *image, struct tide_elf_facts *out)
{
    for (size_t i = 0; i < TIDE_INITS; i++) {
        if (defines(image, INITS[i].start))
            out->inside |= INITS[i].sanitizer;
    }
    out->has_malloc = defines(image, "malloc");
    out->has_new = defines(image, "_Znwm");
    out->asan_options = defines(image, "__asan_default_options");
}

/* --- Sections ------------------------------------------------------------------------ */

static bool take_section(const struct image *image, unsigned index, Elf64_Shdr *out)
{
    return index < image->head.e_shnum && image->head.e_shoff <= image->size &&
           take(image, image->head.e_shoff + (uint64_t)index * sizeof(*out), out,
                sizeof(*out));
}

/* Allocators are often built with a prefix, or hidden from the loader; gcc shows little
 * of a sanitizer's runtime that it put into the executable. */
static void judge_name(const char *name, struct tide_elf_facts *out)
{
    static const char *const hidden[] = {"je_malloc",    "mi_malloc",   "tc_malloc",
                                         "_rjem_malloc", "rjem_malloc", "malloc"};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        if (strcmp(name, hidden[i]) == 0)
            out->hidden = hidden[i];
    }
    for (size_t i = 0; i < TIDE_INITS; i++) {
        if (strcmp(name, INITS[i].start) == 0)
            out->inside |= INITS[i].sanitizer;
    }
}

static void search_symbols(const struct image *image, const Elf64_Shdr *table,
                           uint64_t most, struct tide_elf_facts *out)
{
    Elf64_Shdr strings;
    Elf64_Sym symbol;
    const uint64_t count = table->sh_size / sizeof(symbol);
    if (count > most || table->sh_offset > image->size ||
        !take_section(image, table->sh_link, &strings))
        return;
    for (uint64_t i = 0; i < count; i++) {
        if (!take(image, table->sh_offset + i * sizeof(symbol), &symbol,
                  sizeof(symbol)))
            return;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *const name =
            string_at(image, strings.sh_offset, strings.sh_size, symbol.st_name);
        if (name)
            judge_name(name, out);
    }
}

static void read_sections(const struct image *image, bool thorough,
                          struct tide_elf_facts *out)
{
    Elf64_Shdr names = {0}, section;
    (void)take_section(image, image->head.e_shstrndx, &names);
    for (unsigned i = 0; take_section(image, i, &section); i++) {
        const char *const name =
            string_at(image, names.sh_offset, names.sh_size, section.sh_name);
        if (section.sh_type == SHT_SYMTAB) {
            out->symbols = true;
            search_symbols(image, &section, thorough ? UINT32_MAX : TIDE_SYMBOLS_QUICK,
                           out);
        }
        if (!name)
            continue;
        out->debug |=
            strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
        out->go |=
            strcmp(name, ".go.buildinfo") == 0 || strcmp(name, ".note.go.buildid") == 0;
    }
}

/* --- All together ------------------------------------------------------------------------ */

/* Of a file for this machine, whose headers are whole. */
static enum tide_elf_kind kind_of(const struct image *image,
                                  const struct tide_elf_facts *facts)
{
    const char *const soname =
        image->soname ? dynamic_string(image, image->soname) : NULL;
    if (facts->loader[0] &&
        (image->head.e_type == ET_EXEC || image->head.e_type == ET_DYN))
        return TIDE_ELF_DYNAMIC;
    if (image->head.e_type == ET_EXEC)
        return TIDE_ELF_STATIC;
    if (image->head.e_type != ET_DYN)
        return TIDE_ELF_OBJECT;
    if (soname && starts_with(soname, "ld-linux"))
        return TIDE_ELF_DYNAMIC;
    return image->flags_1 & DF_1_PIE ? TIDE_ELF_STATIC : TIDE_ELF_OBJECT;
}

static bool is_foreign(const struct tide_elf_facts *facts, const uint8_t *bytes)
{
    return facts->bits != 64 || bytes[EI_DATA] != TIDE_OWN_ORDER ||
           facts->machine != TIDE_OWN_MACHINE;
}

void tide_elf_look(const uint8_t *bytes, size_t size, bool thorough,
                   struct tide_elf_facts *out)
{
    struct image image = {.bytes = bytes, .size = size};
    *out = (struct tide_elf_facts){.kind = TIDE_ELF_NONE};
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return;
    out->kind = TIDE_ELF_DAMAGED;
    /* Up to e_machine both classes look the same. */
    if (size < sizeof(Elf32_Ehdr))
        return;
    out->bits = bytes[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    const size_t low = bytes[EI_DATA] == ELFDATA2MSB ? 19 : 18;
    out->machine = bytes[low] | (unsigned)bytes[low ^ 1] << 8;
    if (is_foreign(out, bytes)) {
        out->kind = TIDE_ELF_FOREIGN;
        return;
    }
    if (!take(&image, 0, &image.head, sizeof(image.head)) ||
        (image.head.e_phnum > 0 && image.head.e_phentsize != sizeof(Elf64_Phdr)) ||
        !read_phdrs(&image, out))
        return;
    if (image.head.e_shentsize != sizeof(Elf64_Shdr))
        image.head.e_shnum = 0;
    read_dynamic(&image);
    read_needed(&image, out);
    read_names(&image, out);
    read_runtimes(&image, out);
    read_sections(&image, thorough, out);
    if (out->has_malloc)
        out->hidden = NULL;
    out->kind = kind_of(&image, out);
}
