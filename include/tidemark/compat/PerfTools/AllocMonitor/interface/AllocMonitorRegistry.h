/* AllocMonitor/interface/AllocMonitorRegistry.h - CMS's header of that name, for tidemark. */
#ifndef TIDEMARK_COMPAT_ALLOC_MONITOR_REGISTRY_H
#define TIDEMARK_COMPAT_ALLOC_MONITOR_REGISTRY_H

#include "../../../../alloc_monitor.hpp"

#endif
