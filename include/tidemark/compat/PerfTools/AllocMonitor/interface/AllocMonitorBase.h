/* AllocMonitor/interface/AllocMonitorBase.h - CMS's header of that name, for tidemark. */
#ifndef TIDEMARK_COMPAT_ALLOC_MONITOR_BASE_H
#define TIDEMARK_COMPAT_ALLOC_MONITOR_BASE_H

#include "../../../../alloc_monitor.hpp"

#endif
