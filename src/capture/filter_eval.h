/* capture/filter_eval.h - what a seccomp filter says of a system call.
 *
 * For: capture/, tests/.
 */
#ifndef TIDE_CAPTURE_FILTER_EVAL_H
#define TIDE_CAPTURE_FILTER_EVAL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* The verdict (SECCOMP_RET_...) of the COUNT instructions at FILTER on DATA, as the kernel
 * would find it.  A program that the kernel would not have taken gives KILL_PROCESS. */
uint32_t tide_filter_verdict(const struct sock_filter *filter, uint32_t count,
                             const struct seccomp_data *data);

#endif
