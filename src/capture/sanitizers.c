/* capture/sanitizers.c - live beside the runtime of ASan, LSan, TSan or HWASan.
 *
 * Such a runtime replaces malloc, as we do.  When it is a shared library it comes after
 * us, so our hooks forward to it and nothing is missing on either side.  Two things
 * stand in the way:
 *
 * ASan ends the program when another library comes before its own.  It asks
 * __asan_default_options() first, and takes ours unless the program has one; options of
 * the user (ASAN_OPTIONS) are read later and win.
 *
 * While a runtime starts, it serves malloc from a pool that the rest of it does not know,
 * and fails when asked for the usable size of such a block.  Its usable size is what was
 * asked for in any case, so it is never asked: see tide_sanitized() in its users.
 *
 * Some calls it answers itself, strdup and realpath among them, with blocks that we never
 * see.  The report says so of whoever has its runtime, which need not be in any stack.
 */
#include "capture/sanitizers.h"

#include <stdint.h>

#include "capture/hooks.h"
#include "capture/modules.h"

/* The names are theirs. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming) */
#define TIDE_THEIRS __attribute__((weak, visibility("default")))

extern void __asan_init(void) TIDE_THEIRS;
extern void __hwasan_init(void) TIDE_THEIRS;
extern void __lsan_init(void) TIDE_THEIRS;
extern void __tsan_init(void) TIDE_THEIRS;

const char *__asan_default_options(void);

TIDE_HOOK const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}

bool tide_sanitized(void)
{
    return __asan_init || __hwasan_init || __lsan_init || __tsan_init;
}

void tide_sanitizer_see(void)
{
    if (__asan_init)
        tide_modules_see((uintptr_t)&__asan_init, 0);
    else if (__tsan_init)
        tide_modules_see((uintptr_t)&__tsan_init, 0);
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */
