// Writes what the tests of the Triton backend run: for each example, at a small size and with several configs, the
// generated file, its arguments and the results that it must give.
//
//   triton_cases FOLDER CONFIGS      FOLDER/matmul_0_2/{kernel.py, case.json, argument0.bin, result0.bin, ...}
//
// The results are the CPU backend's. Where a program as it is scheduled for Triton gives the interpreter others, that
// is an error here: what then differs in the tests is the text.
#include "case_files.h"

#include "autotune/random_search.h"
#include "config/derive_config_spec.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/in_process_runner.h"
#include "driver/pipeline.h"
#include "driver/specialisation.h"
#include "examples/small_cases.h"
#include "ir/interpreter.h"
#include "schedule/schedule.h"

#include <fmt/format.h>
#include <iostream>

using namespace tilewright;

namespace {

/// Of the largest value. 16-bit results are rounded once, or a few times on the way; float32 ones are sums of few
/// terms.
double allowed_error(DType dtype) {
  if (dtype == bfloat16) return 8 * 0x1p-9;
  return dtype == float16 ? 8 * 0x1p-12 : tolerance(dtype, 64);
}

/// One example at one size.
class CaseWriter {
public:
  CaseWriter(const test::Case& one, DType dtype, const std::filesystem::path& folder, std::string name)
      : kernel_(*find_registered_kernel(one.kernel)), folder_(folder), name_(std::move(name)),
        values_(kernel_.make_arguments(test::instance_of(one, dtype), 1)), call_(kernel_.bind(values_)),
        specialisation_(specialise(call_.core().definition(), call_.call(), Backend::Triton)),
        arguments_(specialisation_, call_.call()) {
    with_kernel(specialisation_.tile_ir,
                [&](KernelOp kernel) { specialisation_.spec = derive_config_spec(kernel, test::small_limits()); });
    Specialisation cpu = specialise(call_.core().definition(), call_.call());
    ProgramArguments work(cpu, call_.call());
    ProgramArguments copy = work.copy();
    CompiledKernel compiled = compile_config(cpu.tile_ir, default_config(cpu.spec));
    launch(compiled.plan, copy.pointers());
    written_ = copy.written();
    for (Array& array : written_) array = array.clone();
    for (size_t i = 0; i < cpu.host.returned.size(); ++i) results_.push_back(copy.returned(i).clone());
  }

  int write(size_t configs) {
    std::vector<Config> all = random_configs(specialisation_.spec, configs, 7);
    all.insert(all.begin(), default_config(specialisation_.spec));
    // The kernel as it is recorded for its defaults.
    std::erase_if(all, [&](const Config& config) { return !holds_for(specialisation_, config); });
    int wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) wrong += !write(all[i], folder_ / fmt::format("{}_{}", name_, i));
    return wrong;
  }

private:
  bool agrees(const Config& config) {
    ProgramArguments work = arguments_.copy();
    with_kernel(specialisation_.tile_ir, [&](KernelOp kernel) {
      auto module = schedule(kernel, config, test::small_limits());
      interpret_program(program_of(*module), work.interpreter_arguments(), 3);
    });
    std::vector<Array> found = work.written();
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].numel() == 0) continue;
      double error = max_relative_error(found[i], written_[i]), allowed = allowed_error(found[i].dtype());
      if (error <= allowed || (!is_floating_point(found[i].dtype()) && equal(found[i], written_[i]))) continue;
      std::cerr << fmt::format("{} with {}: array {} is wrong by {} where {} is rounding\n",
                               specialisation_.description, config.to_json(), i, error, allowed);
      return false;
    }
    return true;
  }

  bool write(const Config& config, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::string source;
    with_kernel(specialisation_.tile_ir,
                [&](KernelOp kernel) { source = triton_source(kernel, config, triton::GpuTarget()); });
    test::write_bytes(folder / "kernel.py", source.data(), source.size());
    nlohmann::json json = test::case_of(specialisation_, call_.call(), config, folder);
    // What the kernel gives back; where that is nothing, the arguments that it stores to.
    const std::vector<Array>& expected = results_.empty() ? written_ : results_;
    for (const Array& array : expected) {
      nlohmann::json one = test::write_array(folder, fmt::format("result{}.bin", json["results"].size()), array);
      one["tolerance"] = allowed_error(array.dtype());
      json["results"].push_back(one);
    }
    std::string text = json.dump(1);
    test::write_bytes(folder / "case.json", text.data(), text.size());
    return agrees(config);
  }

  const RegisteredKernel& kernel_;
  std::filesystem::path folder_;
  std::string name_;
  std::vector<AnyArgument> values_;
  BoundCall call_;
  Specialisation specialisation_;
  ProgramArguments arguments_;
  std::vector<Array> written_, results_; // by the CPU backend
};

} // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: triton_cases FOLDER CONFIGS\n";
    return 2;
  }
  std::vector<test::Case> cases = test::cases();
  cases.push_back({"softmax_steps", {{"m", 13}, {"n", 45}}});
  cases.push_back({"softmax_online", {{"m", 13}, {"n", 45}}});
  // Sizes that blocks divide have no masks.
  cases.push_back({"softmax", {{"m", 16}, {"n", 64}}});
  cases.push_back({"matmul", {{"m", 64}, {"n", 64}, {"k", 64}}});
  cases.push_back({"attention", {{"h", 2}, {"q", 32}, {"k", 64}, {"d", 16}}});
  int wrong = 0;
  for (size_t i = 0; i < cases.size(); ++i)
    for (DType dtype : {float32, bfloat16}) {
      std::string name = fmt::format("{}_{}_{}", cases[i].kernel, tilewright::name(dtype), i);
      try {
        CaseWriter writer(cases[i], dtype, arguments[1], name);
        wrong += writer.write(std::stoul(arguments[2]));
      } catch (const std::exception& error) {
        std::cerr << name << ": " << error.what() << "\n";
        ++wrong;
      }
    }
  return wrong == 0 ? 0 : 1;
}
