/* unit/test_elf_facts.c - what an executable file is, told from any bytes.
 *
 * The executables are this test itself and damaged copies of it, in a block of exactly
 * their size: the sanitized build of this test sees any step out of it.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/elf_facts.h"
#include "dice.h"

static uint8_t *own;
static size_t own_size;

static int read_own(void **state)
{
    (void)state;
    FILE *const file = fopen("/proc/self/exe", "re");
    if (!file || fseek(file, 0, SEEK_END))
        return -1;
    own_size = (size_t)ftell(file);
    rewind(file);
    own = malloc(own_size);
    const size_t got = own ? fread(own, 1, own_size, file) : 0;
    (void)fclose(file);
    return got == own_size ? 0 : -1;
}

static int forget_own(void **state)
{
    (void)state;
    free(own);
    return 0;
}

/* Of the first SIZE bytes, in a block of that size. */
static struct tide_elf_facts look_at(const uint8_t *bytes, size_t size)
{
    struct tide_elf_facts facts;
    uint8_t *const copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    tide_elf_look(copy, size, true, &facts);
    free(copy);
    return facts;
}

static Elf64_Ehdr own_head(void)
{
    Elf64_Ehdr head;
    memcpy(&head, own, sizeof(head));
    return head;
}

/* The same with another head. */
static struct tide_elf_facts look_with(const Elf64_Ehdr *head)
{
    const Elf64_Ehdr before = own_head();
    memcpy(own, head, sizeof(*head));
    const struct tide_elf_facts facts = look_at(own, own_size);
    memcpy(own, &before, sizeof(before));
    return facts;
}

static void knows_a_dynamic_program(void **state)
{
    (void)state;
    const struct tide_elf_facts facts = look_at(own, own_size);
    assert_int_equal(facts.kind, TIDE_ELF_DYNAMIC);
    assert_non_null(strstr(facts.loader, "/ld-linux"));
    assert_true(facts.frame_table);
    assert_true(facts.symbols);
    assert_false(facts.go);
    assert_null(facts.hidden);
}

static void takes_other_bytes_for_none(void **state)
{
    (void)state;
    assert_int_equal(look_at((const uint8_t *)"", 0).kind, TIDE_ELF_NONE);
    assert_int_equal(look_at((const uint8_t *)"\177EL", 3).kind, TIDE_ELF_NONE);
    assert_int_equal(look_at((const uint8_t *)"#!/bin/sh\n", 10).kind, TIDE_ELF_NONE);
}

static void calls_every_cut_off_file_damaged(void **state)
{
    (void)state;
    const Elf64_Ehdr head = own_head();
    const size_t headers = head.e_phoff + (size_t)head.e_phnum * sizeof(Elf64_Phdr);
    for (size_t size = SELFMAG; size < headers; size++)
        assert_int_equal(look_at(own, size).kind, TIDE_ELF_DAMAGED);
    assert_int_equal(look_at(own, own_size / 4).kind, TIDE_ELF_DAMAGED);
}

static void tells_programs_for_other_machines(void **state)
{
    (void)state;
    Elf64_Ehdr head = own_head();
    head.e_machine = EM_S390;
    struct tide_elf_facts facts = look_with(&head);
    assert_int_equal(facts.kind, TIDE_ELF_FOREIGN);
    assert_int_equal(facts.machine, EM_S390);

    head = own_head();
    head.e_ident[EI_CLASS] = ELFCLASS32;
    head.e_machine = EM_386;
    facts = look_with(&head);
    assert_int_equal(facts.kind, TIDE_ELF_FOREIGN);
    assert_int_equal(facts.bits, 32);
    assert_int_equal(facts.machine, EM_386);
}

static void tells_what_is_no_program(void **state)
{
    (void)state;
    Elf64_Ehdr head = own_head();
    head.e_type = ET_REL;
    assert_int_equal(look_with(&head).kind, TIDE_ELF_OBJECT);
    head.e_type = ET_CORE;
    assert_int_equal(look_with(&head).kind, TIDE_ELF_OBJECT);
}

/* Without its PT_INTERP this test is what static-pie looks like. */
static void calls_a_program_without_loader_static(void **state)
{
    (void)state;
    const Elf64_Ehdr head = own_head();
    for (unsigned i = 0; i < head.e_phnum; i++) {
        uint8_t *const at = own + head.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr phdr;
        memcpy(&phdr, at, sizeof(phdr));
        if (phdr.p_type != PT_INTERP)
            continue;
        phdr.p_type = PT_NULL;
        memcpy(at, &phdr, sizeof(phdr));
        Elf64_Ehdr fixed = head;
        fixed.e_type = ET_EXEC;
        assert_int_equal(look_with(&fixed).kind, TIDE_ELF_STATIC);
        phdr.p_type = PT_INTERP;
        memcpy(at, &phdr, sizeof(phdr));
        return;
    }
    fail();
}

/* Whatever stands in the headers and tables, it ends, and touches nothing outside. */
static void survives_damage_of_every_kind(void **state)
{
    (void)state;
    static const uint64_t odd[] = {0,          1,          UINT32_MAX, UINT64_MAX,
                                   1ull << 31, 1ull << 63, 4096,       7};
    enum { TIDE_WOUNDS = 16 };
    struct dice dice = {20261115};
    for (int round = 0; round < 2000; round++) {
        struct tide_elf_facts facts;
        size_t places[TIDE_WOUNDS];
        uint64_t before[TIDE_WOUNDS];
        const int wounds = 1 + round % TIDE_WOUNDS;
        const int reach = round % 2 ? 4096 : (int)own_size;
        for (int i = 0; i < wounds; i++) {
            places[i] = 16 + (size_t)dice_roll(&dice, reach - 24);
            memcpy(&before[i], own + places[i], sizeof(before[i]));
            memcpy(own + places[i], &odd[dice_roll(&dice, 8)],
                   (size_t)1 << dice_roll(&dice, 4));
        }
        tide_elf_look(own, own_size, false, &facts);
        assert_non_null(memchr(facts.loader, '\0', sizeof(facts.loader)));
        assert_non_null(memchr(facts.library, '\0', sizeof(facts.library)));
        for (int i = wounds; i-- > 0;)
            memcpy(own + places[i], &before[i], sizeof(before[i]));
    }
    assert_int_equal(look_at(own, own_size).kind, TIDE_ELF_DYNAMIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_a_dynamic_program),
        cmocka_unit_test(takes_other_bytes_for_none),
        cmocka_unit_test(calls_every_cut_off_file_damaged),
        cmocka_unit_test(tells_programs_for_other_machines),
        cmocka_unit_test(tells_what_is_no_program),
        cmocka_unit_test(calls_a_program_without_loader_static),
        cmocka_unit_test(survives_damage_of_every_kind),
    };
    return cmocka_run_group_tests(tests, read_own, forget_own);
}
