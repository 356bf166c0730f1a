/* collect/handshake.c - a target knocks, and gets its shared memory.
 *
 * One message each way: see trace/ring.h.  The target waits for the answer, so its
 * program file and command line can be read while they are certainly its own.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"
#include "collect/procfs.h"
#include "collect/segment.h"
#include "collect/session_folder.h"

enum {
    TIDE_BACKLOG = 1024,
    TIDE_GENERATIONS = 64,
    TIDE_ENVIRON_MOST = 128 * 1024, /* bytes of an environment that are searched */
    TIDE_MISSED_NAMED = 10, /* lines of trouble about those who were not recorded */
};

int tide_handshake_listen(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[sizeof(address.sun_path)];
    const int early = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s",
                               directory, TIDE_SOCKET_EARLY);
    const int length =
        snprintf(name, sizeof(name), "%s/%s", directory, TIDE_SOCKET_NAME);
    if (early < 0 || length < early || (size_t)length >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    const struct sockaddr *const where = (const struct sockaddr *)&address;
    if (bind(fd, where, sizeof(address)) == 0 && listen(fd, TIDE_BACKLOG) == 0) {
        if (geteuid() == 0)
            (void)chmod(address.sun_path, 0666);
        if (rename(address.sun_path, name) == 0)
            return fd;
    }
    const int problem = errno;
    (void)close(fd);
    errno = problem;
    return -1;
}

/* Is PID the program, a process that is being recorded, or below one of them? */
static bool is_of_the_run(struct tide_collector *collector, uint32_t pid)
{
    for (int i = 0; i < TIDE_GENERATIONS && pid > 1; i++) {
        if (pid == collector->main_pid && !collector->main_ended)
            return true;
        pthread_mutex_lock(&collector->lock);
        bool found = false;
        for (const struct tide_target *t = collector->targets; t && !found; t = t->next)
            found = t->pid == pid && t->watch == TIDE_WATCH_PIDFD && !t->gone;
        pthread_mutex_unlock(&collector->lock);
        if (found)
            return true;
        pid = tide_procfs_parent(pid);
    }
    return false;
}

/* Only who could read our memory anyway may be recorded by us; or, when we are root, a
 * process of the run that has become another user. */
static bool may_enter(struct tide_collector *collector, const struct ucred *peer)
{
    const uid_t self = geteuid();
    return peer->uid == self || peer->uid == 0 ||
           (self == 0 && is_of_the_run(collector, (uint32_t)peer->pid));
}

static bool know_peer(int fd, struct ucred *peer)
{
    socklen_t length = sizeof(*peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length) == 0;
}

