/* unit/fake_producer.c - a target's end of the shared memory, for tests of collect/. */
#include "fake_producer.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "trace/row.h"

enum { TIDE_WAIT_MS = 20, TIDE_WAITS = 250 };

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec patience = {.tv_nsec = TIDE_WAIT_MS * 1000L * 1000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &patience, NULL, 0);
}

static void wake_collector(const struct tide_fake *fake)
{
    if (fake->page && atomic_exchange(&fake->page->sleeping, 0))
        (void)syscall(SYS_futex, &fake->page->sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL,
                      0);
}

static void *at(const struct tide_fake *fake, uint64_t offset)
{
    return (char *)fake->segment + offset;
}

/* --- Meeting ------------------------------------------------------------------------ */

bool tide_fake_map(struct tide_fake *fake, int fd)
{
    /* Beyond the end of the file as well: it will grow. */
    void *const segment =
        mmap(NULL, TIDE_FAKE_MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (segment == MAP_FAILED)
        return false;
    fake->segment = segment;
    return true;
}

static bool receive(int fd, struct tide_welcome *welcome, int fds[2])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec bytes = {welcome, sizeof(*welcome)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*welcome))
        return false;
    const struct cmsghdr *const first = CMSG_FIRSTHDR(&message);
    if (!first || first->cmsg_len != CMSG_LEN(2 * sizeof(int)))
        return false;
    memcpy(fds, CMSG_DATA(first), 2 * sizeof(int));
    return welcome->magic == TIDE_SESSION_MAGIC &&
           welcome->version == TIDE_RING_VERSION;
}

static bool map_both(struct tide_fake *fake, const struct tide_welcome *welcome,
                     const int fds[2])
{
    void *const page = mmap(NULL, welcome->session_bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED, fds[0], 0);
    const bool mapped = page != MAP_FAILED && tide_fake_map(fake, fds[1]);
    fake->page = mapped ? page : NULL;
    (void)close(fds[0]);
    (void)close(fds[1]);
    return mapped && fake->page->magic == TIDE_SESSION_MAGIC &&
           fake->segment->magic == TIDE_SEGMENT_MAGIC &&
           atomic_load(&fake->segment->size) == welcome->segment_bytes;
}

bool tide_fake_connect(struct tide_fake *fake, const char *directory)
{
    const struct tide_hello hello = {.magic = TIDE_SEGMENT_MAGIC,
                                     .version = TIDE_RING_VERSION,
                                     .pid = (uint32_t)getpid()};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory,
                   TIDE_SOCKET_NAME);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct tide_welcome welcome;
    int fds[2];
    const bool met =
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello) &&
        receive(fd, &welcome, fds) && map_both(fake, &welcome, fds);
    (void)close(fd);
    fake->pid = hello.pid;
    fake->birth = tide_ticks();
    return met;
}

/* --- Memory ------------------------------------------------------------------------- */

uint64_t tide_fake_take(struct tide_fake *fake, uint64_t bytes)
{
    struct tide_segment *const segment = fake->segment;
    const uint64_t offset = atomic_fetch_add(&segment->taken, bytes);
    const uint64_t end = offset + bytes;
    uint64_t wanted = atomic_load(&segment->wanted);
    while (wanted < end &&
           !atomic_compare_exchange_weak(&segment->wanted, &wanted, end))
        ;
    for (int i = 0; i < TIDE_WAITS; i++) {
        const uint32_t grown = atomic_load(&segment->grown);
        if (atomic_load(&segment->size) >= end)
            return end <= TIDE_FAKE_MAPPED ? offset : 0;
        if (atomic_load(&segment->refused))
            return 0;
        wake_collector(fake);
        futex_wait(&segment->grown, grown);
    }
    return 0;
}

static struct tide_lane_shared *find_free(const struct tide_fake *fake)
{
    const uint32_t count = atomic_load(&fake->segment->lanes);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t offset = atomic_load(&fake->segment->directory[i]);
        struct tide_lane_shared *const lane = offset ? at(fake, offset) : NULL;
        uint32_t state = TIDE_LANE_FREE;
        if (lane &&
            atomic_compare_exchange_strong(&lane->state, &state, TIDE_LANE_CLAIMED))
            return lane;
    }
    return NULL;
}

static struct tide_lane_shared *make_lane(struct tide_fake *fake)
{
    const uint64_t offset = tide_fake_take(fake, TIDE_RING_SMALL);
    if (!offset)
        return NULL;
    struct tide_lane_shared *const lane = at(fake, offset);
    atomic_store(&lane->state, TIDE_LANE_CLAIMED);
    atomic_store(&lane->ring_offset, offset + TIDE_LANE_HEAD);
    atomic_store(&lane->ring_bytes, (uint32_t)(TIDE_RING_SMALL - TIDE_LANE_HEAD));
    const uint32_t index = atomic_fetch_add(&fake->segment->lanes, 1);
    atomic_store(&fake->segment->directory[index], offset);
    return lane;
}

