// The memory of discarded code, contexts and modules is given back.
#include "cpu/loops_kernel.h"

#include "backends/cpu/jit.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace tilewright::cpu;

namespace {

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total, resident;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Loops, a masked tail and constants that differ from one `number` to the next.
std::string kernel_text(int number) {
  std::string n = std::to_string(number + 1);
  return loops_function(
      "%x: memref<" + n + "x64xf32>, %y: memref<" + n + "x64xf32>, ",
      "%s = memref.alloca() {alignment = 64} : memref<" + n +
          "xf32>\n"
          "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c16 = arith.constant 16 : index\n"
          "%c64 = arith.constant 64 : index\n%n = arith.constant " +
          n +
          " : index\n"
          "%z = arith.constant dense<" +
          n +
          ".5> : vector<16xf32>\n"
          "scf.for %i = %c0 to %n step %c1 {\n"
          "%sum = scf.for %j = %c0 to %c64 step %c16 iter_args(%a = %z) -> (vector<16xf32>) {\n"
          "%v = vector.load %x[%i, %j] : memref<" +
          n +
          "x64xf32>, vector<16xf32>\n"
          "%e = math.exp %v : vector<16xf32>\n%b = arith.addf %a, %e : vector<16xf32>\n"
          "vector.store %e, %y[%i, %j] : memref<" +
          n +
          "x64xf32>, vector<16xf32>\n"
          "scf.yield %b : vector<16xf32>\n}\n"
          "%t = vector.reduction <add>, %sum : vector<16xf32> into f32\n"
          "memref.store %t, %s[%i] : memref<" +
          n + "xf32>\n}");
}

TEST(CompileMemory, levels_off_over_two_thousand_kernels) {
  constexpr int kKernels = 2000, kSettled = 500;
  int64_t settled = 0;
  for (int i = 0; i < kKernels; ++i) {
    if (i == kSettled) settled = resident_bytes();
    LoopsText text(kernel_text(i % 61), /*expand_for=*/&host_target());
    compile(text.emit(), host_target());
  }
  int64_t growth = resident_bytes() - settled;
  RecordProperty("growth_bytes", std::to_string(growth));
  std::printf("resident memory grew by %ld KiB from kernel %d to %d\n", static_cast<long>(growth / 1024), kSettled,
              kKernels);
  // A leak of one page a kernel would be 6 MiB.
  EXPECT_LT(growth, 3 << 20);
}

} // namespace
