/* capture/session.c - meet the collector and map what it shares.
 *
 * Every call is a bare system call: no cancellation point, nothing of libc's state.  The
 * two descriptors that arrive are mapped and closed at once, the segment beyond its end.  It
 * grows later without a descriptor: mremap with old_size 0 duplicates a shared mapping, and may
 * make the duplicate longer than the original (see trace/ring.h).
 */
#include "capture/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "capture/reserve.h"
#include "capture/sandbox.h"

struct tide_session_page *tide_session;
struct tide_segment *tide_shared_segment;
bool tide_session_silent;
uint32_t tide_session_mortal;

enum {
    TIDE_PARTS_MAX = 64,
    TIDE_GROWTH = 256 * 1024,
    /* Of what all lanes of the segment have: from here on rings begin small, grow little, and
     * stay as they are. */
    TIDE_LANES_MANY = 8 * 1024 * 1024,
    TIDE_RINGS_MANY = 32 * 1024 * 1024,
    TIDE_RINGS_MOST = 48 * 1024 * 1024,
    TIDE_ADDRESS_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path),
};

/* The segment as mapped here: parts may overlap, offsets rise.  Appended under
 * the process lock; count last, so that a forked child finds it whole. */
static struct {
    uint64_t offset, bytes;
    unsigned char *at;
} parts[TIDE_PARTS_MAX];
static _Atomic uint32_t part_count;

static char folder[TIDE_ADDRESS_BYTES]; /* of the session; "": there is none */

/* How a meeting with the collector went. */
enum met { TIDE_MET_NOT, TIDE_MET_IN_VAIN, TIDE_MET_WELL };

/* IN_VAIN: there was a welcome, but what came with it could not be taken. */
static enum met receive_two(int fd, struct tide_welcome *welcome, int fds[2])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof(control));
    struct iovec bytes = {welcome, sizeof(*welcome)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    long got;
    do
        got = syscall(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC);
    while (got == -1 && errno == EINTR);
    const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (got <= 0)
        return TIDE_MET_NOT;
    if (!first || first->cmsg_type != SCM_RIGHTS)
        return TIDE_MET_IN_VAIN;
    const size_t came = first->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(first), came);
    if (got == (long)sizeof(*welcome) && came == 2 * sizeof(int))
        return TIDE_MET_WELL;
    for (size_t i = 0; i < came / sizeof(int); i++) /* few may come when few are free */
        syscall(SYS_close, fds[i]);
    return TIDE_MET_IN_VAIN;
}

/* Bytes to map of a segment whose size is BYTES.  What is beyond them is used once the segment
 * has grown. */
static uint64_t ahead_of(uint64_t bytes)
{
    return tide_reserve_limit() == UINT64_MAX ? bytes + TIDE_SEGMENT_AHEAD : bytes;
}

/* Not in core files, which would be larger by what nobody has used yet. */
static void *map_shared(int fd, uint64_t bytes)
{
    void *const at = tide_reserve_map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at)
        syscall(SYS_madvise, at, bytes, MADV_DONTDUMP);
    return at;
}

static bool welcome_is_sane(const struct tide_welcome *welcome)
{
    return welcome->magic == TIDE_SESSION_MAGIC &&
           welcome->version == TIDE_RING_VERSION &&
           welcome->session_bytes >= sizeof(struct tide_session_page) &&
           welcome->segment_bytes >= TIDE_SEGMENT_START;
}

static bool map_welcome(const struct tide_welcome *welcome, const int fds[2])
{
    if (!welcome_is_sane(welcome))
        return false;
    tide_session = map_shared(fds[0], welcome->session_bytes);
    const uint64_t bytes = ahead_of(welcome->segment_bytes);
    tide_shared_segment = map_shared(fds[1], bytes);
    if (!tide_session || !tide_shared_segment) {
        if (tide_session)
            tide_reserve_release(tide_session, welcome->session_bytes);
        if (tide_shared_segment)
            tide_reserve_release(tide_shared_segment, bytes);
        tide_session = NULL;
        tide_shared_segment = NULL;
        return false;
    }
    parts[0].offset = 0;
    parts[0].bytes = bytes;
    parts[0].at = (unsigned char *)tide_shared_segment;
    atomic_store(&part_count, 1);
    return true;
}

