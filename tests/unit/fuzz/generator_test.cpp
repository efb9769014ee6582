// Generated kernels: one seed, one kernel; all legal; printed as they are recorded.
#include "fuzz/fuzz_case.h"
#include "fuzz/generator.h"
#include "fuzz/inputs.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include <gtest/gtest.h>

#include <set>

using namespace tilewright;
using namespace tilewright::fuzz;

TEST(generator, gives_the_same_kernel_for_the_same_seed) {
  Prober first, second;
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    FuzzKernel a = Generator(seed, first).generate(), b = Generator(seed, second).generate();
    EXPECT_EQ(Printer(a).kernel_text(), Printer(b).kernel_text());
    texts.insert(Printer(a).kernel_text());
  }
  EXPECT_EQ(texts.size(), 20u);
}

TEST(generator, makes_kernels_that_the_language_takes) {
  Prober prober;
  for (uint64_t seed = 100; seed < 160; ++seed) {
    FuzzKernel kernel = Generator(seed, prober).generate();
    kernel.run_time_sizes = false; // of which some are refused
    RecordedCall call(kernel, inputs_of(kernel));
    EXPECT_NO_THROW(CallChecker(call.definition(), call.call())) << Printer(kernel).kernel_text();
  }
}

TEST(generator, knows_the_dtypes_of_its_values) {
  Prober prober;
  for (uint64_t seed = 200; seed < 240; ++seed) {
    FuzzKernel kernel = Generator(seed, prober).generate();
    kernel.run_time_sizes = false;
    RecordedCall call(kernel, inputs_of(kernel));
    CallChecker checker(call.definition(), call.call());
    for_each_statement(kernel.body, [&](const Statement& statement) {
      auto recorded = call.dtypes().find(statement.result);
      if (recorded == call.dtypes().end()) return; // it makes none, or stands in a static_range of no numbers
      EXPECT_EQ(name(recorded->second), name(statement.type.dtype)) << "v" << statement.result << " of\n"
                                                                    << Printer(kernel).kernel_text();
    });
  }
}

TEST(generator, fills_every_layout_and_kind_of_contents) {
  for (int layout = 0; layout < kLayoutCount; ++layout)
    for (int contents = 0; contents < kContentsCount; ++contents)
      for (bool aligned : {false, true}) {
        Array array = input({3, 5}, float32, static_cast<Layout>(layout), static_cast<Contents>(contents), aligned, 7);
        EXPECT_EQ(array.sizes(), (IndexList{3, 5}));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 16 == 0, aligned);
        Array again = input({3, 5}, float32, static_cast<Layout>(layout), static_cast<Contents>(contents), aligned, 7);
        EXPECT_EQ(array.strides(), again.strides());
        EXPECT_EQ(array.to_string(), again.to_string());
      }
}

TEST(printer, prints_a_whole_test) {
  Prober prober;
  FuzzKernel kernel = Generator(3, prober).generate();
  std::string text = test_source(kernel, Config{{"block_sizes", {4}}}, "of_something", "run: it differs");
  for (const char* part : {"#include <gtest/gtest.h>", "TEST(fuzz, of_something)", "// run: it differs",
                           "tw::kernel(\"fuzzed\"", "kernel.bind(", "tw::Config{{\"block_sizes\", {4}}}"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}
