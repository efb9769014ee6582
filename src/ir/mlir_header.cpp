#include "ir/mlir_header.h"
