/* collect/session_folder.h - the folder where targets find their collector.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_SESSION_FOLDER_H
#define TIDE_COLLECT_SESSION_FOLDER_H

/* What the socket is called until somebody listens, so that one which refuses is one whose
 * listener is dead. */
#define TIDE_SOCKET_EARLY "early"

/* A new folder, 0700 (0711 when we are root), in $XDG_RUNTIME_DIR, $TMPDIR or /tmp; NULL
 * on failure.  Owned by the caller.  Folders that killed collectors left there are removed
 * on the way. */
char *tide_session_folder_make(void);

/* Have the link TIDE_TRACE_LINK in the folder PATH lead to the trace of WRITER: for targets that
 * ask for a part of it. */
struct tide_writer;
void tide_session_folder_link(const char *path, const struct tide_writer *writer);

/* A target got its answer: take back what another may have left who got none. */
void tide_session_folder_speak(const char *path);

/* Remove the folder PATH and what is in it. */
void tide_session_folder_remove(const char *path);

#endif
