// RUN: not tilewright-opt %s -tile-lower-to-loops=level=pdp11 2>&1 | FileCheck %s

// CHECK: error: there is no CPU level 'pdp11'; there are x86-64-v3 and x86-64-v4
tile.program @p() {
  tile.return
}
