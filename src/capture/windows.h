/* capture/windows.h - counting windows: from a start to a stop.
 *
 * For: capture/.
 */
#ifndef TIDE_CAPTURE_WINDOWS_H
#define TIDE_CAPTURE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>
#include <tidemark/tidemark.h>

#include "capture/self.h"

/* What listeners are for. */
enum tide_listener_kind { TIDE_FOR_CALLBACKS, TIDE_FOR_WINDOW, TIDE_FOR_MONITOR };

tide_handle tide_window_open(const char *name, enum tide_scope scope) TIDE_COLD;
enum tide_answer tide_window_close(tide_handle window,
                                   struct tide_stats *stats) TIDE_COLD;
/* What it has counted so far. */
enum tide_answer tide_window_read(tide_handle window,
                                  struct tide_stats *stats) TIDE_COLD;
/* Windows that are open. */
uint32_t tide_window_count(void);

#endif
