// From the names and numbers a user typed to a registered kernel, its sizes and its arguments. Everything here throws
// Error on what there is not, and says what there is.
#pragma once

#include "driver/command_line/command_arguments.h"
#include "driver/prepared_call.h"
#include "tilewright/registry.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// `there is no kernel "matmull"; did you mean matmul?`, or with all there are.
std::string no_such(std::string_view kind, std::string_view name, std::span<const std::string> known);

const RegisteredKernel& find_kernel(const std::string& name);
/// The first where the name is empty.
const KernelCase& find_case(const RegisteredKernel& kernel, const std::string& name);
/// The first where the name is empty.
DType find_dtype(const RegisteredKernel& kernel, const std::string& name);
/// `texts` as in KernelArguments::sizes.
void set_sizes(Instance& instance, const RegisteredKernel& kernel, std::span<const std::string> texts);

/// A call that can be made.
struct ChosenCall {
  const RegisteredKernel* kernel;
  Instance instance;
  std::string case_name; // "1024", or "m=1000,n=333" where sizes were given
  std::vector<AnyArgument> arguments;
  BoundCall call;
};

/// What the arrays of a call hold. Unset ones are for looking at a kernel: they take no time.
enum class Values { Random, Unset };

ChosenCall choose_call(const KernelArguments& arguments, Values values = Values::Random);

/// A config, and where it comes from.
struct ChosenConfig {
  Config config;      // complete
  std::string source; // "as given", "found by tuning", "default"
};

/// `text`: JSON, "default", or empty for the best known.
ChosenConfig config_for(const PreparedCall& call, const std::string& text);

} // namespace tilewright
