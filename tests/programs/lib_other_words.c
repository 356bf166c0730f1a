/* tests/programs/lib_other_words.c - `wait` and `system` are no words of libc's here. */
double wait(int seconds, double factor, long more, long last)
{
    return (double)seconds * factor + (double)(more - last);
}

const char *system(int number, const char *const *names, unsigned long mask)
{
    return mask == ~0ul ? names[number] : "";
}
