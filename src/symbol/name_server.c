/* symbol/name_server.c - the process that reads names: answer until nobody asks.
 */
#include "symbol/name_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"
#include "symbol/debuginfod.h"
#include "symbol/name_wire.h"
#include "symbol/symbolizer.h"

enum {
    TIDE_SERVER_SECONDS = 60, /* of processor time, for one request */
    TIDE_SERVER_ENOUGH = 32 * 1024,
};

struct server {
    int fd;
    struct tide_debuginfod *debuginfod; /* borrowed; may be NULL */
    struct tide_symbolizer **modules;   /* owned, by number; NULL: not open */
    uint32_t module_count;
    uint32_t asked;                     /* the module whose texts are in SENT */
    const char *sent[TIDE_NAME_PLACES]; /* borrowed from the symbolizers */
    struct tide_text out;               /* answers that were not written yet */
};

/* --- Bytes ------------------------------------------------------------------------- */

bool tide_name_receive(int fd, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        const ssize_t done = recv(fd, at, size, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

bool tide_name_send(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t done = send(fd, at, size, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static bool flush(struct server *server)
{
    const bool done = !server->out.failed &&
                      tide_name_send(server->fd, server->out.bytes, server->out.length);
    tide_text_clear(&server->out);
    return done;
}

/* --- Answers ----------------------------------------------------------------------- */

/* The place of TEXT; *BYTES is its length when it is not there yet.  Equal names of a module
 * have one pointer. */
static uint32_t place_of(struct server *server, const char *text, uint32_t *bytes)
{
    *bytes = 0;
    if (!text)
        return TIDE_NAME_NONE;
    const uint32_t place =
        (uint32_t)(((uintptr_t)text * 0x9e3779b97f4a7c15u) >> 40) % TIDE_NAME_PLACES;
    const size_t length = strlen(text);
    if (length == 0 || length > TIDE_NAME_TEXT_MOST)
        return TIDE_NAME_NONE;
    if (server->sent[place] != text)
        *bytes = (uint32_t)length;
    server->sent[place] = text;
    return place;
}

static void add_location(struct server *server, const struct tide_location *location)
{
    struct tide_name_location sent = {.start = location->start, .line = location->line};
    sent.function = place_of(server, location->function, &sent.function_bytes);
    sent.file = place_of(server, location->file, &sent.file_bytes);
    tide_text_add_bytes(&server->out, (const char *)&sent, sizeof(sent));
    if (sent.function_bytes)
        tide_text_add_bytes(&server->out, location->function, sent.function_bytes);
    if (sent.file_bytes)
        tide_text_add_bytes(&server->out, location->file, sent.file_bytes);
}

/* Answer for one ADDRESS; false when there are no more answers. */
static bool answer(struct server *server, uint32_t module, uint64_t address)
{
    const struct tide_location *locations = NULL;
    size_t count = 0;
    struct tide_name_answer sent = {.status = TIDE_ENOMEM, .state = TIDE_MODULE_GONE};
    struct tide_symbolizer *const symbolizer =
        module < server->module_count ? server->modules[module] : NULL;
    if (symbolizer) {
        sent.status = tide_symbolizer_find(symbolizer, address, &locations, &count);
        sent.state = tide_symbolizer_state(symbolizer);
    }
    sent.silent = tide_debuginfod_silent(server->debuginfod);
    sent.count = count < TIDE_NAME_LOCATIONS_MOST ? (uint32_t)count : 0;
    tide_text_add_bytes(&server->out, (const char *)&sent, sizeof(sent));
    for (uint32_t i = 0; i < sent.count; i++)
        add_location(server, &locations[i]);
    return !sent.status;
}

static void forget_texts(struct server *server, uint32_t module)
{
    memset(server->sent, 0, sizeof(server->sent));
    server->asked = module;
}

/* --- Requests ---------------------------------------------------------------------- */

static void close_module(struct server *server, uint32_t module)
{
    if (module >= server->module_count)
        return;
    tide_symbolizer_close(server->modules[module]);
    server->modules[module] = NULL;
    forget_texts(server, TIDE_NAME_NONE); /* pointers may come again */
}

static bool have_place(struct server *server, uint32_t module)
{
    if (module < server->module_count)
        return true;
    const uint32_t count = module + 1;
    struct tide_symbolizer **const modules =
        reallocarray(server->modules, count, sizeof(struct tide_symbolizer *));
    if (!modules)
        return false;
    for (uint32_t i = server->module_count; i < count; i++)
        modules[i] = NULL;
    server->modules = modules;
    server->module_count = count;
    return true;
}

static bool take_open(struct server *server, const struct tide_name_request *request)
{
    char *const texts = malloc((size_t)request->size + 1);
    if (!texts || !tide_name_receive(server->fd, texts, request->size)) {
        free(texts);
        return false;
    }
    const char *const path = texts, *const id = path + strlen(path) + 1,
                      *const root = id + strlen(id) + 1;
    const struct tide_symbolizer_options options = {
        .file = request->file,
        .debug_root = root,
        .debuginfod = server->debuginfod,
        .symbols_only = request->symbols_only,
    };
    close_module(server, request->module);
    if (have_place(server, request->module) &&
        tide_symbolizer_open(path, id, &options, &server->modules[request->module]))
        server->modules[request->module] =
            NULL; /* questions say that it is not there */
    free(texts);
    return true;
}

static bool take_find(struct server *server, const struct tide_name_request *request)
{
    uint64_t *const addresses = calloc((size_t)request->size + 1, sizeof(*addresses));
    bool going = addresses && tide_name_receive(server->fd, addresses,
                                                request->size * sizeof(*addresses));
    bool known = true;
    if (server->asked != request->module)
        forget_texts(server, request->module);
    for (uint32_t i = 0; i < request->size && going && known; i++) {
        known = answer(server, request->module, addresses[i]);
        if (server->out.length >= TIDE_SERVER_ENOUGH)
            going = flush(server);
    }
    free(addresses);
    return going && flush(server);
}

/* What goes round in circles is stopped; MOST is the limit that the process came with. */
static void limit_time(rlim_t most)
{
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit))
        return;
    const rlim_t until = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec +
                         TIDE_SERVER_SECONDS;
    limit.rlim_cur = until < most ? until : most; /* RLIM_INFINITY is the largest */
    (void)setrlimit(RLIMIT_CPU, &limit);
}

void tide_name_serve(int fd, struct tide_debuginfod *debuginfod)
{
    struct server *const server = calloc(1, sizeof(*server)); /* large for a stack */
    struct tide_name_request request;
    struct rlimit came_with = {RLIM_INFINITY, RLIM_INFINITY};
    bool going = server != NULL;
    (void)getrlimit(RLIMIT_CPU, &came_with);
    if (server)
        *server = (struct server){
            .fd = fd, .debuginfod = debuginfod, .asked = TIDE_NAME_NONE};
    while (going && tide_name_receive(fd, &request, sizeof(request))) {
        limit_time(came_with.rlim_cur);
        if (request.kind == TIDE_NAME_OPEN)
            going = take_open(server, &request);
        else if (request.kind == TIDE_NAME_FIND)
            going = take_find(server, &request);
        else
            close_module(server, request.module);
    }
    /* The process ends: nobody needs what is left. */
}
