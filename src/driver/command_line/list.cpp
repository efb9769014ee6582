#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"

#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace tilewright {

static std::string case_text(const KernelCase& one) {
  std::vector<std::string> sizes;
  for (const auto& [name, value] : one.sizes) sizes.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{} ({})", one.name, fmt::join(sizes, ","));
}

static void print_kernel(std::ostream& out, const RegisteredKernel& kernel) {
  std::vector<std::string> dtypes, cases;
  for (DType dtype : kernel.dtypes) dtypes.emplace_back(name(dtype));
  for (const KernelCase& one : kernel.cases) cases.push_back(case_text(one));
  fmt::print(out, "{}{}{}\n", kernel.name, kernel.summary.empty() ? "" : ": ", kernel.summary);
  fmt::print(out, "  arguments  {}\n", fmt::join(kernel.arguments, ", "));
  fmt::print(out, "  T          {}\n", fmt::join(dtypes, ", "));
  fmt::print(out, "  cases      {}\n", fmt::join(cases, ", "));
}

int list_command(const ListArguments& arguments, Terminal& terminal) {
  if (arguments.kernels.empty() && registered_kernels().empty())
    fmt::print(terminal.err, "This program registers no kernel; tilewright/registry.h says how.\n");
  std::vector<const RegisteredKernel*> chosen;
  for (const std::string& name : arguments.kernels) chosen.push_back(&find_kernel(name));
  if (chosen.empty()) chosen = registered_kernels();
  for (const RegisteredKernel* kernel : chosen) print_kernel(terminal.out, *kernel);
  return 0;
}

} // namespace tilewright
