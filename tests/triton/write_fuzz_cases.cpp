// Writes random kernels of the fuzzer as cases for the tests of the Triton backend: the generated file, the arguments
// with their layouts, and what the interpreter of tile IR makes of them, with a bound for each element
// (ir/interpreter_bounds.h).
//
//   triton_fuzz_cases FOLDER FIRST_SEED KERNELS [--list-refusals]
//
// What the backend refuses, by name, is counted; any other failure is an error.
#include "fuzz/generator.h"
#include "fuzz/inputs.h"
#include "fuzz/print_kernel.h"
#include "fuzz/random_config.h"
#include "fuzz/record_kernel.h"

#include "case_files.h"

#include "autotune/random_search.h"
#include "config/derive_config_spec.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/pipeline.h"
#include "driver/specialisation.h"
#include "ir/interpreter.h"
#include "schedule/cut_blocks.h"

#include <fmt/format.h>

#include <iostream>
#include <map>

using namespace tilewright;

namespace {

enum class CaseOutcome { Written, Refused, NotDefined, Failed };

bool is_refusal(std::string_view message) {
  return message.find("the triton backend does not support") != message.npos ||
         message.find("which is no power of two") != message.npos;
}

// What no store reaches must stay as it is: the tests fill new arrays with the same.
Array allocation(const HostPlan::Allocation& allocation) {
  Number unset = allocation.dtype == boolean ? 1 : 77;
  return Array::full(IndexList(allocation.sizes_for({})), allocation.fill.value_or(unset), allocation.dtype);
}

// Triton's interpreter has the atomic operations of integers, and the sum of other numbers: it refuses an exchange, and
// gives the bits of what was there for the number of an extremum.
bool is_interpreted(KernelOp kernel) {
  bool all = true;
  kernel.walk([&](AtomicOp atomic) {
    if (llvm::isa<mlir::FloatType>(element_type(AccessOp(atomic).block())) && atomic.getKind() != AtomicKind::Add)
      all = false;
  });
  return all;
}

class FuzzCaseWriter {
public:
  FuzzCaseWriter(std::filesystem::path folder, fuzz::Prober& prober) : folder_(std::move(folder)), prober_(prober) {}

