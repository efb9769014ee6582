// Tilewright, all of it: kernels over tiles. A good start is examples/, a kernel a file.
#pragma once

#include "tilewright/array.h"
#include "tilewright/config.h"
#include "tilewright/device.h"
#include "tilewright/dtype.h"
#include "tilewright/error.h"
#include "tilewright/kernel.h"
#include "tilewright/ops.h"
#include "tilewright/settings.h"
#include "tilewright/tensor.h"
#include "tilewright/tile.h"
#include "tilewright/value.h"
