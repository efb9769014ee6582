// From a program's number to its tile.
#include "backends/triton/kernel_emitter.h"

#include "backends/triton/source_names.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mlir;

namespace tilewright::triton {

// "pid_m" for the user's tile_m.
static std::string coordinate_name(StringRef tile) {
  tile.consume_front("tile_");
  return tile == "tile" ? "pid" : "pid_" + tile.str();
}

void KernelEmitter::emit_program_id(ProgramIdOp op) {
  if (op->use_empty()) return;
  std::string name = "pid";
  if (op.getAxis() > 0 || program_.getGrid()) {
    // The axes are the loop's dimensions from the last one on.
    std::vector<std::string> tiles = writer_.loop_names(op.getLoc());
    const size_t axis = op.getAxis();
    name = axis < tiles.size() ? coordinate_name(tiles[tiles.size() - 1 - axis]) : fmt::format("pid_{}", axis);
  }
  name = writer_.unique(name);
  writer_.line(fmt::format("{} = tl.program_id({})", name, op.getAxis()));
  codes_[op.getId()] = {name, Binding::Atom, "int32"};
}

// As schedule/expand_program_ids.h has it for backends that count in arithmetic; here with names.
void KernelEmitter::emit_map_program(MapProgramOp op) {
  SmallVector<OpFoldResult> counts = op.mixed_counts();
  const size_t rank = counts.size();
  std::vector<std::string> tiles = writer_.loop_names(op.getLoc()), names;
  for (size_t i = 0; i < rank; ++i) {
    std::string usual = rank == 2 ? (i == 0 ? "pid_m" : "pid_n") : fmt::format("pid_{}", i);
    names.push_back(tiles.size() == rank ? coordinate_name(tiles[i]) : usual);
  }
  Code left = code_of(op.getId());
  auto define = [&](size_t i, const Code& code) {
    if (op.getResult(i).use_empty()) return;
    if (code.binding == Binding::Atom) return void(codes_[op.getResult(i)] = code); // has a name
    std::string name = writer_.unique(names[i]);
    writer_.line(name + " = " + code.text, op.getLoc());
    codes_[op.getResult(i)] = {name, Binding::Atom, "int32"};
  };
  auto named = [&](const char* wanted, const Code& code) {
    std::string name = writer_.unique(wanted);
    writer_.line(name + " = " + code.text, op.getLoc());
    return Code{name, Binding::Atom, "int32"};
  };
  auto divided = [&](const Code& a, const Code& b) { return binary(a, "//", b, Binding::Product, "int32"); };
  auto rest = [&](const Code& a, const Code& b) { return binary(a, "%", b, Binding::Product, "int32"); };
  auto count = [&](size_t i) {
    std::optional<int64_t> number = getConstantIntValue(counts[i]);
    return number ? integer(*number) : code_of(cast<Value>(counts[i]));
  };
  auto product = [&](const Code& a, const Code& b) {
    if (a.is_literal() && b.is_literal()) return integer(std::stoll(a.text) * std::stoll(b.text));
    return binary(a, "*", b, Binding::Product, "int32");
  };
  size_t dim = rank;
  const int64_t group = op.getGroup();
  std::vector<std::pair<size_t, Code>> last; // of the last two dimensions, in order
  if (group > 1 && rank > 1) {
    dim -= 2;
    const std::optional<int64_t> known_rows = getConstantIntValue(counts[dim]);
    const bool are_whole = known_rows && *known_rows % group == 0; // all groups are
    const Code rows = count(dim), columns = count(dim + 1);
    Code inner = left;
    if (dim > 0) {
      inner = named("tile", rest(left, product(rows, columns)));
      left = divided(left, product(rows, columns));
    }
    if (known_rows && group >= *known_rows) {
      last = {{dim, rest(inner, rows)}, {dim + 1, divided(inner, rows)}};
    } else {
      const Code tiles_of_group = product(integer(group), columns);
      Code first =
          named("first_row", binary(divided(inner, tiles_of_group), "*", integer(group), Binding::Product, "int32"));
      Code size = integer(group);
      if (!are_whole)
        size = named("group_rows",
                     call("min", {binary(rows, "-", first, Binding::Sum, "int32"), integer(group)}, "int32"));
      // The remainder by a group's tiles, which is a multiple of its rows, changes nothing for the row.
      Code in_group = rest(inner, tiles_of_group);
      Code row = are_whole ? rest(inner, size) : rest(in_group, size);
      last = {{dim, binary(first, "+", row, Binding::Sum, "int32")}, {dim + 1, divided(in_group, size)}};
    }
  }
  // Outermost first, as the user counts.
  std::vector<std::pair<size_t, Code>> all;
  while (dim-- > 0) {
    all.emplace_back(dim, dim == 0 ? left : rest(left, count(dim)));
    if (dim > 0 && getConstantIntValue(counts[dim]) != 1) left = divided(left, count(dim));
  }
  std::ranges::reverse(all);
  for (const auto& [i, code] : all) define(i, code);
  for (const auto& [i, code] : last) define(i, code);
}

} // namespace tilewright::triton
