/* collect/segment_users.h - who maps a segment, as /proc knows it.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_SEGMENT_USERS_H
#define TIDE_COLLECT_SEGMENT_USERS_H

#include <stdbool.h>

struct tide_share;

/* Does any process but ours map SHARE, or may one that does not let us look?  Slower than
 * tide_share_held(), and right where that errs: its lease is refused also for a while after the
 * last process has ended, if somebody looks at that process's memory through /proc meanwhile. */
bool tide_share_is_mapped(const struct tide_share *share);

#endif