static bool say_hello(int fd, bool failed)
{
    const struct tide_hello hello = {TIDE_SEGMENT_MAGIC, TIDE_RING_VERSION,
                                     (uint32_t)syscall(SYS_getpid), failed};
    return syscall(SYS_sendto, fd, &hello, sizeof(hello), MSG_NOSIGNAL, NULL, 0) > 0;
}

static enum met shake_hands(int fd)
{
    struct tide_welcome welcome;
    int fds[2];
    if (!say_hello(fd, false))
        return TIDE_MET_NOT;
    const enum met met = receive_two(fd, &welcome, fds);
    if (met != TIDE_MET_WELL)
        return met;
    const bool mapped = map_welcome(&welcome, fds);
    syscall(SYS_close, fds[0]);
    syscall(SYS_close, fds[1]);
    return mapped ? TIDE_MET_WELL : TIDE_MET_IN_VAIN;
}

/* Write DIRECTORY, a slash and NAME to OUT, if they fit. */
static bool join(char out[TIDE_ADDRESS_BYTES], const char *directory, const char *name)
{
    const size_t first = strlen(directory), second = strlen(name) + 1;
    if (first + 1 + second > TIDE_ADDRESS_BYTES)
        return false;
    memcpy(out, directory, first); /* NOLINT(bugprone-not-null-terminated-result) */
    out[first] = '/';
    memcpy(out + first + 1, name, second);
    return true;
}

/* A collector that is stopped shall not cost each program of a script the full wait: who
 * has waited in vain tells the next ones. */
