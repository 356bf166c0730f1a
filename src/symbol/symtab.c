/* symbol/symtab.c - functions by address, from an ELF symbol table.
 *
 * Libraries give one function several names.  Of those at one address the table keeps
 * the one that a programmer would most likely have typed, by these rules in turn:
 *
 *   1. no clone mark (`f` before `f.localalias`, `f.cold`);
 *   2. fewer leading underscores (`write` before `__write`, `malloc` before
 *      `__libc_malloc`); those of a mangled name do not count;
 *   3. global before local before weak;
 *   4. the shorter, then the smaller in the order of bytes (`free` before `cfree`).
 *
 * A symbol without size reaches to the next one, or to the end of its section.
 */
#include "symbol/symtab.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* More symbols than any linker writes; each takes 24 bytes of the file. */
enum { TIDE_SYMBOLS_MAX = 32 * 1024 * 1024 };

struct symbol {
    uint64_t address, end; /* end == address: no size given */
    uint64_t section_end;
    const char *name; /* borrowed from the ELF file */
    uint8_t underscores, binding;
    bool clone;
};

struct symbols {
    struct symbol *list; /* owned */
    size_t count;
};

static uint8_t count_underscores(const char *name)
{
    if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
        return 0;
    const size_t count = strspn(name, "_");
    return (uint8_t)(count < UINT8_MAX ? count : UINT8_MAX);
}

static uint8_t binding_rank(unsigned char info)
{
    switch (GELF_ST_BIND(info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
        return 0;
    case STB_LOCAL:
        return 1;
    default:
        return 2;
    }
}

/* The end of section INDEX; 0 when there is none. */
static uint64_t section_end(Elf *elf, size_t index)
{
    GElf_Shdr header;
    Elf_Scn *const section = elf_getscn(elf, index);
    if (!section || !gelf_getshdr(section, &header))
        return 0;
    return header.sh_addr + header.sh_size;
}

static bool is_function(const GElf_Sym *symbol)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0;
}

static enum tide_status collect(struct symbols *symbols, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    Elf_Data *const data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header) || (header.sh_flags & SHF_COMPRESSED))
        return TIDE_OK;
    const size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    const size_t count = size > 0 ? data->d_size / size : 0;
    if (count == 0 || count > TIDE_SYMBOLS_MAX)
        return TIDE_OK;
    struct symbol *const list =
        reallocarray(symbols->list, symbols->count + count, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    symbols->list = list;

    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || !is_function(&symbol))
            continue;
        const char *const name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (!name || name[0] == '\0' || name[0] == '@')
            continue;
        symbols->list[symbols->count++] = (struct symbol){
            .address = symbol.st_value,
            .end = symbol.st_value + symbol.st_size,
            .section_end = section_end(elf, symbol.st_shndx),
            .name = name,
            .underscores = count_underscores(name),
            .binding = binding_rank(symbol.st_info),
            .clone = strchr(name + 1, '.') != NULL,
        };
    }
    return TIDE_OK;
}

/* By address, the best name first. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *const a = left;
    const struct symbol *const b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->clone != b->clone)
        return a->clone - b->clone;
    if (a->underscores != b->underscores)
        return a->underscores - b->underscores;
    if (a->binding != b->binding)
        return a->binding - b->binding;
    const size_t a_length = strlen(a->name);
    const size_t b_length = strlen(b->name);
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Keep one symbol for each address: the best name, the largest end. */
static void keep_best(struct symbols *symbols)
{
    size_t kept = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        struct symbol *const last = kept > 0 ? &symbols->list[kept - 1] : NULL;
        if (!last || last->address != symbols->list[i].address)
            symbols->list[kept++] = symbols->list[i];
        else if (last->end < symbols->list[i].end)
            last->end = symbols->list[i].end;
    }
    symbols->count = kept;
}

static void give_sizes(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        struct symbol *const symbol = &symbols->list[i];
        if (symbol->end > symbol->address)
            continue;
        symbol->end = symbol->section_end;
        if (i + 1 < symbols->count && symbol->end > symbols->list[i + 1].address)
            symbol->end = symbols->list[i + 1].address;
    }
}

static enum tide_status fill(struct tide_symtab *table, const struct symbols *symbols)
{
    table->entries = calloc(symbols->count, sizeof(*table->entries));
    if (!table->entries)
        return TIDE_ENOMEM;
    table->count = symbols->count;

    enum tide_status status = TIDE_OK;
    struct tide_span_list spans = {0};
    for (size_t i = 0; i < symbols->count && !status; i++) {
        table->entries[i].linked = symbols->list[i].name;
        status = tide_span_list_add(&spans, &(struct tide_span){
                                                .low = symbols->list[i].address,
                                                .high = symbols->list[i].end,
                                                .owner = (uint32_t)i,
                                            });
    }
    if (!status)
        status = tide_span_table_build(&table->spans, &spans);
    tide_span_list_release(&spans);
    return status;
}

static Elf_Scn *find_table(Elf *elf, GElf_Word type)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            return section;
    }
    return NULL;
}

static enum tide_status collect_from(struct symbols *symbols,
                                     const struct tide_elf_file *file)
{
    Elf_Scn *const section =
        file ? find_table(file->elf, file->has_symtab ? SHT_SYMTAB : SHT_DYNSYM) : NULL;
    return section ? collect(symbols, file->elf, section) : TIDE_OK;
}

enum tide_status tide_symtab_load(struct tide_symtab *table,
                                  const struct tide_elf_file *file,
                                  const struct tide_elf_file *more)
{
    *table = (struct tide_symtab){0};
    struct symbols symbols = {0};
    enum tide_status status = collect_from(&symbols, file);
    if (!status)
        status = collect_from(&symbols, more);
    if (!status && symbols.count > 0) {
        qsort(symbols.list, symbols.count, sizeof(*symbols.list), compare_symbols);
        keep_best(&symbols);
        give_sizes(&symbols);
        status = fill(table, &symbols);
    }
    free(symbols.list);
    if (status)
        tide_symtab_release(table);
    return status;
}

void tide_symtab_release(struct tide_symtab *table)
{
    free(table->entries);
    tide_span_table_release(&table->spans);
    *table = (struct tide_symtab){0};
}

/* Without the version that linkers put behind it: memcpy@@GLIBC_2.14. */
static const char *show(const char *linked, struct tide_name_pool *pool)
{
    const char *const version = strchr(linked, '@');
    if (!version)
        return tide_name_pool_add_demangled(pool, linked);
    char *const bare = strndup(linked, (size_t)(version - linked));
    if (!bare)
        return NULL;
    const char *const shown = tide_name_pool_add_demangled(pool, bare);
    free(bare);
    return shown;
}

const char *tide_symtab_find(struct tide_symtab *table, uint64_t address,
                             struct tide_name_pool *pool)
{
    const uint32_t index = tide_span_table_find(&table->spans, address);
    if (index == TIDE_NO_OWNER)
        return NULL;
    struct tide_symtab_entry *const entry = &table->entries[index];
    if (!entry->shown)
        entry->shown = show(entry->linked, pool);
    return entry->shown;
}
