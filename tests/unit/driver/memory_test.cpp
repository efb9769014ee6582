// The memory of discarded code and contexts is freed: over thousands of configs the process stops growing.
#include "oracle.h"

#include <fstream>
#include <unistd.h>

namespace tw = tilewright;

static const auto row_scale = tw::kernel("row_scale", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = x[tile, tw::_] * tw::amax(x[tile, tw::_], 1, true);
  return out;
});

static int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(memory, of_two_thousand_discarded_configs_is_freed) {
  tw::test::CallUnderTest test(row_scale.bind(tw::Array::randn({2000, 300}, 1)));
  int64_t block = 0;
  auto compile_some = [&](int count) {
    for (int i = 0; i < count; ++i) {
      tw::Config config = test.default_config();
      config.set("block_sizes", {++block});
      tw::compile_config(test.specialisation().tile_ir, config);
    }
  };
  compile_some(600); // more than two contexts' worth: pools and arenas have their size
  int64_t early = resident_bytes();
  compile_some(1400);
  int64_t growth = resident_bytes() - early;
  RecordProperty("growth_bytes", std::to_string(growth));
  EXPECT_LT(growth, int64_t(24) << 20) << "resident memory grew from " << early << " bytes by " << growth;
}
