// What the host part asks of the config: registered block sizes as host integers, and tunables.
#include "frontend/recording.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tilewright::detail {

// Of a registered block size that no config says, where host code asks for it: something usual.
constexpr int64_t kUsualBlock = 64;

Handle Recording::register_block(const std::optional<Dim>& extent, int64_t min, std::optional<int64_t> max,
                                 const SourceLocation& where) {
  Dim block = builder_.dimensions.add_block(where, 0, 1);
  choices_.blocks.push_back({block.symbol()->index, extent, min, max, std::nullopt});
  return new_variable(builder_.extent(block));
}

int64_t Recording::host_number(const Handle& handle) {
  check_mine(handle, "a registered block size");
  auto extent = variables_[handle.index].value.getDefiningOp<ExtentOp>();
  std::optional<Symbol> block = extent ? extent.getDim().dim().symbol() : std::nullopt;
  auto is_own = [&](const RegisteredBlock& known) { return known.block == block->index; };
  if (!block || block->kind != Symbol::Kind::Block || llvm::none_of(choices_.blocks, is_own))
    builder_.fail("only a block size that tw::register_block_size gave is a number before the kernel runs");
  return host_number(block->index);
}

int64_t Recording::host_number(uint32_t block) {
  RegisteredBlock& entry =
      *llvm::find_if(choices_.blocks, [&](const RegisteredBlock& known) { return known.block == block; });
  if (entry.value) return *entry.value;
  int64_t size = std::min(kUsualBlock, entry.max.value_or(kUsualBlock));
  if (entry.extent)
    size = std::min(size, static_cast<int64_t>(
                              llvm::PowerOf2Ceil(std::max<int64_t>(*builder_.dimensions.value(*entry.extent), 1))));
  const ConfigValue* sizes = config_ ? config_->find("block_sizes") : nullptr;
  if (sizes && sizes->is_list() && block < sizes->as_list().size()) {
    const ConfigValue& given = sizes->as_list()[block];
    if (given.is_int() && given.as_int() >= 1) size = given.as_int(); // else normalise() refuses it
  }
  entry.value = std::max(size, entry.min);
  return *entry.value;
}

mlir::Value Recording::with_host_numbers(mlir::Value bound) {
  auto extent = bound.getDefiningOp<ExtentOp>();
  if (!extent) return bound;
  Dim dim = extent.getDim().dim();
  Dim known = dim.substitute([&](Symbol symbol) -> std::optional<Dim> {
    if (symbol.kind != Symbol::Kind::Block) return std::nullopt;
    return Dim(host_number(symbol.index));
  });
  return known == dim ? bound : builder_.extent(known);
}

int64_t Recording::register_tunable(const std::string& name, llvm::ArrayRef<int64_t> choices,
                                    const SourceLocation& where) {
  at(where);
  if (name.empty()) builder_.fail("tw::register_tunable needs a name: the option's in the config");
  if (choices.empty()) builder_.fail("tw::register_tunable(\"{}\") has no choices", name);
  for (size_t i = 0; i < choices.size(); ++i)
    if (llvm::is_contained(choices.take_front(i), choices[i]))
      builder_.fail("tw::register_tunable(\"{}\") has the choice {} twice", name, choices[i]);
  for (const Tunable& known : choices_.tunables)
    if (known.name == name)
      builder_.fail("tw::register_tunable(\"{}\") is called twice in this kernel; each option has its own name", name);
  int64_t value = choices[0];
  if (const ConfigValue* given = config_ ? config_->find(name) : nullptr) {
    if (!given->is_int() || !llvm::is_contained(choices, given->as_int()))
      builder_.fail("config option '{}': found {}, expected one of {}", name, given->to_json(),
                    fmt::join(choices.begin(), choices.end(), ", "));
    value = given->as_int();
  }
  choices_.tunables.push_back({name, llvm::to_vector(choices), value});
  return value;
}

} // namespace tilewright::detail
