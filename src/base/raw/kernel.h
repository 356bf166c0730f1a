/* base/raw/kernel.h - a system call without libc.
 *
 * For: capture/, whose hook of syscall() stands in the way of libc's.
 */
#ifndef TIDE_BASE_RAW_KERNEL_H
#define TIDE_BASE_RAW_KERNEL_H

#include <errno.h>

/* Number and arguments of a system call. */
struct tide_kernel_call {
    long number;
    long argument[6];
};

/* What the kernel returns: -errno on failure. */
#if defined(__x86_64__)
static inline long tide_kernel(const struct tide_kernel_call *call)
{
    const long *const a = call->argument;
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(call->number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10),
                       "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long tide_kernel(const struct tide_kernel_call *call)
{
    register long number __asm__("x8") = call->number;
    register long x0 __asm__("x0") = call->argument[0];
    register long x1 __asm__("x1") = call->argument[1];
    register long x2 __asm__("x2") = call->argument[2];
    register long x3 __asm__("x3") = call->argument[3];
    register long x4 __asm__("x4") = call->argument[4];
    register long x5 __asm__("x5") = call->argument[5];
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(number), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#    error "base/raw/kernel.h knows the system calls of x86_64 and aarch64 only"
#endif

/* As libc gives it to programs: -1 and errno on failure. */
static inline long tide_kernel_libc(const struct tide_kernel_call *call)
{
    const long result = tide_kernel(call);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

#endif
