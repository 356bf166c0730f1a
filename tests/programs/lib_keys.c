/* tests/programs/lib_keys.c - takes the keys for which pthread needs no memory, before anybody
 * else does.
 */
#include <pthread.h>

enum { KEYS = 40 }; /* of 32 */

__attribute__((constructor)) static void take(void)
{
    pthread_key_t key;
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&key, NULL);
}