static bool listen_to(const struct tide_collector *collector, int fd)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = TIDE_SOURCE_CONNECTION | (uint32_t)fd};
    return epoll_ctl(collector->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Close FD and forget it.  It leaves the epoll set first: after fork, closing it here
 * may not be the end of it. */
static void hang_up(struct tide_collector *collector, int fd)
{
    (void)epoll_ctl(collector->epoll, EPOLL_CTL_DEL, fd, NULL);
    int *const fds = collector->connections.items;
    for (size_t i = 0; i < collector->connections.count; i++) {
        if (fds[i] == fd) {
            fds[i] = fds[--collector->connections.count];
            break;
        }
    }
    (void)close(fd);
}

/* Was PID started with our session in its environment? */
static bool carries_session(const struct tide_collector *collector, uint32_t pid)
{
    char *const text = malloc(TIDE_ENVIRON_MOST);
    if (!text)
        return false;
    const ssize_t got = tide_procfs_read(pid, "environ", text, TIDE_ENVIRON_MOST);
    const char *const name = collector->directory;
    const bool found = got > 0 && memmem(text, (size_t)got, name, strlen(name));
    free(text);
    return found;
}

/* An outsider, or one of the run that left it too early for us to know him. */
static void turn_away(struct tide_collector *collector, int fd,
                      const struct ucred *peer)
{
    if (geteuid() == 0 && carries_session(collector, (uint32_t)peer->pid)) {
        (void)atomic_fetch_add(&collector->missed, 1);
        tide_collector_trouble(
            collector, "a process that has become another user was not recorded: "
                       "nothing shows any more that it is of this run");
    }
    (void)close(fd);
}

void tide_handshake_accept(struct tide_collector *collector)
{
    for (;;) {
        const int fd =
            accept4(collector->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno == EINTR)
            continue;
        if (fd < 0)
            return;
        struct ucred peer = {0};
        if (!know_peer(fd, &peer) || !may_enter(collector, &peer)) {
            tide_unrecorded_heard(&collector->unrecorded, (uint32_t)peer.pid, 0);
            turn_away(collector, fd, &peer);
            continue;
        }
        int *const kept = tide_list_add(&collector->connections);
        if (kept)
            *kept = fd;
        if (!kept || !listen_to(collector, fd)) {
            hang_up(collector, fd);
            (void)atomic_fetch_add(&collector->missed, 1);
            tide_collector_trouble(collector, "a process was not recorded: no memory "
                                              "to hear it");
        }
    }
}

bool tide_handshake_renew(struct tide_collector *collector)
{
    const int *const fds = collector->connections.items;
    for (size_t i = 0; i < collector->connections.count; i++) {
        if (!listen_to(collector, fds[i]))
            return false;
    }
    return true;
}

void tide_handshake_release(struct tide_collector *collector)
{
    const int *const fds = collector->connections.items;
    for (size_t i = 0; i < collector->connections.count; i++)
        (void)close(fds[i]);
    free(collector->connections.items);
    collector->connections = (struct tide_list){.item_bytes = sizeof(int)};
}

static bool hear_hello(int fd, struct tide_hello *hello)
{
    const ssize_t got = recv(fd, hello, sizeof(*hello), MSG_TRUNC);
    return got == (ssize_t)sizeof(*hello) && hello->magic == TIDE_SEGMENT_MAGIC &&
           hello->version == TIDE_RING_VERSION;
}

static bool send_welcome(int fd, const int fds[2])
{
    struct tide_welcome welcome = {
        .magic = TIDE_SESSION_MAGIC,
        .version = TIDE_RING_VERSION,
        .session_bytes = TIDE_PAGE,
        .segment_bytes = TIDE_SEGMENT_START,
    };
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof(control));
    struct iovec bytes = {&welcome, sizeof(welcome)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *const first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(first), fds, 2 * sizeof(int));
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(welcome);
}

/* Give the target FDS, and SHARE to the drain thread: its next pass has SHARE if the target can
 * have written or asked for anything.  False: the target has gone. */
static bool hand_over(struct tide_collector *collector, struct tide_share *share,
                      int fd, const int fds[2])
{
    pthread_mutex_lock(&collector->lock);
    const bool sent = send_welcome(fd, fds);
    struct tide_share **end = &collector->new_shares;
    while (sent && *end)
        end = &(*end)->next;
    if (sent)
        *end = share;
    pthread_mutex_unlock(&collector->lock);
    if (sent)
        tide_collector_kick(collector);
    return sent;
}

static void refuse(struct tide_collector *collector, const struct tide_hello *hello,
                   int problem)
{
    char line[200];
    collector->refused_errno = problem;
    (void)snprintf(line, sizeof(line),
                   "pid %u was not recorded: there was no shared memory for it: %s",
                   hello->pid, tide_memory_problem(problem));
    tide_collector_trouble(collector, line);
}

void tide_handshake_missed(struct tide_collector *collector, uint32_t pid,
                           const struct tide_image *image, const char *why)
{
    char line[256];
    const char *const exe = image->exe ? image->exe : "?";
    const uint32_t before = atomic_fetch_add(&collector->missed, 1);
    (void)snprintf(line, sizeof(line), "pid %u (%.100s) was not recorded: %s", pid, exe,
                   why);
    if (before <= TIDE_MISSED_NAMED)
        tide_collector_trouble(
            collector, before < TIDE_MISSED_NAMED ? line : "nor were more processes");
}

