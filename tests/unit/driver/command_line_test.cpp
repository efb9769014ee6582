// The command line as its user sees it: what is typed, what is printed, and the exit status.
#include "driver/command_line/commands.h"
#include "tilewright/registry.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace tilewright;

namespace {

const auto doubled = kernel("doubled", {"x"}, [](Tensor x) {
  auto out = empty_like(x);
  for (auto [tile_m, tile_n] : tile({x.size(0), x.size(1)}))
    out[tile_m, tile_n] = x[tile_m, tile_n] + x[tile_m, tile_n];
  return out;
});

// Registered with a reference for something else.
const auto mistaken = kernel("mistaken", {"x"}, [](Tensor x) {
  auto out = empty_like(x);
  for (auto t : tile(x.size(0))) out[t] = x[t] * 3;
  return out;
});

std::vector<Array> doubled_reference(std::span<const AnyArgument> in) {
  Array out = in[0].array().clone();
  for (int64_t i = 0; i < out.numel(); ++i) out.data<double>()[i] *= 2;
  return {out};
}

RegisteredKernel describe_doubled() {
  RegisteredKernel registered;
  registered.summary = "twice a matrix";
  registered.arguments = {"x: T[m, n]"};
  registered.dtypes = {float32, int32};
  registered.cases = {{"small", {{"m", 5}, {"n", 7}}}, {"square", {{"m", 8}, {"n", 8}}}};
  registered.flops = [](const Instance& i) { return double(i["m"]) * double(i["n"]); };
  registered.reference = doubled_reference;
  return registered;
}

RegisteredKernel describe_mistaken() {
  RegisteredKernel registered;
  registered.arguments = {"x: T[n]"};
  registered.cases = {{"few", {{"n", 9}}}};
  registered.reference = doubled_reference;
  return registered;
}

TILEWRIGHT_REGISTER(doubled) = describe_doubled();
TILEWRIGHT_REGISTER(mistaken) = describe_mistaken();

struct Reply {
  int status;
  std::string out, err;
};

Reply type(std::vector<std::string> arguments) {
  std::ostringstream out, err;
  Terminal terminal{out, err};
  arguments.insert(arguments.begin(), "/somewhere/mine");
  int status = run_command_line(arguments, terminal);
  return {status, out.str(), err.str()};
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A folder of the test's own, also for the tuning database.
class CommandLine : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(CommandLine, without_a_command_says_what_there_is) {
  Reply reply = type({});
  EXPECT_EQ(reply.status, 2);
  EXPECT_TRUE(has(reply.err, "compile-bench")) << reply.err;
}

TEST_F(CommandLine, unknown_command_suggests_the_nearest) {
  Reply reply = type({"tunne"});
  EXPECT_EQ(reply.status, 2);
  EXPECT_EQ(reply.err, "error: there is no command \"tunne\"; did you mean tune?\n`mine --help` says more.\n");
}

TEST_F(CommandLine, unknown_flag_suggests_the_nearest) {
  Reply reply = type({"tune", "doubled", "--budgte", "3"});
  EXPECT_EQ(reply.status, 2);
  EXPECT_EQ(reply.err, "error: tune does not take --budgte; did you mean --budget?\n`mine tune --help` says more.\n");
}

TEST_F(CommandLine, value_that_is_no_number_is_refused) {
  Reply reply = type({"tune", "doubled", "--budget", "long"});
  EXPECT_EQ(reply.status, 2);
  EXPECT_TRUE(has(reply.err, "--budget")) << reply.err;
  EXPECT_TRUE(has(reply.err, "long")) << reply.err;
}

TEST_F(CommandLine, missing_kernel_is_refused) {
  Reply reply = type({"show"});
  EXPECT_EQ(reply.status, 2);
  EXPECT_TRUE(has(reply.err, "KERNEL is required")) << reply.err;
}

TEST_F(CommandLine, unknown_kernel_suggests_the_nearest) {
  for (const char* command : {"tune", "run", "show", "compile-bench", "bench", "list"}) {
    Reply reply = type({command, "doubledd"});
    EXPECT_EQ(reply.status, 1);
    EXPECT_EQ(reply.err, "error: there is no kernel \"doubledd\"; did you mean doubled?\n") << command;
  }
}

TEST_F(CommandLine, unknown_kernel_near_to_none_lists_all) {
  std::string error = type({"run", "quicksort"}).err;
  EXPECT_TRUE(error.starts_with("error: there is no kernel \"quicksort\"; there are ")) << error;
  EXPECT_TRUE(has(error, "doubled") && has(error, "mistaken")) << error;
}

TEST_F(CommandLine, unknown_case_is_refused) {
  EXPECT_EQ(type({"run", "doubled", "--case", "smal"}).err,
            "error: doubled: there is no case \"smal\"; did you mean small?\n");
  EXPECT_EQ(type({"bench", "doubled:smal"}).err, "error: doubled: there is no case \"smal\"; did you mean small?\n");
}

TEST_F(CommandLine, bad_sizes_are_refused) {
  EXPECT_EQ(type({"run", "doubled", "--size", "q=3"}).err, "error: doubled: there is no size \"q\"; did you mean m?\n");
  EXPECT_EQ(type({"run", "doubled", "--size", "m"}).err, "error: \"m\" is no size; write --size m=1000\n");
  EXPECT_EQ(type({"run", "doubled", "--size", "m=3,n=-1"}).err,
            "error: size n is \"-1\"; it must be a whole number, 0 or above\n");
  EXPECT_EQ(type({"run", "doubled", "--size", "m=1e3"}).err,
            "error: size m is \"1e3\"; it must be a whole number, 0 or above\n");
}

TEST_F(CommandLine, dtypes_that_a_kernel_does_not_take_are_refused) {
  EXPECT_EQ(type({"run", "doubled", "--dtype", "float23"}).err,
            "error: doubled: there is no dtype \"float23\"; did you mean float32?\n");
  EXPECT_EQ(type({"bench", "doubled", "--dtype", "float64"}).err,
            "error: doubled does not take float64; it takes float32, int32\n");
}

TEST_F(CommandLine, unknown_stage_is_refused) {
  EXPECT_EQ(type({"show", "doubled", "--stage", "loop"}).err,
            "error: there is no stage \"loop\"; did you mean loops?\n");
  EXPECT_EQ(type({"show", "doubled", "--stage", "ptxas-info"}).err,
            "error: there is no stage \"ptxas-info\"; there are tile, program, loops, llvm, asm, spec\n");
}

TEST_F(CommandLine, bad_config_is_refused) {
  Reply no_json = type({"run", "doubled", "--config", "{block_sizes: 3}"});
  EXPECT_EQ(no_json.status, 1);
  EXPECT_TRUE(has(no_json.err, "error: ")) << no_json.err;
  Reply bad_value = type({"show", "doubled", "--stage", "program", "--config", R"({"block_sizes": [0, 8]})"});
  EXPECT_EQ(bad_value.status, 1);
  EXPECT_TRUE(has(bad_value.err, "block_sizes")) << bad_value.err;
  EXPECT_EQ(bad_value.out, "");
}

TEST_F(CommandLine, bad_budget_effort_and_backend_are_refused) {
  EXPECT_EQ(type({"tune", "doubled", "--budget", "0"}).err, "error: the budget is 0 seconds; it must be above 0\n");
  EXPECT_EQ(type({"tune", "doubled", "--effort", "huge"}).err,
            "error: there is no effort \"huge\"; it is full or quick\n");
  EXPECT_EQ(type({"bench", "--backend", "abacus"}).err, "error: there is no backend \"abacus\"; there is cpu\n");
}

//===----------------------------------------------------------------------===//
// What is printed
//===----------------------------------------------------------------------===//

TEST_F(CommandLine, list_shows_arguments_dtypes_and_cases) {
  Reply reply = type({"list", "doubled", "mistaken"});
  EXPECT_EQ(reply.status, 0);
  EXPECT_EQ(reply.out, "doubled: twice a matrix\n"
                       "  arguments  x: T[m, n]\n"
                       "  T          float32, int32\n"
                       "  cases      small (m=5,n=7), square (m=8,n=8)\n"
                       "mistaken\n"
                       "  arguments  x: T[n]\n"
                       "  T          float32\n"
                       "  cases      few (n=9)\n");
  EXPECT_TRUE(has(type({"list"}).out, "doubled: twice a matrix"));
}

TEST_F(CommandLine, help_gives_examples_with_the_programs_own_names) {
  for (const char* command : {"list", "tune", "run", "show", "bench", "compile-bench"}) {
    Reply reply = type({command, "--help"});
    EXPECT_EQ(reply.status, 0);
    EXPECT_TRUE(has(reply.out, std::string("mine ") + command)) << reply.out;
    EXPECT_EQ(reply.err, "");
  }
  EXPECT_TRUE(has(type({"run", "--help"}).out, "mine run doubled --config '{\"pid_type\": \"flat\"}'"));
}

TEST_F(CommandLine, run_checks_the_result) {
  Reply right = type({"run", "doubled", "--size", "m=3", "--size", "n=11", "--config", "default"});
  EXPECT_EQ(right.status, 0) << right.err;
  EXPECT_TRUE(has(right.out, "doubled(x: float32[3, 11])")) << right.out;
  EXPECT_TRUE(has(right.out, "error   0.0e+00")) << right.out;
  Reply wrong = type({"run", "mistaken", "--config", "default"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(has(wrong.out, "WRONG")) << wrong.out;
  EXPECT_EQ(type({"run", "mistaken", "--config", "default", "--no-check"}).status, 0);
}

TEST_F(CommandLine, show_prints_every_stage) {
  for (const char* stage : {"tile", "program", "loops", "llvm", "asm"}) {
    Reply reply = type({"show", "doubled", "--stage", stage, "--config", "default"});
    EXPECT_EQ(reply.status, 0) << reply.err;
    EXPECT_TRUE(has(reply.out, "doubled(x: float32[5, 7])")) << reply.out;
  }
  Reply spec = type({"show", "doubled", "--stage", "spec"});
  EXPECT_TRUE(nlohmann::json::accept(spec.out)) << spec.out;
}

TEST_F(CommandLine, compile_bench_compiles_the_configs_asked_for) {
  Reply reply = type({"compile-bench", "doubled", "--configs", "3"});
  EXPECT_EQ(reply.status, 0) << reply.err;
  EXPECT_TRUE(has(reply.out, "3 random configs compiled")) << reply.out;
}

//===----------------------------------------------------------------------===//
// Benchmarks
//===----------------------------------------------------------------------===//

nlohmann::json read_json(const std::filesystem::path& file) { return nlohmann::json::parse(std::ifstream(file)); }

TEST_F(CommandLine, bench_writes_a_row_per_kernel_case_and_dtype) {
  std::filesystem::path file = folder_ / "rows.json";
  Reply reply = type({"bench", "doubled", "--dtype", "float32,int32", "--tune", "0", "--json", file});
  EXPECT_EQ(reply.status, 0) << reply.err;
  nlohmann::json json = read_json(file);
  std::set<std::string> top, keys;
  for (const auto& [key, value] : json.items()) top.insert(key);
  EXPECT_EQ(top, (std::set<std::string>{"machine", "rows"}));
  ASSERT_EQ(json["rows"].size(), 4u);
  const nlohmann::json& row = json["rows"][0];
  for (const auto& [key, value] : row.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"kernel", "case", "backend", "dtype", "us", "gflops", "gbps", "limit_fraction",
                                         "peer", "peer_us", "speedup", "max_rel_err", "config"}));
  EXPECT_EQ(row["kernel"], "doubled");
  EXPECT_EQ(row["case"], "small");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_EQ(row["dtype"], "float32");
  EXPECT_EQ(json["rows"][1]["dtype"], "int32");
  EXPECT_EQ(json["rows"][2]["case"], "square");
  EXPECT_GT(row["us"], 0);
  EXPECT_NEAR(row["gflops"].get<double>() * row["us"].get<double>(), 35e-3, 1e-9);
  EXPECT_NEAR(row["gbps"].get<double>() * row["us"].get<double>(), 280e-3, 1e-9);
  EXPECT_TRUE(row["peer"].is_null());
  EXPECT_TRUE(row["peer_us"].is_null());
  EXPECT_TRUE(row["speedup"].is_null());
  EXPECT_EQ(row["max_rel_err"], 0);
  EXPECT_TRUE(row["config"].contains("block_sizes"));
}

TEST_F(CommandLine, bench_fails_where_a_result_is_wrong_and_measures_the_others) {
  std::filesystem::path file = folder_ / "rows.json";
  Reply reply = type({"bench", "mistaken", "doubled:square", "--tune", "0", "--json", file});
  EXPECT_EQ(reply.status, 1);
  EXPECT_TRUE(has(reply.err, "WRONG: mistaken")) << reply.err;
  EXPECT_TRUE(has(reply.out, "WRONG")) << reply.out;
  EXPECT_EQ(read_json(file)["rows"].size(), 2u);
}

TEST_F(CommandLine, bench_takes_sizes_of_the_users_own) {
  Reply reply = type({"bench", "doubled", "--size", "m=1", "--tune", "0"});
  EXPECT_EQ(reply.status, 0) << reply.err;
  EXPECT_TRUE(has(reply.out, "m=1,n=7")) << reply.out;
}

} // namespace
