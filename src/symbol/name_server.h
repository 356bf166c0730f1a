/* symbol/name_server.h - the process that reads names: answer until nobody asks.
 *
 * For: name_child.c.
 */
#ifndef TIDE_SYMBOL_NAME_SERVER_H
#define TIDE_SYMBOL_NAME_SERVER_H

struct tide_debuginfod;

/* Answer what comes in at FD; it returns when the other end is closed. */
void tide_name_serve(int fd, struct tide_debuginfod *debuginfod);

#endif
