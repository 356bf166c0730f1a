/* symbol/debuginfod.c - debug files from servers, for those who ask for them. */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tide_debuginfod {
    void *library; /* owned */
    void *client;  /* owned */
    bool silent;   /* no server answers */
    /* Of the library; see debuginfod_find_debuginfo(3). */
    void *(*begin)(void);
    void (*end)(void *client);
    int (*find)(void *client, const unsigned char *id, int length, char **path);
};

/* Put the library's function NAME at OUT, a pointer to a function. */
static bool find_function(const struct tide_debuginfod *debuginfod, const char *name,
                          void *out)
{
    void *const found = dlsym(debuginfod->library, name);
    memcpy(out, &found, sizeof(found));
    return found != NULL;
}

static const char *begin(struct tide_debuginfod *debuginfod)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
    const char *const servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !*servers)
        return "DEBUGINFOD_URLS names no server; set it, as "
               "DEBUGINFOD_URLS=https://debuginfod.debian.net";
    debuginfod->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!debuginfod->library)
        return "libdebuginfod.so.1 cannot be loaded (package libdebuginfod1)";
    if (!find_function(debuginfod, "debuginfod_begin", &debuginfod->begin) ||
        !find_function(debuginfod, "debuginfod_end", &debuginfod->end) ||
        !find_function(debuginfod, "debuginfod_find_debuginfo", &debuginfod->find))
        return "libdebuginfod.so.1 is not what it should be";
    debuginfod->client = debuginfod->begin();
    return debuginfod->client ? NULL : "libdebuginfod.so.1 does not start";
}

enum tide_status tide_debuginfod_open(struct tide_debuginfod **out, const char **why)
{
    struct tide_debuginfod *const debuginfod = calloc(1, sizeof(*debuginfod));
    *out = NULL;
    *why = "out of memory";
    if (!debuginfod)
        return TIDE_ENOMEM;
    *why = begin(debuginfod);
    if (*why) {
        tide_debuginfod_close(debuginfod);
        return TIDE_ESYSTEM;
    }
    *out = debuginfod;
    return TIDE_OK;
}

/* The library stays loaded: what it loaded in turn does not like to go. */
void tide_debuginfod_close(struct tide_debuginfod *debuginfod)
{
    if (!debuginfod)
        return;
    if (debuginfod->client)
        debuginfod->end(debuginfod->client);
    free(debuginfod);
}

/* Does ERROR say that there is nobody to ask, rather than that nobody has the file? */
static bool is_silence(int error)
{
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ETIMEDOUT ||
           error == ETIME || error == ENETUNREACH || error == ECONNRESET ||
           error == ENOSYS;
}

struct tide_elf_file *tide_debuginfod_fetch(struct tide_debuginfod *debuginfod,
                                            const struct tide_build_id *id)
{
    struct tide_elf_file *file = NULL;
    char *path = NULL;
    if (!debuginfod || debuginfod->silent || id->length == 0)
        return NULL;
    const int fd =
        debuginfod->find(debuginfod->client, id->bytes, (int)id->length, &path);
    if (fd < 0) {
        debuginfod->silent = is_silence(-fd);
        return NULL;
    }
    (void)close(fd);
    if (path)
        (void)tide_elf_file_open(path, &file);
    free(path);
    if (file && !tide_build_id_equal(&file->id, id)) {
        tide_elf_file_close(file);
        file = NULL;
    }
    return file;
}

bool tide_debuginfod_silent(const struct tide_debuginfod *debuginfod)
{
    return debuginfod && debuginfod->silent;
}

void tide_debuginfod_fell_silent(struct tide_debuginfod *debuginfod)
{
    if (debuginfod)
        debuginfod->silent = true;
}
