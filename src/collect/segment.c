/* collect/segment.c - the collector's side of one segment of shared memory.
 *
 * Whether a segment is still in use cannot be told from its lanes: a forked child that
 * has not allocated yet has none.  But the kernel counts who has a file open for
 * writing, and a mapping counts as long as it lives.  So the collector and the targets
 * get two different openings of the same memfd, and a write lease, which is granted only
 * to the last opener, tells whether any target is left.
 */
#include "collect/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/lanes.h"

#ifndef MFD_NOEXEC_SEAL
#    define MFD_NOEXEC_SEAL 0x0008U
#endif

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23
#endif

#define TIDE_SEGMENT_STEP (256ull * 1024)
#define TIDE_SEGMENT_MOST (8ull << 30)

int tide_memory_file(const char *name, uint64_t bytes)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
        fd = memfd_create(name, flags);
    if (fd < 0)
        return -1;
    /* Reserved now, so that no store into it can fail with SIGBUS later. */
    if (fallocate(fd, 0, 0, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return fd;
    const int problem = errno;
    (void)close(fd);
    errno = problem;
    return -1;
}

/* Make the file of a segment of BYTES as long as targets map it. */
static void lengthen(int fd, uint64_t bytes)
{
    (void)!ftruncate(fd, (off_t)(bytes + TIDE_SEGMENT_AHEAD));
}

static int open_again(int fd)
{
    char path[48];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Two openings of the memfd: ours and the targets'.  Without /proc there is one. */
static bool open_both(struct tide_share *share, int *peer_fd)
{
    const int first = tide_memory_file("tidemark-segment", share->bytes);
    if (first < 0)
        return false;
    lengthen(first, share->bytes);
    share->fd = open_again(first);
    *peer_fd = share->fd < 0 ? -1 : open_again(first);
    share->tells_holders = *peer_fd >= 0;
    if (share->fd < 0)
        share->fd = fcntl(first, F_DUPFD_CLOEXEC, 0);
    if (*peer_fd < 0)
        *peer_fd = fcntl(first, F_DUPFD_CLOEXEC, 0);
    (void)close(first);
    return share->fd >= 0 && *peer_fd >= 0;
}

enum tide_status tide_share_create(struct tide_share **out, int *peer_fd)
{
    *out = NULL;
    *peer_fd = -1;
    struct tide_share *const share = calloc(1, sizeof(*share));
    if (!share)
        return TIDE_ENOMEM;
    share->fd = -1;
    share->bytes = TIDE_SEGMENT_START;
    if (!open_both(share, peer_fd))
        goto fail;
    struct tide_segment *const shared =
        mmap(NULL, share->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, share->fd, 0);
    if (shared == MAP_FAILED)
        goto fail;
    share->shared = shared;
    shared->magic = TIDE_SEGMENT_MAGIC;
    shared->version = TIDE_RING_VERSION;
    atomic_store(&shared->taken, TIDE_SEGMENT_HEAD);
    atomic_store(&shared->size, share->bytes);
    *out = share;
    return TIDE_OK;

fail:;
    const int problem = errno;
    if (*peer_fd >= 0)
        (void)close(*peer_fd);
    *peer_fd = -1;
    tide_share_free(share);
    errno = problem;
    return TIDE_ESYSTEM;
}

void tide_share_free(struct tide_share *share)
{
    if (!share)
        return;
    for (uint32_t i = 0; i < share->lane_count; i++)
        tide_lane_free(share->lanes[i]);
    free(share->lanes);
    tide_image_release(&share->image);
    if (share->shared)
        (void)munmap(share->shared, share->bytes);
    if (share->fd >= 0)
        (void)close(share->fd);
    free(share);
}

const uint8_t *tide_share_at(const struct tide_share *share, uint64_t offset,
                             uint64_t bytes)
{
    if (offset < TIDE_SEGMENT_HEAD || offset > share->bytes ||
        bytes > share->bytes - offset)
        return NULL;
    return (const uint8_t *)share->shared + offset;
}

bool tide_share_read(const struct tide_share *share, uint64_t offset, uint64_t bytes,
                     void *to)
{
    const uint8_t *const from = tide_share_at(share, offset, bytes);
    if (!from)
        return false;
    if (!share->by_file || pread(share->fd, to, bytes, (off_t)offset) != (ssize_t)bytes)
        memcpy(to, from, bytes);
    return true;
}

void tide_share_meet(const struct tide_share *share, uint64_t offset)
{
    const uint64_t page = offset / TIDE_PAGE * TIDE_PAGE;
    (void)madvise((char *)share->shared + page, TIDE_PAGE, MADV_POPULATE_WRITE);
}

struct tide_lane_shared *tide_share_lane(const struct tide_share *share,
                                         uint64_t offset)
{
    if (offset % _Alignof(struct tide_lane_shared) != 0 ||
        !tide_share_at(share, offset, sizeof(struct tide_lane_shared)))
        return NULL;
    char *const base = (char *)share->shared;
    return (struct tide_lane_shared *)(void *)(base + offset);
}

/* Reserve up to BYTES in all.  Our own mapping grows first: what `size` says may be
 * touched by everybody. */
static bool reserve(struct tide_share *share, uint64_t bytes)
{
    const uint64_t more = bytes - share->bytes;
    if (fallocate(share->fd, 0, (off_t)share->bytes, (off_t)more) != 0)
        return false;
    lengthen(share->fd, bytes);
    void *const moved = mremap(share->shared, share->bytes, bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return false;
    share->shared = moved;
    share->bytes = bytes;
    atomic_store(&share->shared->size, bytes);
    return true;
}

bool tide_share_grow(struct tide_share *share)
{
    const uint64_t wanted = atomic_load(&share->shared->wanted);
    if (wanted <= share->bytes || atomic_load(&share->shared->refused))
        return false;
    const uint64_t step = TIDE_SEGMENT_STEP;
    const bool done = wanted <= TIDE_SEGMENT_MOST &&
                      reserve(share, (wanted + step - 1) / step * step);
    if (!done)
        atomic_store(&share->shared->refused, 1);
    /* The targets read size and refused, then wait only if grown is what it was. */
    atomic_fetch_add(&share->shared->grown, 1);
    (void)syscall(SYS_futex, &share->shared->grown, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

enum tide_held tide_share_held(const struct tide_share *share)
{
    if (!share->tells_holders)
        return TIDE_HELD_UNKNOWN;
    if (fcntl(share->fd, F_SETLEASE, F_WRLCK) == 0) {
        (void)fcntl(share->fd, F_SETLEASE, F_UNLCK);
        return TIDE_HELD_NO;
    }
    return errno == EAGAIN ? TIDE_HELD_YES : TIDE_HELD_UNKNOWN;
}

const char *tide_memory_problem(int problem)
{
    if (problem == EFBIG) /* shared memory is a file to the kernel */
        return "the limit on the size of files is too small (ulimit -f)";
    const char *const words = strerrordesc_np(problem);
    return words ? words : "unknown error";
}
