/* tests/programs/odd_inside.c - functions of libc that allocate for their caller.
 *
 * Each result is freed: what is made inside must be counted, or its free meets no block.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "say.h"

static void use_streams(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const memory = open_memstream(&text, &bytes);
    for (int i = 0; i < 3000; i++)
        fprintf(memory, "%d,", i);
    fclose(memory);
    say("memstream %zu\n", bytes);
    FILE *const again = fmemopen(text, bytes, "r");
    char *line = NULL;
    size_t room = 0;
    say("getdelim %zd\n", getdelim(&line, &room, '\n', again));
    fclose(again);
    free(line);
    free(text);
}

int main(void)
{
    char *text = NULL, *words[3];
    struct dirent **names;
    words[0] = strdup("a word");
    words[1] = strndup("another", 3);
    words[2] = (char *)wcsdup(L"wide");
    if (asprintf(&text, "%s %s %0500d", words[0], words[1], 7) < 0)
        return 1;
    say("%zu\n", strlen(text));
    free(text);
    text = realpath("/usr/../usr", NULL);
    say("%s\n", text);
    free(text);
    free(getcwd(NULL, 0));
    const int count = scandir("/", &names, NULL, alphasort);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    use_streams();
    for (int i = 0; i < 3; i++)
        free(words[i]);
    setenv("TIDE_TEST_VARIABLE", "value", 1);
    unsetenv("TIDE_TEST_VARIABLE");
    return 0;
}
