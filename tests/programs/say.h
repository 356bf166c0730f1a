/* tests/programs/say.h - print without allocating: stdio would add blocks of its own. */
#ifndef TIDE_TESTS_SAY_H
#define TIDE_TESTS_SAY_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2), unused)) static void say(const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length > 0 && write(1, line, (size_t)length) != length)
        _exit(99);
}

#endif
