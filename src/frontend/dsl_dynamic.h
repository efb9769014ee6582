// What the C++ DSL says by the number and types of its arguments, for frontends that know these at run time: operations
// by name, and lists of subscripts. Names, meanings and errors are those of the DSL's functions.
#pragma once

#include "tilewright/memory.h"
#include "tilewright/size.h"
#include "tilewright/value.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tilewright::detail {

class Recording;

/// Whether this thread is recording a kernel.
bool is_recording();
/// Tells the recordings of a process apart.
uint32_t recording_id(const Recording& recording);

/// A pointwise operation of operations.inc, by its name there. Throws Error where there is none of that name, or where
/// it does not take so many operands and numbers; `operands` has all of both.
Value pointwise(std::string_view name, std::span<const Operand> operands, const SourceLocation& location);

/// x[subscripts], with options; atomic: by the name of memory.h's function, with its value, or for atomic_cas what is
/// expected and the value.
Value load(const Tensor& x, std::span<const TensorIndex> subscripts, const AccessOptions& options,
           const SourceLocation& location);
void store(const Tensor& x, std::span<const TensorIndex> subscripts, const Operand& value, const AccessOptions& options,
           const SourceLocation& location);
Value atomic(std::string_view name, const Tensor& x, std::span<const TensorIndex> subscripts,
             std::span<const Operand> values, const char* sem, const SourceLocation& location);

/// An element of an argument in the head of an outermost loop: x[0] as one of its bounds.
Value load_bound(const Tensor& x, std::span<const TensorIndex> subscripts, const SourceLocation& location);

/// x[subscripts] of a device value.
Value subscript(const Value& x, std::span<const TensorIndex> subscripts, const SourceLocation& location);

/// x.max(), x.max(dim, keepdim) and those of min, of any operand: the second of the pair where there is a dim.
Value extremum(bool largest, const Operand& x, const SourceLocation& location);
std::pair<Value, Value> extremum(bool largest, const Operand& x, int dim, bool keepdim, const SourceLocation& location);

/// The length of each dimension of a device value: a size, or a value where the config says how long it is.
std::vector<std::variant<Size, Value>> shape_of(const Value& x, const SourceLocation& location);

/// What the config says of a registered block size, as an integer of the host; of an option of the kernel's own
/// (tile.h).
Size host_number(const Value& block, const SourceLocation& location);
Size register_tunable(const std::string& name, std::span<const int64_t> choices, const SourceLocation& location);

/// What jagged_tile() does: the longest of the rows' lengths, and, in a loop to there that was just opened, what makes
/// its tile a jagged one.
Value longest(const Value& lengths, const SourceLocation& location);
void mark_jagged(const Handle& tile, const Value& lengths);

/// A value of its own, with what the variable now holds.
Value copy(const Value& variable, const SourceLocation& location);

/// `variable` = `value`. A number becomes a scalar of bool, int64 or float32.
void assign(Value& variable, const Operand& value, const SourceLocation& location);

} // namespace tilewright::detail
