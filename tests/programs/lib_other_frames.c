/* tests/programs/lib_other_frames.c - lib_many_frames.c, with other frames. */
#define FIRST_TURN ".set turn, 3\n"
#include "lib_many_frames.c"
