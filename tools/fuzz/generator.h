// Makes random legal kernels. One seed gives one kernel.
//
// Legal means: what LANGUAGE and the DSL allow, with defined results. Programs touch only what is their own of the
// tensors that are stored to; integer divisors are not 0; floating-point numbers are finite and small where they become
// integers. Kernels are `exact` (whole numbers, and operations that are exact on them) or not.
#pragma once

#include "fuzz/forms.h"
#include "fuzz/operations.h"
#include "fuzz/probe.h"

#include "config/random.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace tilewright::fuzz {

/// A loop variable while its loop is open.
struct OpenVariable {
  int variable;
  int extent; // of the loop; -1: bounds that are not a whole extent
  bool is_grid;
  bool outermost;
  ValueId index = -1; // of a grid: its scalar
  int64_t begin = 0;  // its least index, at least
  int block = -1;     // its registered block size
};

/// Subscripts of a tensor, its extents, and the dimensions of a value that lies there (places.h).
struct Place {
  std::vector<FuzzSubscript> subscripts;
  std::vector<int> extents;
  std::vector<Axis> axes;
  bool operator==(const Place&) const = default;
};

class Generator {
public:
  Generator(uint64_t seed, Prober& prober);
  FuzzKernel generate();

  //
  // For forms
  //

  Random random;
  FuzzKernel kernel;
  const Operation& preferred_operation() const { return *preferred_operation_; }

  struct Known {
    Type type;
    double magnitude; // of its largest number, about
  };
  const Known& known(ValueId id) const { return known_.at(id); }

  template <class T> const T& one_of(const std::vector<T>& list) { return list[random.below(list.size())]; }
  int64_t number(int64_t low, int64_t high) { return low + static_cast<int64_t>(random.below(high - low + 1)); }
  DType some_dtype() { return one_of(prober_.dtypes()); }
  DType some_floating_dtype();

  /// A visible value for which `fits` holds.
  std::optional<ValueId> some_value(const std::function<bool(const Known&)>& fits);
  /// A visible value that nothing uses yet.
  std::optional<ValueId> some_unused_value();
  /// A value of these dimensions, an old one or one that is loaded or filled now.
  std::optional<ValueId> value_with(const std::vector<Axis>& axes, DType dtype);
  std::optional<ValueId> load_of(const std::vector<Axis>& axes, DType dtype);
  ValueId filled(const std::vector<Axis>& axes, DType dtype, double number);
  std::optional<ValueId> apply(const Operation& operation, std::vector<FuzzOperand> operands);
  std::optional<ValueId> apply(std::string_view operation, std::vector<FuzzOperand> operands);
  /// Converts, after bringing it into the range of an integer dtype.
  std::optional<ValueId> converted(ValueId id, DType dtype);
  /// The value with its numbers in [-magnitude, magnitude].
  std::optional<ValueId> clamped(ValueId id, double magnitude);

  /// Adds a statement that makes a value of `type`. Nothing where it is too much work or its numbers are too large.
  std::optional<ValueId> add_value(Statement statement, Type type, double magnitude);
  void add(Statement statement);
  /// Notes that a value's numbers may be so large, after a loop has carried it on.
  void grow(ValueId id, double magnitude) { known_.at(id).magnitude = magnitude; }
  /// Adds one statement of a random form.
  void add_random_statement();

  /// Opens and closes a loop: what is added in between becomes its body.
  bool may_open(const std::vector<int>& extents) const;
  void open(const std::vector<OpenVariable>& variables);
  std::vector<Statement> close();
  const std::vector<OpenVariable>& open_variables() const { return open_; }
  size_t depth() const { return blocks_.size(); }
  int new_variable() { return kernel.variable_count++; }

  int64_t extent_of(const Axis& axis) const;
  /// Whether a value of these dimensions is not too much work here.
  bool affordable(const std::vector<Axis>& axes) const;
  /// How likely a reduction takes the whole dimensions of a value, which a config may roll.
  double share_of_whole() const { return kind_ == Kind::rows ? 0.85 : 0.5; }
  /// How likely an array that need not be of whole numbers has NaN, infinities and the like in it.
  double share_of_special() const { return kind_ == Kind::choices ? 0.6 : 0.3; }
  /// Random dimensions of a value: open tiles and whole extents, each once.
  std::vector<Axis> some_axes(size_t most);
  int some_extent();
  /// An extent that others give: a new one, or one that is there.
  int derived_extent(DerivedExtent derived);
  int scaled_extent(int extent, int64_t scale, int64_t plus);
  int constant_extent(int64_t length) { return scaled_extent(-1, 0, length); }
  int new_tensor(FuzzTensor tensor);
  /// Sets a block size for each dimension of a loop: the config's, a number or a registered one.
  void choose_blocks(Statement& loop, std::vector<OpenVariable>& variables);
  /// Whether no loop around has it: another one must not then.
  bool is_free_block(int block) const;

  /// What outermost loops touch since the last barrier: a tensor that one reads is not written, and of one that is
  /// written, a program of that loop touches its own part, and no other loop anything.
  bool may_read(int tensor) const { return !written_.contains(tensor); }
  void note_read(int tensor) { read_.insert(tensor); }
  bool is_changed(int tensor) const { return changed_.contains(tensor); }
  /// Null where the program has no part of it.
  const Place* own_part(int tensor) const;
  bool may_own(int tensor, const Place& part) const;
  void note_own(int tensor, const Place& part);
  /// Tensors that programs change together, by atomics of one kind alone.
  bool may_share(int tensor, const Form& form) const;
  void note_shared(int tensor, const Form& form);
  double largest_magnitude(DType dtype) const;
  bool room_for_tensors(size_t more = 0) const { return kernel.tensors.size() < most_tensors_ + more; }
  /// The one that was added last.
  Statement& last_statement() { return blocks_.back().back(); }

private:
  void choose_extents();
  void add_outermost();
  void use_up();
  std::vector<ValueId> visible() const;
  double weight_of(const Form& form) const;

  Prober& prober_;
  /// What a kernel is mostly made of.
  enum class Kind {
    any,
    rows,   // reductions along a long whole dimension, extent 0, which it seldom needs whole
    choices // what chooses and moves numbers, NaN among them, and so is exact
  };
  Kind kind_ = Kind::any;
  // Each kernel has one form and one operation that it prefers; in order of the seeds, so that none waits long.
  const Form* preferred_form_;
  const Operation* preferred_operation_;
  int64_t budget_ = 0; // lanes that one statement may compute in all
  std::map<ValueId, Known> known_;
  std::set<ValueId> unused_;
  std::vector<std::vector<Statement>> blocks_;
  std::vector<std::vector<ValueId>> scopes_;
  std::vector<OpenVariable> open_;
  std::vector<size_t> opened_; // variables per open loop
  size_t most_tensors_ = 3;
  std::set<int> changed_;        // tensors, by anything so far
  std::set<int> read_, written_; // since the last barrier
  std::map<int, Place> own_;
  std::map<int, const Form*> shared_;
};

/// Applies an operation to what there is, or to what is loaded for it. False where nothing fits it
/// (forms_pointwise.cpp).
bool add_operation(Generator& g, const Operation& operation);

/// The dimensions of values of these dimensions combined; nothing where they do not broadcast.
std::optional<std::vector<Axis>> broadcast(const std::vector<Axis>& a, const std::vector<Axis>& b);

} // namespace tilewright::fuzz