static uint64_t pid_space_of(const struct tide_hello *hello, const struct ucred *peer)
{
    const uint32_t pid = (uint32_t)peer->pid;
    return hello->pid == pid ? 0 : tide_procfs_pid_space(pid);
}

/* IMAGE becomes the share's. */
static void welcome(struct tide_collector *collector, int fd,
                    const struct tide_hello *hello, const struct ucred *peer,
                    struct tide_image *image)
{
    struct tide_share *share;
    int peer_fd;
    if (tide_share_create(&share, &peer_fd)) {
        refuse(collector, hello, errno);
        tide_image_release(image);
        return;
    }
    share->pid = hello->pid;
    share->pid_space = pid_space_of(hello, peer);
    share->hello_ticks = tide_ticks();
    share->session_began = tide_clock_began(&collector->clock);
    share->image = *image;
    const int fds[2] = {collector->page_fd, peer_fd};
    const bool sent = hand_over(collector, share, fd, fds);
    (void)close(peer_fd);
    tide_session_folder_speak(collector->directory);
    if (sent)
        return;
    tide_handshake_missed(collector, share->pid, &share->image,
                          "it did not wait for its collector");
    tide_share_free(share);
}

static bool is_wanted(struct tide_collector *collector, const struct ucred *peer,
                      const struct tide_image *image)
{
    pthread_mutex_lock(&collector->lock);
    collector->choice.main_pid = collector->main_ended ? 0 : collector->main_pid;
    const bool wanted =
        tide_choice_wants(&collector->choice, (uint32_t)peer->pid, image);
    pthread_mutex_unlock(&collector->lock);
    return wanted;
}

/* Whatever the process was before, it is no more. */
static void note_left(struct tide_collector *collector, const struct tide_hello *hello,
                      const struct ucred *peer)
{
    const uint64_t space = pid_space_of(hello, peer);
    pthread_mutex_lock(&collector->lock);
    struct tide_left *const left = tide_list_add(&collector->left);
    if (left)
        *left = (struct tide_left){hello->pid, space, tide_ticks()};
    pthread_mutex_unlock(&collector->lock);
    tide_collector_kick(collector);
}

/* Who is not wanted sees us hang up, and runs on without us. */
void tide_handshake_answer(struct tide_collector *collector, int fd)
{
    struct tide_hello hello;
    struct ucred peer;
    if (know_peer(fd, &peer) && hear_hello(fd, &hello)) {
        struct tide_image image;
        tide_unrecorded_heard(&collector->unrecorded, hello.pid,
                              pid_space_of(&hello, &peer));
        tide_procfs_image((uint32_t)peer.pid, &image);
        if (hello.failed) {
            tide_handshake_missed(
                collector, hello.pid, &image,
                "it could not take its shared memory (is there a limit on "
                "descriptors or memory?)");
            tide_image_release(&image);
        } else if (is_wanted(collector, &peer, &image)) {
            image.rank = tide_procfs_rank((uint32_t)peer.pid);
            welcome(collector, fd, &hello, &peer, &image);
        } else {
            note_left(collector, &hello, &peer);
            tide_image_release(&image);
        }
    }
    hang_up(collector, fd);
}

void tide_handshake_hear_waiting(struct tide_collector *collector)
{
    if (atomic_load(&collector->page->stopped))
        return; /* nobody is welcome any more */
    tide_handshake_accept(collector);
    const int *const fds = collector->connections.items;
    for (size_t i = collector->connections.count; i-- > 0;) {
        struct pollfd ready = {.fd = fds[i], .events = POLLIN};
        if (poll(&ready, 1, 0) > 0)
            tide_handshake_answer(collector, ready.fd);
    }
}
