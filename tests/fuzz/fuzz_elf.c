/* fuzz/fuzz_elf.c - the reader of executables against bytes that somebody else has
 * chosen.
 *
 * The bytes lie in a block of their own size, so that the sanitizer sees any step out of
 * it.  With an even first byte the head of a program for this machine is put in front,
 * for most of the reader lies behind that check.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/inspect_elf.h"

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend(uint8_t *bytes)
{
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1};
    Elf64_Ehdr head;
    memcpy(&head, bytes, sizeof(head));
    memcpy(head.e_ident, ident, sizeof(ident));
    head.e_machine = EM_X86_64;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_phnum %= 8;
    head.e_shnum %= 8;
    memcpy(bytes, &head, sizeof(head));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *const bytes = size ? malloc(size) : NULL;
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    if (!(bytes[0] & 1) && size >= sizeof(Elf64_Ehdr))
        mend(bytes);
    struct tide_elf_facts facts;
    struct tide_checks checks = {0};
    tide_elf_look(bytes, size, true, &facts);
    tide_inspect_elf("input", &facts, &checks);
    tide_checks_release(&checks);
    free(bytes);
    return 0;
}
