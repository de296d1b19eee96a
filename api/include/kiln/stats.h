// Counters of what Kiln did: stats(), reset_stats(), Stats, SyncCause.
#pragma once

#include "runtime/stats.h"
