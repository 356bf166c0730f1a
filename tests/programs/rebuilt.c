/* tests/programs/rebuilt.c - alters.c a version later: other name, addresses and lines.
 */
#define REBUILT 1
#include "alters.c"
