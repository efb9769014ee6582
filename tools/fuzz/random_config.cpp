#include "fuzz/random_config.h"

#include "fuzz/forms.h"

#include "config/config_point.h"
#include "config/normalise.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace tilewright::fuzz {

Config random_config(const ConfigSpec& spec, Random& random, bool may_flatten) {
  Config config = random.chance(0.1) ? default_config(spec) : decode(spec, random_point(spec, random));
  if (const ConfigValue* flatten = config.find("flatten_loops"); flatten && !may_flatten)
    config.set("flatten_loops", std::vector<bool>(flatten->as_list().size(), false));
  const ConfigOptionSpec* blocks = spec.find("block_sizes");
  if (!blocks) return config;
  std::vector<int64_t> sizes = config.get_ints("block_sizes");
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto* entry = std::get_if<SizeEntry>(&blocks->entries[i]);
    int64_t most = entry && entry->extent > 0 ? 2 * entry->extent : 64;
    if (random.chance(0.3)) sizes[i] = 1 + static_cast<int64_t>(random.below(std::min<int64_t>(most, 24)));
    sizes[i] = std::min(sizes[i], most);
  }
  config.set("block_sizes", sizes);
  return normalise(spec, config).config;
}

bool depends_on_tiles(const FuzzKernel& kernel) {
  std::set<int> outermost;
  for (const Statement& loop : kernel.body) outermost.insert(loop.variables.begin(), loop.variables.end());
  std::map<ValueId, Type> types;
  bool depends = !kernel.blocks.empty();
  auto is_outermost = [&](const Axis& axis) { return axis.kind == Axis::Kind::tile && outermost.contains(axis.index); };
  for_each_statement(kernel.body, [&](const Statement& statement) {
    std::string_view form = statement.form->name;
    depends |= form.starts_with("tile.") && form != "tile.index";
    depends |= form == "tile bounded by a tile" || form == "print";
    if (statement.result < 0) return;
    types[statement.result] = statement.type;
    for (const FuzzOperand& operand : statement.operands) {
      if (operand.kind != FuzzOperand::Kind::value) continue;
      for (const Axis& axis : types[operand.value].axes) {
        auto& kept = statement.type.axes;
        depends |= is_outermost(axis) && std::find(kept.begin(), kept.end(), axis) == kept.end();
        depends |= is_outermost(axis) && statement.form->has(kMixesLanes);
      }
    }
  });
  // Whether every program changes an element of its own: else how often it is changed is the number of programs.
  for (const Statement& loop : kernel.body)
    for_each_statement(loop.body, [&](const Statement& statement) {
      if (!std::string_view(statement.form->name).starts_with("atomic_")) return;
      std::set<int> left(loop.variables.begin(), loop.variables.end());
      for (const FuzzSubscript& subscript : statement.subscripts) {
        if (subscript.kind == FuzzSubscript::Kind::tile) left.erase(subscript.index);
        for (const Axis& axis : types[subscript.value].axes)
          if (axis.kind == Axis::Kind::tile) left.erase(axis.index);
      }
      depends |= !left.empty();
    });
  return depends;
}

} // namespace tilewright::fuzz
