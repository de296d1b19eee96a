// KILN_API for the public headers.
#pragma once

#include "ir/core/export.h"
