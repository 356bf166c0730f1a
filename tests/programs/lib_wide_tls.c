/* tests/programs/lib_wide_tls.c - a library that wants its thread-local data in the static block.
 *
 * The loader has a little room left there for libraries that come late; once it is used
 * up, dlopen fails.
 */
int wide_tls_touch(void);

static _Thread_local volatile char wide[96] __attribute__((tls_model("initial-exec")));

int wide_tls_touch(void)
{
    return ++wide[sizeof(wide) - 1];
}
