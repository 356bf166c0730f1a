/* caliper/ConfigManager.h - for tidemark: see caliper/cali-manager.h. */
#include "cali-manager.h"
