#include "autotune/candidate.h"

#include "support/error_of.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(CandidateJob, goes_through_text_unchanged) {
  const CandidateJob job{
      "module {\n  \"quoted\"\n}", "x: float32[3, 4]", {{"block_sizes", {64}}, {"pid_type", "flat"}}};
  const CandidateJob back = CandidateJob::from_json(job.to_json());
  EXPECT_EQ(back.tile_ir, job.tile_ir);
  EXPECT_EQ(back.arguments, job.arguments);
  EXPECT_EQ(back.config, job.config);
}

TEST(CandidateJob, refuses_what_is_none) {
  EXPECT_EQ(error_of([] { CandidateJob::from_json(R"({"tile_ir": "x", "config": {}})"); }),
            "not a candidate job: [json.exception.out_of_range.403] key 'arguments' not found");
}

TEST(Outcome, has_a_name_for_people) {
  for (int i = 0; i <= static_cast<int>(Outcome::skipped); ++i) EXPECT_FALSE(name(static_cast<Outcome>(i)).empty());
  EXPECT_EQ(name(Outcome::wrong_result), "wrong result");
}

} // namespace
} // namespace tilewright
