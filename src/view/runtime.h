/* view/runtime.h - which functions are the inside of a language's library.
 *
 * For: view/, tests/.  Between a program's own function and the allocation stand, in C++
 * and Rust, five to ten functions of the library that nobody wants to read.  Texts show
 * the one that the program called and the one that allocated; JSON shows all.
 */
#ifndef TIDE_VIEW_RUNTIME_H
#define TIDE_VIEW_RUNTIME_H

#include <stdbool.h>

#include "model/model.h"

/* Is FUNCTION of a language's library? */
bool tide_is_runtime(const struct tide_function *function);

#endif
