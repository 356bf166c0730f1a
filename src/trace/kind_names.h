/* trace/kind_names.h - what the calls that make blocks are called.
 *
 * For: model/, query/, view/.
 */
#ifndef TIDE_TRACE_KIND_NAMES_H
#define TIDE_TRACE_KIND_NAMES_H

/* Of an enum tide_alloc_kind, as in "new[]"; "unknown" for what is none. */
const char *tide_alloc_kind_name(unsigned kind);
/* Of an enum tide_map_call. */
const char *tide_map_call_name(unsigned call);

#endif
