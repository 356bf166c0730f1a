/* collect/session_folder.c - the folder where targets find their collector.
 *
 * A collector removes its folder; one that was killed cannot.  Nobody listens on the
 * socket of such a folder, which is how the next one knows: a socket has its name only once
 * somebody listens (handshake.c).  Where folders are shared by machines that says nothing of
 * another one's, so the name of a folder tells on which it was made, and since which start.
 */
#include "collect/session_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "trace/ring.h"
#include "trace/writer.h"

enum {
    TIDE_FOLDER_MOST = 90, /* leaves room for the name of the socket */
    TIDE_PASSABLE = 0711,  /* everybody who knows its name may pass through */
    TIDE_OLD_S = 60, /* a younger folder may belong to one who has no socket yet */
    TIDE_MACHINE_BYTES = 8, /* of the number that Linux has for a start of the system */
    TIDE_PREFIX_BYTES = 24,
    TIDE_TRACE_MOST = 3072, /* longer paths are not linked */
    TIDE_SWEEP_MOST = 1000, /* entries of a crowded /tmp that a start is kept up by */
};
static const char PREFIX[] = "tidemark-";

/* Without the heap: its failure must leave nothing behind. */
static void remove_from(const char *folder, const char *name)
{
    char path[512]; /* a parent below TIDE_FOLDER_MOST, a name, and another */
    const int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (length > 0 && (size_t)length < sizeof(path))
        (void)unlink(path);
}

void tide_session_folder_remove(const char *path)
{
    remove_from(path, TIDE_SOCKET_NAME);
    remove_from(path, TIDE_SOCKET_EARLY);
    remove_from(path, TIDE_SILENT_NAME);
    remove_from(path, TIDE_TRACE_LINK);
    (void)rmdir(path);
}

/* Without it targets go on, and say so when they need it. */
void tide_session_folder_link(const char *path, const struct tide_writer *writer)
{
    char open_file[64], trace[TIDE_TRACE_MOST], link[512];
    const int fd = tide_writer_open_again(writer);
    if (fd < 0)
        return;
    (void)snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(open_file, trace, sizeof(trace) - 1);
    const int named = snprintf(link, sizeof(link), "%s/%s", path, TIDE_TRACE_LINK);
    (void)close(fd);
    if (length <= 0 || trace[0] != '/' || named < 0 || (size_t)named >= sizeof(link))
        return;
    trace[length] = '\0';
    if (symlink(trace, link) != 0)
        return;
}

void tide_session_folder_speak(const char *path)
{
    remove_from(path, TIDE_SILENT_NAME);
}

/* How the names of all folders begin that this system made; false: it has no number, so
 * nothing is known of others. */
static bool find_prefix(char prefix[TIDE_PREFIX_BYTES])
{
    char machine[TIDE_MACHINE_BYTES + 1] = "";
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, machine, TIDE_MACHINE_BYTES);
    const bool known = got == TIDE_MACHINE_BYTES && !strchr(machine, '/');
    if (fd >= 0)
        (void)close(fd);
    (void)snprintf(prefix, TIDE_PREFIX_BYTES, "%s%s%s", PREFIX, known ? machine : "",
                   known ? "-" : "");
    return known;
}

/* What connecting to the socket in the folder PATH gives: 0, or an error. */
static int try_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s",
                                path, TIDE_SOCKET_NAME);
    if (length < 0 || (size_t)length >= sizeof(address.sun_path))
        return ENAMETOOLONG;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    const struct sockaddr *const where = (const struct sockaddr *)&address;
    const int problem = connect(fd, where, sizeof(address)) == 0 ? 0 : errno;
    (void)close(fd);
    return problem;
}

/* Is PATH a folder of ours, not a link, whose collector is dead? */
static bool is_deserted(const char *path)
{
    struct stat found;
    if (lstat(path, &found) != 0 || !S_ISDIR(found.st_mode) ||
        found.st_uid != geteuid() || (found.st_mode & 066) != 0)
        return false;
    const int problem = try_socket(path);
    return problem == ECONNREFUSED ||
           (problem == ENOENT && time(NULL) - found.st_mtime > TIDE_OLD_S);
}

static void sweep(const char *parent, const char *prefix)
{
    DIR *const folder = opendir(parent);
    const struct dirent *item;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    for (int i = 0; folder && i < TIDE_SWEEP_MOST && (item = readdir(folder)); i++) {
        if (strncmp(item->d_name, prefix, strlen(prefix)) != 0)
            continue;
        struct tide_text path = {0};
        tide_text_addf(&path, "%s/%s", parent, item->d_name);
        if (!path.failed && is_deserted(path.bytes))
            tide_session_folder_remove(path.bytes);
        tide_text_release(&path);
    }
    if (folder)
        (void)closedir(folder);
}

/* Could another user put a folder of his in the place of ours? */
static bool is_safe(const char *parent)
{
    struct stat found;
    return stat(parent, &found) == 0 &&
           (found.st_uid == geteuid() || found.st_uid == 0) &&
           ((found.st_mode & S_ISVTX) || !(found.st_mode & 022));
}

static char *make_below(const char *parent)
{
    char path[TIDE_FOLDER_MOST], prefix[TIDE_PREFIX_BYTES];
    if (!parent || parent[0] != '/' || !is_safe(parent))
        return NULL;
    const bool known = find_prefix(prefix);
    const int length = snprintf(path, sizeof(path), "%s/%sXXXXXX", parent, prefix);
    if (length < 0 || (size_t)length >= sizeof(path) || !mkdtemp(path))
        return NULL;
    /* What root starts may become another user and execute a program; it shall find us.
     * Who else comes in is not let in: see handshake.c. */
    if (geteuid() == 0)
        (void)chmod(path, TIDE_PASSABLE);
    if (known)
        sweep(parent, prefix);
    char *const copy = strdup(path);
    if (!copy)
        (void)rmdir(path);
    return copy;
}

char *tide_session_folder_make(void)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
    char *path = make_below(getenv("XDG_RUNTIME_DIR"));
    if (!path) // NOLINTNEXTLINE(concurrency-mt-unsafe)
        path = make_below(getenv("TMPDIR"));
    return path ? path : make_below("/tmp");
}
