/* capture/cautions.c - what passes the recorder by is said.
 *
 * A preloaded malloc comes after one that the executable itself defines, and a library
 * loaded with RTLD_DEEPBIND or into a namespace of its own binds to libc's.  Nothing can
 * be recorded then, but the report need not be silent about it.
 */
#include "capture/cautions.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/varint.h"
#include "capture/process.h"
#include "capture/record.h"

enum { TIDE_LINE_MAX = 512, TIDE_BYPASSES_SAID = 8 };

/* Up to five pieces of one line, as a note.  Call with busy set. */
static void say(const char *const *pieces)
{
    uint8_t payload[TIDE_VARINT_MAX + TIDE_LINE_MAX];
    char line[TIDE_LINE_MAX];
    size_t length = 0;
    for (; *pieces; pieces++) {
        const size_t bytes = strnlen(*pieces, sizeof(line) - length);
        memcpy(line + length, *pieces, bytes);
        length += bytes;
    }
    uint8_t *const text = tide_put_varint(payload, length);
    memcpy(text, line, length);
    tide_process_note(TIDE_NOTE_TROUBLE, payload, (uint32_t)(text + length - payload));
}

static const struct link_map *home_of(void *address)
{
    struct dl_find_object object;
    return address && _dl_find_object(address, &object) == 0 ? object.dlfo_link_map
                                                             : NULL;
}

static const char *name_of(const struct link_map *module, char *buffer, size_t size)
{
    if (module->l_name && module->l_name[0])
        return module->l_name;
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", buffer, size - 1);
    if (length <= 0)
        return "the program";
    buffer[length] = '\0';
    return buffer;
}

/* Whether ADDRESS is a function's own.  An executable that is not PIE and takes malloc's
 * address has a stub at which everybody's malloc is found, but calls go on from there. */
static bool is_definition(void *address)
{
    Dl_info info;
    void *symbol = NULL;
    return dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) && symbol &&
           ((const ElfW(Sym) *)symbol)->st_shndx != SHN_UNDEF;
}

void tide_cautions_start(void)
{
    static char here;
    char buffer[TIDE_LINE_MAX / 2];
    void *const entry = dlsym(RTLD_DEFAULT, "malloc");
    const struct link_map *const first = home_of(entry);
    if (!first || first == home_of(&here) || !is_definition(entry))
        return;
    const char *const line[] = {name_of(first, buffer, sizeof(buffer)),
                                " defines malloc itself: its heap was not recorded; "
                                "see tidemark doctor",
                                NULL};
    say(line);
}

/* Say LINE now, with nothing of it prepared.  False: it cannot be said here, as in a
 * handler that has interrupted the recorder. */
static bool say_now(const char *const *line)
{
    const int saved = errno;
    struct tide_self *self = &tide_self;
    if (!self->stream && !self->occupied && !self->ended)
        (void)tide_stream_of_thread();
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    const bool room = stream && tide_stream_room(stream, TIDE_RECORD_MAX);
    if (room)
        say(line);
    if (stream)
        tide_leave(self, stream);
    errno = saved;
    return room;
}

void tide_caution_bypass(const char *file)
{
    static _Atomic uint32_t said;
    const char *const line[] = {file ? file : "a library",
                                " was loaded so that its calls go to libc directly "
                                "(RTLD_DEEPBIND, dlmopen): its heap was not recorded",
                                NULL};
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON &&
        atomic_fetch_add(&said, 1) < TIDE_BYPASSES_SAID && !say_now(line))
        atomic_fetch_sub(&said, 1);
}

void tide_caution_end(void)
{
    static const char *const line[] = {
        "the program shut itself off from the system (strict seccomp, PR_SET_TSC): it was "
        "recorded up to there",
        NULL};
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON)
        return;
    (void)say_now(line);
    tide_process_end();
    if (tide_self.stream)
        tide_self.stream->limit = 0; /* not one record more: it might ask the system */
}

void tide_caution_sandbox(enum tide_sandbox_loss loss)
{
    static _Atomic uint32_t said;
    static const char *const memory[] = {
        "the program's system call filter (seccomp) refuses the recorder new memory: threads "
        "that began later are recorded with their innermost frame only",
        NULL};
    static const char *const exec[] = {
        "the program's system call filter (seccomp) would kill what it executes for the "
        "recorder's first calls: such programs were not recorded",
        NULL};
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON &&
        !(atomic_fetch_or(&said, 1u << loss) & 1u << loss))
        (void)say_now(loss == TIDE_SANDBOX_MEMORY ? memory : exec);
}

void tide_caution_arenas(void)
{
    static _Atomic bool said;
    static const char *const line[] = {
        "the program uses arenas of jemalloc of its own (MALLOCX_ARENA): blocks that go with "
        "an arena, by arena.i.destroy or arena.i.reset, count as never freed",
        NULL};
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON && !atomic_load(&said) &&
        !atomic_exchange(&said, true) && !say_now(line))
        atomic_store(&said, false); /* the next one may */
}

void tide_caution_names(void)
{
    static _Atomic bool said;
    static const char *const line[] = {
        "the program uses more names of regions and labels than are kept: the later ones "
        "are unnamed",
        NULL};
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON && !atomic_exchange(&said, true) &&
        !say_now(line))
        atomic_store(&said, false); /* the next one may */
}

void tide_caution_unordered(void)
{
    static const char *const line[] = {
        "too little address space for the order of events across threads: frees may be "
        "paired with the wrong blocks",
        NULL};
    say(line);
}

void tide_caution_idle(const char *call)
{
    static _Atomic bool said;
    const char *const line[] = {"the program calls ", call,
                                ", which does nothing here: what is recorded and shown "
                                "is chosen by tidemark's options",
                                NULL};
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON && !atomic_exchange(&said, true) &&
        !say_now(line))
        atomic_store(&said, false); /* the next one may */
}