  CaseOutcome write(uint64_t seed, std::string& message) {
    fuzz::FuzzKernel kernel = fuzz::Generator(seed, prober_).generate();
    kernel.run_time_sizes = false;
    std::vector<Array> arrays = fuzz::inputs_of(kernel);
    fuzz::RecordedCall recorded(kernel, arrays);
    Specialisation specialisation;
    try {
      specialisation = specialise(recorded.definition(), recorded.call(), Backend::Triton);
    } catch (const Error& error) {
      message = error.what();
      return CaseOutcome::NotDefined;
    }
    ProgramArguments arguments(specialisation, recorded.call());
    BackendLimits limits = test::small_limits();
    CaseOutcome outcome = CaseOutcome::Written;
    with_kernel(specialisation.tile_ir, [&](KernelOp ir) {
      ConfigSpec spec = derive_config_spec(ir, limits);
      Config config = random_configs(spec, 1, seed)[0];
      if (fuzz::depends_on_tiles(kernel) && config.has("flatten_loops")) // others would be tiles of something else
        config.set("flatten_loops", std::vector<bool>(config.get_bools("flatten_loops").size(), false));
      std::string source;
      try {
        source = triton_source(ir, config, triton::GpuTarget());
      } catch (const Error& error) {
        message = error.what();
        outcome = is_refusal(message) ? CaseOutcome::Refused : CaseOutcome::Failed;
        return;
      }
      if (!is_interpreted(ir)) {
        message = "here: not run by Triton's interpreter: atomic exchanges and extrema of floating-point numbers";
        outcome = CaseOutcome::Refused;
        return;
      }
      outcome = write_case(specialisation, recorded.call(), arguments, ir, config, source, seed, message);
    });
    return outcome;
  }

private:
  CaseOutcome write_case(const Specialisation& specialisation, const detail::Call& call,
                         const ProgramArguments& arguments, KernelOp ir, const Config& config,
                         const std::string& source, uint64_t seed, std::string& message) {
    ProgramArguments work = arguments.copy();
    std::vector<InterpreterArgument> given = work.interpreter_arguments();
    given.resize(specialisation.parameters.size());
    std::vector<Array> allocations;
    for (const HostPlan::Allocation& each : specialisation.host.allocations) allocations.push_back(allocation(each));
    ErrorBounds bounds;
    BackendLimits limits = test::small_limits();
    std::vector<int64_t> sizes = config.has("block_sizes") ? config.get_ints("block_sizes") : std::vector<int64_t>();
    try {
      interpret_kernel(ir, cut_blocks(ir, sizes, limits.pads_extents, limits.min_dot_block), given, allocations,
                       &bounds);
    } catch (const Error& error) {
      message = error.what();
      return CaseOutcome::NotDefined;
    }
    std::filesystem::path folder = folder_ / fmt::format("fuzz_{}", seed);
    std::filesystem::create_directories(folder);
    test::write_bytes(folder / "kernel.py", source.data(), source.size());
    nlohmann::json json = test::case_of(specialisation, call, config, folder);
    auto add = [&](const Array& array, const std::vector<double>& bound) {
      nlohmann::json one = test::write_array(folder, fmt::format("result{}.bin", json["results"].size()), array);
      one["bounds"] = fmt::format("bounds{}.bin", json["results"].size());
      test::write_bytes(folder / one["bounds"].get<std::string>(), bound.data(), bound.size() * sizeof(double));
      json["results"].push_back(one);
    };
    // What is returned, in order, then the arguments that are stored to.
    for (const HostPlan::Returned& returned : specialisation.host.returned) {
      if (returned.kind == HostPlan::Returned::Kind::Allocation)
        add(allocations[returned.index], bounds.allocations[returned.index]);
      else
        add(std::get<Array>(given[returned.index]), bounds.arguments[returned.index]);
    }
    json["returned"] = specialisation.host.returned.size();
    for (size_t i = 0; i < specialisation.parameters.size(); ++i)
      if (specialisation.parameters[i].is_written) add(std::get<Array>(given[i]), bounds.arguments[i]);
    std::string text = json.dump(1);
    test::write_bytes(folder / "case.json", text.data(), text.size());
    return CaseOutcome::Written;
  }

  std::filesystem::path folder_;
  fuzz::Prober& prober_;
};

} // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::cerr << "usage: triton_fuzz_cases FOLDER FIRST_SEED KERNELS [--list-refusals]\n";
    return 2;
  }
  fuzz::Prober prober;
  FuzzCaseWriter writer(arguments[1], prober);
  std::map<std::string, int> refusals;
  int written = 0, failed = 0, undefined = 0;
  const uint64_t first = std::stoull(arguments[2]), kernels = std::stoull(arguments[3]);
  for (uint64_t seed = first; seed < first + kernels; ++seed) {
    std::string message;
    CaseOutcome outcome = CaseOutcome::Failed;
    try {
      outcome = writer.write(seed, message);
    } catch (const std::exception& error) {
      message = error.what();
    }
    switch (outcome) {
    case CaseOutcome::Written: ++written; break;
    case CaseOutcome::NotDefined: ++undefined; break;
    case CaseOutcome::Refused: ++refusals[message.substr(message.find(": ") + 2)]; break;
    case CaseOutcome::Failed: ++failed; std::cerr << fmt::format("seed {}: {}\n", seed, message);
    }
  }
  int refused = 0;
  for (const auto& [message, times] : refusals) {
    refused += times;
    if (count > 4) std::cerr << fmt::format("refused {} times: {}\n", times, message);
  }
  std::cout << fmt::format("{} kernels written, {} refused, {} without a defined result, {} failed\n", written, refused,
                           undefined, failed);
  return failed == 0 ? 0 : 1;
}
