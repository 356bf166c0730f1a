/* view/calls.h - calls of a stack, as all views write them.
 *
 * For: view/.
 */
#ifndef TIDE_VIEW_CALLS_H
#define TIDE_VIEW_CALLS_H

#include "model/path.h"
#include "view/json.h"
#include "view/line.h"

/* CALL of PATHS with its place, in what is left of the line. */
void tide_page_call(struct tide_page *page, const struct tide_paths *paths,
                    const struct tide_call *call);

/* The member KEY of what is open: all calls of STACK, innermost first. */
void tide_json_calls(struct tide_json *json, const char *key, struct tide_paths *paths,
                     uint32_t stack);

#endif