static enum met meet(int fd, const struct sockaddr_un *address, const char *silent)
{
    const bool was_silent = syscall(SYS_faccessat, AT_FDCWD, silent, F_OK) == 0;
    const struct timeval patience = {.tv_sec = was_silent ? 0 : 5,
                                     .tv_usec = was_silent ? 20000 : 0};
    syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    /* connect waits as well, while more than the backlog have knocked */
    syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    enum met met = TIDE_MET_NOT;
    if (syscall(SYS_connect, fd, address, sizeof(*address)) == 0)
        met = shake_hands(fd);
    if (met == TIDE_MET_NOT && errno == EAGAIN && !was_silent) {
        const int note = (int)syscall(SYS_openat, AT_FDCWD, silent,
                                      O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (note >= 0)
            syscall(SYS_close, note);
    }
    return met;
}

static int open_socket(void)
{
    return (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/* The collector cannot tell who was killed as it began from who could not begin.  It hangs
 * up once it has seen who we are. */
static void complain(const struct sockaddr_un *address)
{
    char nothing;
    const struct timeval patience = {.tv_sec = 1};
    const int fd = open_socket();
    if (fd < 0)
        return;
    syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (syscall(SYS_connect, fd, address, sizeof(*address)) == 0 && say_hello(fd, true))
        syscall(SYS_recvfrom, fd, &nothing, sizeof(nothing), 0, NULL, NULL);
    syscall(SYS_close, fd);
}

/* With the first process of a namespace all others in it end, and it may end when we do.  Who
 * is in another has no pid here. */
static void look_at(int fd)
{
    struct ucred collector = {0};
    socklen_t bytes = sizeof(collector);
    const long pid = syscall(SYS_getpid);
    if ((pid == 1 || pid == (long)tide_session->mortal_with) &&
        syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &collector, &bytes) == 0)
        tide_session_mortal = (uint32_t)collector.pid;
}

bool tide_session_connect(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char silent[TIDE_ADDRESS_BYTES];
    if (!join(address.sun_path, directory, TIDE_SOCKET_NAME) ||
        !join(silent, directory, TIDE_SILENT_NAME))
        return false;
    const int fd = open_socket();
    if (fd < 0)
        return false;
    const enum met met = meet(fd, &address, silent);
    if (met == TIDE_MET_WELL) {
        look_at(fd);
        memcpy(folder, directory, strlen(directory) + 1); /* shorter than an address */
    }
    syscall(SYS_close, fd);
    if (met == TIDE_MET_IN_VAIN)
        complain(&address);
    return met == TIDE_MET_WELL;
}

long tide_session_trace(char *path, size_t size)
{
    char link[TIDE_ADDRESS_BYTES];
    if (!*folder || !join(link, folder, TIDE_TRACE_LINK))
        return -1;
    return syscall(SYS_readlinkat, AT_FDCWD, link, path, size);
}

bool tide_session_flush(void)
{
    _Atomic uint32_t *const flushed = &tide_session->flushed;
    const uint32_t wanted = atomic_fetch_add(&tide_session->flush_wanted, 1) + 1;
    for (int silent = 0; silent < 100;) {
        const uint64_t beat = atomic_load(&tide_session->heartbeat);
        const uint32_t seen = atomic_load(flushed);
        if ((int32_t)(seen - wanted) >= 0)
            return true;
        if (atomic_load(&tide_session->stopped))
            return false;
        tide_session_wake();
        tide_wait_while(flushed, seen);
        silent = atomic_load(&tide_session->heartbeat) == beat ? silent + 1 : 0;
    }
    return false;
}

void tide_session_leave(void)
{
    const uint32_t count = atomic_load(&part_count);
    for (uint32_t i = 0; i < count; i++)
        tide_reserve_cover(parts[i].at, parts[i].bytes);
    tide_reserve_cover(tide_session, TIDE_PAGE);
}

void tide_session_wake(void)
{
    _Atomic uint32_t *sleeping = &tide_session->sleeping;
    if (atomic_load(sleeping) && atomic_exchange(sleeping, 0))
        syscall(SYS_futex, sleeping, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Ask for the segment to reach END bytes and wait for the answer, two seconds at most:
 * a collector that does not answer then is taken for dead by whoever asked. */
static bool reserve(uint64_t end)
{
    struct tide_segment *segment = tide_shared_segment;
    uint64_t wanted = atomic_load(&segment->wanted);
    const uint64_t goal = end + TIDE_GROWTH + end / 4;
    while (wanted < goal &&
           !atomic_compare_exchange_weak(&segment->wanted, &wanted, goal))
        ;
    for (int silent = 0; silent < 100;) {
        const uint64_t beat = atomic_load(&tide_session->heartbeat);
        const uint32_t grown = atomic_load(&segment->grown);
        if (atomic_load(&segment->size) >= end)
            return true;
        if (atomic_load(&segment->refused) || atomic_load(&segment->closed) ||
            atomic_load(&tide_session->stopped))
            return false;
        tide_session_wake();
        tide_wait_while(&segment->grown, grown);
        silent = atomic_load(&tide_session->heartbeat) == beat ? silent + 1 : 0;
    }
    tide_session_silent = true;
    return false;
}

static void *find_part(uint64_t offset, uint32_t bytes)
{
    for (uint32_t i = atomic_load(&part_count); i-- > 0;)
        if (offset >= parts[i].offset &&
            offset + bytes <= parts[i].offset + parts[i].bytes)
            return parts[i].at + (offset - parts[i].offset);
    return NULL;
}

/* Map the segment from OFFSET's page, or from the last page that we have if that comes
 * first, to beyond its present size: so that END is in one piece with OFFSET. */
static bool map_more(uint64_t offset, uint64_t end)
{
    const uint32_t count = atomic_load(&part_count);
    const uint64_t size = ahead_of(atomic_load(&tide_shared_segment->size));
    if (count == TIDE_PARTS_MAX || end > size)
        return false;
    uint64_t first = offset & ~(uint64_t)(TIDE_PAGE - 1);
    void *from = find_part(first, TIDE_PAGE);
    if (!from) {
        first = parts[count - 1].offset + parts[count - 1].bytes - TIDE_PAGE;
        from = parts[count - 1].at + (first - parts[count - 1].offset);
    }
    void *at = tide_reserve_again(from, size - first);
    if (!at && first > 0) { /* a lane there was covered by tide_stream_tear() */
        first = 0;
        at = tide_reserve_again(parts[0].at, size);
    }
    if (!at)
        return false;
    parts[count].offset = first;
    parts[count].bytes = size - first;
    parts[count].at = at;
    atomic_store(&part_count, count + 1);
    return true;
}

void *tide_segment_at(uint64_t offset, uint32_t bytes)
{
    void *at = find_part(offset, bytes);
    if (!at && map_more(offset, offset + bytes))
        at = find_part(offset, bytes);
    return at;
}

uint64_t tide_segment_take(uint32_t bytes)
{
    struct tide_segment *segment = tide_shared_segment;
    if (atomic_load(&segment->closed) || atomic_load(&segment->refused))
        return 0;
    const uint64_t offset = atomic_fetch_add(&segment->taken, bytes);
    if (atomic_load(&segment->size) < offset + bytes && !reserve(offset + bytes))
        return 0;
    return offset;
}

uint32_t tide_segment_ring_after(uint32_t bytes)
{
    const uint64_t taken = atomic_load(&tide_shared_segment->taken);
    if (taken < TIDE_RINGS_MANY)
        return TIDE_RING_LARGE;
    return taken < TIDE_RINGS_MOST && bytes < TIDE_RING_SMALL - TIDE_LANE_HEAD
               ? TIDE_RING_SMALL
               : 0;
}

static struct tide_lane_shared *lane_at(uint32_t index)
{
    const uint64_t offset = atomic_load(&tide_shared_segment->directory[index]);
    return offset ? tide_segment_at(offset, TIDE_RING_TINY) : NULL;
}

static struct tide_lane_shared *claim_used(uint32_t least)
{
    const uint32_t count = atomic_load(&tide_shared_segment->lanes);
    for (uint32_t i = 0; i < count && i < TIDE_LANES_MAX; i++) {
        struct tide_lane_shared *lane = lane_at(i);
        uint32_t state = TIDE_LANE_FREE;
        if (lane && atomic_load(&lane->state) == TIDE_LANE_FREE &&
            atomic_load(&lane->ring_bytes) >= least &&
            atomic_compare_exchange_strong(&lane->state, &state, TIDE_LANE_CLAIMED))
            return lane;
    }
    return NULL;
}

/* Those that come when the others have much already get less. */
static uint32_t new_lane_bytes(uint32_t least)
{
    const bool many = atomic_load(&tide_shared_segment->taken) >= TIDE_LANES_MANY;
    return many && least < TIDE_RING_TINY ? TIDE_RING_TINY : TIDE_RING_SMALL;
}

static struct tide_lane_shared *claim_new(uint32_t least)
{
    const uint32_t bytes = new_lane_bytes(least);
    const uint64_t offset = tide_segment_take(bytes);
    struct tide_lane_shared *lane = offset ? tide_segment_at(offset, bytes) : NULL;
    if (!lane)
        return NULL;
    const uint32_t index = atomic_fetch_add(&tide_shared_segment->lanes, 1);
    if (index >= TIDE_LANES_MAX) {
        atomic_fetch_sub(&tide_shared_segment->lanes, 1);
        return NULL;
    }
    atomic_store(&lane->state, TIDE_LANE_CLAIMED);
    atomic_store(&lane->ring_offset, offset + TIDE_LANE_HEAD);
    atomic_store(&lane->ring_bytes, (uint32_t)(bytes - TIDE_LANE_HEAD));
    atomic_store(&tide_shared_segment->directory[index], offset);
    return lane;
}

struct tide_lane_shared *tide_lane_claim(uint32_t least)
{
    if (atomic_load(&tide_shared_segment->closed))
        return NULL;
    struct tide_lane_shared *lane = claim_used(least);
    return lane ? lane : claim_new(least);
}
