/* unit/test_unwind_starts.c - where functions begin, by the unwind tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gelf.h>

#include "symbol/unwind_starts.h"

static struct tide_elf_file *file;
static struct tide_unwind_starts starts;

static int begin(void **state)
{
    (void)state;
    memset(&starts, 0, sizeof(starts));
    if (tide_elf_file_open("/proc/self/exe", &file))
        return -1;
    tide_unwind_starts_load(&starts, file);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    tide_elf_file_close(file);
    return 0;
}

static uint64_t middle_of(const GElf_Sym *symbol)
{
    return symbol->st_value + symbol->st_size / 2;
}

/* This test's own functions, of which the symbol table has starts and lengths. */
static void agrees_with_the_symbol_table(void **state)
{
    (void)state;
    size_t known = 0, same = 0;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        GElf_Shdr header;
        Elf_Data *const data = elf_getdata(section, NULL);
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !data)
            continue;
        for (int i = 0; (size_t)i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            assert_non_null(gelf_getsym(data, i, &symbol));
            if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size < 8)
                continue;
            const uint64_t middle =
                tide_unwind_starts_find(&starts, middle_of(&symbol));
            known++;
            same += middle == symbol.st_value;
            assert_int_equal(tide_unwind_starts_find(&starts, symbol.st_value), middle);
        }
    }
    assert_true(known > 10);
    assert_true(same > known - 5); /* _start and its like come from assembly */
}

static void knows_nothing_outside(void **state)
{
    (void)state;
    assert_true(starts.count > 10);
    assert_int_equal(tide_unwind_starts_find(&starts, 0), 0);
    assert_int_equal(tide_unwind_starts_find(&starts, UINT64_MAX), 0);
    const struct tide_unwind_starts none = {0};
    assert_int_equal(tide_unwind_starts_find(&none, 0x1000), 0);
}

/* Any byte of the tables may be wrong: then answers are, but nothing else is read. */
static void bears_damage(void **state)
{
    (void)state;
    const size_t table_bytes = starts.count * 8;
    uint8_t *const table = malloc(table_bytes);
    uint8_t *const frames = malloc(starts.frame_bytes);
    assert_true(table && frames);
    uint64_t random = 7;
    for (int round = 0; round < 200; round++) {
        struct tide_unwind_starts damaged = starts;
        memcpy(table, starts.table, table_bytes);
        memcpy(frames, starts.frames, starts.frame_bytes);
        for (int i = 0; i < 50; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            table[(random >> 20) % table_bytes] ^= (uint8_t)(random >> 56);
            frames[(random >> 24) % starts.frame_bytes] ^= (uint8_t)(random >> 48);
        }
        damaged.table = table;
        damaged.frames = frames;
        for (uint64_t address = 0; address < starts.base + 0x1000; address += 997)
            (void)tide_unwind_starts_find(&damaged, address);
    }
    free(table);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(agrees_with_the_symbol_table, begin, leave),
        cmocka_unit_test_setup_teardown(knows_nothing_outside, begin, leave),
        cmocka_unit_test_setup_teardown(bears_damage, begin, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
