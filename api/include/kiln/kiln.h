// Kiln: tensors whose calls look eager and run fused. All that a user includes.
#pragma once

#include "kiln/ops.h"
#include "kiln/print.h"
#include "kiln/random.h"
#include "kiln/stats.h"
#include "kiln/sync.h"
#include "kiln/tensor.h"
