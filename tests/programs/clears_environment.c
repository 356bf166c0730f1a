/* tests/programs/clears_environment.c - build the environment anew, as servers do that show
 * what they are doing in place of their name.
 *
 * Prints how many variables there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

int main(void)
{
    extern char **environ;
    static char kept[MOST][256];
    int count = 0;
    for (; environ[count] && count < MOST; count++)
        (void)snprintf(kept[count], sizeof(kept[count]), "%s", environ[count]);
    if (clearenv() != 0)
        return 1;
    for (int i = 0; i < count; i++) {
        char *const sign = strchr(kept[i], '=');
        if (sign) {
            *sign = '\0';
            (void)setenv(kept[i], sign + 1, 1);
        }
    }
    (void)unsetenv("PATH");
    (void)clearenv();
    return printf("%d\n", count) > 0 ? 0 : 1;
}
