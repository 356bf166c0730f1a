/* tests/programs/wipes_environment.c - write over the environment's memory, as programs do
 * that show what they are doing in place of their name. */
#include <string.h>

int main(void)
{
    extern char **environ;
    for (char **variable = environ; *variable; variable++)
        memset(*variable, 'z', strlen(*variable));
    return 0;
}
