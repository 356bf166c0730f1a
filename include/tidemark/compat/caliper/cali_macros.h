/* caliper/cali_macros.h - for tidemark: see caliper/cali.h. */
#include "cali.h"
