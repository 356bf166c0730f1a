/* tests/programs/early_coroutines.c - a thread that was there before the recorder: see
 * lib_early_thread.c.
 */
int go_on(void);

int main(void)
{
    return go_on();
}