bool tide_fake_claim(struct tide_fake *fake, struct tide_fake_lane *lane, uint32_t use,
                     uint32_t number)
{
    struct tide_lane_shared *shared = find_free(fake);
    if (!shared)
        shared = make_lane(fake);
    if (!shared)
        return false;
    shared->use = use;
    shared->pid = fake->pid;
    shared->number = number;
    shared->birth = fake->birth;
    *lane = (struct tide_fake_lane){
        .fake = fake,
        .shared = shared,
        .ring = at(fake, atomic_load(&shared->ring_offset)),
        .ring_bytes = atomic_load(&shared->ring_bytes),
        .sync_every = TIDE_SYNC_BYTES,
        .reset_at = UINT64_MAX,
    };
    atomic_store(&shared->state, TIDE_LANE_LIVE);
    return true;
}

/* --- Writing ------------------------------------------------------------------------ */

static uint64_t head_of(const struct tide_fake_lane *lane)
{
    return lane->base + lane->pos;
}

bool tide_fake_has_room(struct tide_fake_lane *lane, size_t length)
{
    const uint64_t tail = atomic_load(&lane->shared->tail);
    const uint64_t end = tail >= lane->base ? lane->ring_bytes : tail - lane->last_base;
    if (lane->pos + length <= end)
        return true;
    if (tail <= lane->base)
        return false; /* the last wrap was not seen yet */
    const uint64_t head = head_of(lane);
    if (length > tail - lane->base && tail != head)
        return false;
    lane->last_base = lane->base;
    lane->base = head;
    lane->pos = 0;
    atomic_store_explicit(&lane->shared->wrap, head, memory_order_release);
    return tail == head || length <= tail - lane->last_base;
}

static bool wait_once(struct tide_fake_lane *lane)
{
    struct tide_lane_shared *const shared = lane->shared;
    const uint64_t tail = atomic_load(&shared->tail);
    const uint32_t drained = atomic_load(&shared->drained);
    wake_collector(lane->fake);
    atomic_store(&shared->waiting, 1);
    if (atomic_load(&shared->tail) == tail)
        futex_wait(&shared->drained, drained);
    return atomic_load(&shared->tail) != tail;
}

static bool make_room(struct tide_fake_lane *lane, size_t length)
{
    for (int i = 0; i < TIDE_WAITS; i++) {
        if (tide_fake_has_room(lane, length))
            return true;
        if (wait_once(lane))
            i = 0;
    }
    return false;
}

bool tide_fake_put(struct tide_fake_lane *lane, const void *bytes, size_t length)
{
    if (!make_room(lane, length))
        return false;
    memcpy(lane->ring + lane->pos, bytes, length);
    lane->pos += (uint32_t)length;
    atomic_store_explicit(&lane->shared->head, head_of(lane), memory_order_release);
    if (head_of(lane) - atomic_load(&lane->shared->tail) > lane->ring_bytes / 2)
        wake_collector(lane->fake);
    return true;
}

bool tide_fake_reset(struct tide_fake_lane *lane)
{
    struct tide_lane_shared *const shared = lane->shared;
    const uint64_t row[] = {TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0), tide_ticks(), 0,
                            lane->fake->pid};
    if (!make_room(lane, sizeof(row)))
        return false;
    lane->reset_at = head_of(lane);
    const uint32_t resets = atomic_load(&shared->resets);
    atomic_store_explicit(&shared->reset_at[resets % TIDE_SYNC_KEPT], lane->reset_at,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->resets, resets + 1, memory_order_release);
    return tide_fake_put(lane, row, sizeof(row));
}

bool tide_fake_record(struct tide_fake_lane *lane, size_t payload)
{
    uint64_t row[TIDE_FAKE_RECORD_MAX / 8];
    const size_t values = payload / 8 < 255 ? payload / 8 : 255;
    const uint32_t asked = atomic_exchange(&lane->shared->attention, 0);
    const bool due = lane->reset_at == UINT64_MAX ||
                     head_of(lane) - lane->reset_at >= lane->sync_every;
    if (((asked & TIDE_ATTENTION_SYNC) || due) && !tide_fake_reset(lane))
        return false;
    row[0] = TIDE_ROW_HEAD(TIDE_OP_EXTRA, values, TIDE_FAKE_EXTRA);
    row[1] = lane->counter;
    for (size_t i = 1; i < values; i++)
        row[1 + i] = lane->counter * 7 + i;
    if (!tide_fake_put(lane, row, (1 + values) * sizeof(*row)))
        return false;
    lane->counter++;
    return true;
}

bool tide_fake_move(struct tide_fake_lane *lane, uint32_t bytes)
{
    const uint64_t offset = tide_fake_take(lane->fake, bytes);
    if (!offset)
        return false;
    for (int i = 0; atomic_load(&lane->shared->tail) != head_of(lane); i++) {
        if (i == TIDE_WAITS)
            return false;
        (void)wait_once(lane);
    }
    lane->base = lane->last_base = head_of(lane);
    lane->pos = 0;
    lane->ring = at(lane->fake, offset);
    lane->ring_bytes = bytes;
    atomic_store(&lane->shared->ring_offset, offset);
    atomic_store(&lane->shared->ring_bytes, bytes);
    atomic_fetch_add(&lane->shared->ring_changes, 1);
    return true;
}
