/* capture/monitors_alone.c - preloaded for the sake of monitors: nobody has asked for a trace.
 *
 * Who names monitors in the environment wants their reports.  A program whose monitors are
 * its own says so in a note that <tidemark/alloc_monitor.hpp> leaves in its file, or in that
 * of a library it begins with; there TIDEMARK_OUTPUT asks for a trace all the same.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "capture/environment.h"
#include "capture/monitor.h"
#include "capture/session.h"

/* As the header has it. */
static const char NOTE_NAME[] = "tidemark";
enum { TIDE_NOTE_OWN_MONITORS = 1 };

static const char *const VARIABLES[] = {"PAM_FILENAME", "PAM_INTERVAL_MS", "TAAM_MIN",
                                        "TAAM_MAX"};

bool tide_monitors_named(void)
{
    bool named = secure_getenv("TIDEMARK_MONITOR") != NULL;
    for (size_t i = 0; i < sizeof(VARIABLES) / sizeof(*VARIABLES); i++)
        named |= secure_getenv(VARIABLES[i]) != NULL;
    return named;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

/* BYTES of notes at START are one after the other. */
static bool is_noted(const char *start, size_t bytes)
{
    ElfW(Nhdr) note;
    while (bytes >= sizeof(note)) {
        memcpy(&note, start, sizeof(note));
        const size_t name = aligned(note.n_namesz), rest = aligned(note.n_descsz);
        const size_t whole = sizeof(note) + name + rest;
        if (name < note.n_namesz || rest < note.n_descsz || whole > bytes)
            return false;
        if (note.n_type == TIDE_NOTE_OWN_MONITORS &&
            note.n_namesz == sizeof(NOTE_NAME) &&
            memcmp(start + sizeof(note), NOTE_NAME, sizeof(NOTE_NAME)) == 0)
            return true;
        start += whole;
        bytes -= whole;
    }
    return false;
}

/* Notes may be in the file only: what is not loaded, or may not be read, is not looked at. */
static bool is_readable(const struct dl_phdr_info *module, const ElfW(Phdr) * part)
{
    for (size_t i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *const loaded = &module->dlpi_phdr[i];
        if (loaded->p_type == PT_LOAD && loaded->p_flags & PF_R &&
            part->p_vaddr >= loaded->p_vaddr && part->p_memsz <= loaded->p_memsz &&
            part->p_vaddr - loaded->p_vaddr <= loaded->p_memsz - part->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *module, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (size_t i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &module->dlpi_phdr[i];
        const uintptr_t start = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_NOTE && is_readable(module, part) &&
            is_noted((const char *)start, part->p_memsz))
            return 1;
    }
    return 0;
}

bool tide_monitors_wanted_alone(void)
{
    if (tide_monitors_named())
        return true;
    if (secure_getenv("TIDEMARK_OUTPUT") || !dl_iterate_phdr(look_at, NULL))
        return false;
    /* What it starts is not recorded either. */
    (void)tide_environment_set(TIDE_SESSION_ENV, "");
    return true;
}
