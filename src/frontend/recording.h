// A kernel while its lambda runs: what the DSL's handles stand for, which scopes are open, and what they carry.
//
// A scope is the body of a tile loop, a branch, the condition or the body of a while loop, or a combiner. Each
// tw::Value is a variable with its own number. Inside of what repeats (loops of both kinds) a variable from outside is
// first seen as a placeholder, a block argument; when the scope ends, a variable that was assigned to becomes a carried
// value, and the placeholders of the others are replaced by what they stand for. A branch sees the value itself, and
// what its two sides make of a variable becomes a result of the branch.
#pragma once

#include "frontend/builder.h"
#include "frontend/traced_kernel.h"
#include "ir/host_choices.h"
#include "tilewright/control.h"
#include "tilewright/creation.h"
#include "tilewright/detail/combiner.h"
#include "tilewright/ops.h"
#include "tilewright/reductions.h"
#include "tilewright/scan.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::detail {

class Recording {
public:
  /// `config` may be null; see trace().
  Recording(const KernelDefinition& definition, std::span<const Argument> arguments, mlir::MLIRContext* context,
            const Config* config = nullptr);
  ~Recording();

  /// Of this process; no two have the same.
  uint32_t id() const { return id_; }

  /// The one that this thread is in; null outside of any.
  static Recording* current();
  /// Throws Error where there is none; `what` is what the user called.
  static Recording& require(const SourceLocation& where, const char* what);

  const KernelDefinition& definition() const { return definition_; }

  /// The builder at the user's line, for device work inside a tile loop, or for host work before it. Throws Error where
  /// that is not where we are.
  Builder& device(const SourceLocation& where, const char* what);
  Builder& host(const SourceLocation& where, const char* what);
  /// Notes a barrier between the last outermost loop and the next.
  void barrier(const SourceLocation& where);
  /// For what is legal everywhere.
  Builder& at(const SourceLocation& where);

  //
  // Handles. All throw Error for handles of other recordings and of loops that have ended.
  //

  Handle new_variable(mlir::Value value);
  mlir::Value read(const Handle& variable);
  /// Gives the variable a new value, and itself a home in the current loop where it had none.
  void assign(Handle& variable, mlir::Value value);
  Term term(const Operand& operand);

  Size size(const Dim& dim);
  Dim dim(const Size& size);
  Dimensions& dimensions() { return builder_.dimensions; }

  struct TensorEntry {
    mlir::Value array;
    DType dtype;
    llvm::SmallVector<Dim, 4> dims;
  };
  const TensorEntry& tensor(const Handle& handle);
  Handle new_tensor(mlir::Value array, DType dtype);
  /// An array that is no argument of the call, as a further argument of the kernel. One array has one, however often it
  /// is asked for. It may be added at any time, in a loop too. `name` is for people: "captured0" where it is empty.
  Handle hidden_argument(const Array& array, const std::string& name = {});

  /// What a number of elements is, of a host number or a block size on the device; none where it is another value.
  std::optional<Dim> length(const Operand& operand);
  /// How many elements lie between two values on the device, where it does not depend on them: end = begin + 2 * block.
  std::optional<Dim> length_between(const Operand& begin, const Operand& end);

  mlir::Value tile(const Handle& handle);
  /// A tile moved by some elements.
  Handle shifted_tile(const Handle& tile, const Operand& by, bool back);
  /// Whether indices of the tile may be too large for int32, so that they are int64.
  bool may_pass_int32(mlir::Value tile);
  /// How many indices the tile's loop walks at the most; none where that is not known.
  std::optional<Dim> most_indices(mlir::Value tile);

  //
  // What the host part asks of the config (recording_config.cpp)
  //

  /// A new block size; its number is the config's as soon as host_number() asks for it. No `max`: as `extent` says.
  Handle register_block(const std::optional<Dim>& extent, int64_t min, std::optional<int64_t> max,
                        const SourceLocation& where);
  /// A registered block size as a host integer.
  int64_t host_number(const Handle& block);
  int64_t register_tunable(const std::string& name, llvm::ArrayRef<int64_t> choices, const SourceLocation& where);

  //
  // Loads and stores
  //

  llvm::SmallVector<SubscriptTerm> subscripts(std::span<const TensorIndex> list);
  Place place(const Handle& tensor, std::span<const TensorIndex> list);
  /// Whether this is the host part, before the outermost loops.
  bool before_loops() const { return scopes_.empty() && !had_outermost_; }
  /// An element of an argument that is read in the host part, to be a bound of an outermost loop.
  Handle new_host_read(mlir::Value element, const SourceLocation& where);
  uint32_t new_place(Place place);
  const Place& place(uint32_t number) const { return places_[number].place; }
  const SourceLocation& place_location(uint32_t number) const { return places_[number].where; }
  void check_place(uint32_t number);

  /// The dimensions of a new value, and the tiles that limit them.
  struct ShapeParts {
    llvm::SmallVector<Dim> dims;
    llvm::SmallVector<mlir::Value> tiles;
  };
  /// Where it may be open, a size of -1 is the dimension -1.
  ShapeParts shape(const Shape& shape, bool may_be_open = false);
  ShapeParts shape_like(mlir::Value value);
  /// Where each lane of a value of this shape stands in all that the tiles walk over, in row-major order, and what
  /// number the last one has at most, where that is known. Independent of block sizes.
  struct LogicalIndex {
    mlir::Value index; // int64, of the shape's dimensions
    std::optional<int64_t> most;
  };
  LogicalIndex logical_index(const ShapeParts& shape, const char* what);
  /// A number for each stream of random numbers; finish() gives the final ones.
  uint32_t new_stream() { return streams_++; }

  //
  // Loops
  //

  struct LoopStart {
    const Operand* begin; // null: from 0
    const Operand* end;
    const BlockSizes* blocks;
    int rank;
    bool grid;
    SourceLocation where;
  };
  /// Opens a loop and returns the handle of its first variable; the others follow it.
  Handle open_loop(const LoopStart& start);
  void close_loop();
  /// From here on each row of the tile, whose loop was just opened, ends at its own of `lengths`.
  void mark_jagged(const Handle& tile, const Handle& lengths);
  /// Notes that the innermost scopes, down to and with the one at `depth`, were left before their ends.
  void leave_scope(uint32_t depth);
  uint32_t depth() const { return scopes_.size(); }

  //
  // Branches, loops on a condition, combiners
  //

  void record_if(const Operand& condition, const Body& then, const Body& otherwise, const SourceLocation& where);
  void record_while(const ConditionBody& condition, const Body& body, const SourceLocation& where);
  /// A combiner for Builder::combine and Builder::scan, from the user's callable.
  llvm::SmallVector<mlir::Value> combined(const Combiner& combiner, mlir::ValueRange left, mlir::ValueRange right,
                                          const SourceLocation& where);

  //
  // Parameters and results
  //

  Handle parameter(size_t index) const { return parameters_[index]; }
  void set_results(std::span<const Tensor> results);
  TracedKernel finish();

private:
  struct Variable {
    mlir::Value value;
    uint32_t depth; // of the scope it lives in; 0: the host part
    uint32_t scope; // that scope's number
  };
  struct Tracked { // a variable from outside, seen in a scope
    mlir::Value outer, placeholder, current;
    bool assigned = false;
    bool changes() const { return assigned && current != (placeholder ? placeholder : outer); }
  };
  enum class ScopeKind : uint8_t { host, outermost_loop, loop, branch, condition, while_body, combiner };
  struct Scope {
    ScopeKind kind;
    uint32_t number;
    SourceLocation where;
    std::unique_ptr<mlir::Block> block = {};         // none for a combiner, whose block is the builder's
    llvm::MapVector<uint32_t, Tracked> tracked = {}; // by variable
    llvm::SmallVector<uint32_t> assigned = {};       // variables in order of their first assignment
    // Of a branch: variables that got their first value in it, by the address of the tw::Value's handle.
    llvm::MapVector<const Handle*, uint32_t> fresh = {};
    // Of a loop:
    llvm::SmallVector<mlir::Value> lower = {}, upper = {};
    llvm::SmallVector<DimAttr> blocks = {};

    bool repeats() const { return kind != ScopeKind::branch && kind != ScopeKind::combiner; }
  };
  class OpenScope; // opens one, and leaves it where its end is not reached
  struct TileEntry {
    mlir::Value tile;
    uint32_t depth, scope;
  };
  struct TileRange { // of the loop that a tile is from
    mlir::Value lower, upper;
    Dim least_begin;
    std::optional<Dim> greatest_end;
  };
  struct PlaceEntry {
    Place place;
    uint32_t depth = 0, scope = 0;
    SourceLocation where = {};
  };

  bool is_open(uint32_t depth, uint32_t scope) const {
    return depth == 0 || (depth <= scopes_.size() && scopes_[depth - 1].number == scope);
  }
  uint32_t innermost() const { return scopes_.empty() ? 0 : scopes_.back().number; }
  Scope& open_scope(ScopeKind kind, const SourceLocation& where);
  Scope take_scope(); // closes the innermost one
  static const char* name_of(ScopeKind kind);
  void check_mine(const Handle& handle, const char* what) const;
  mlir::Value value_in(uint32_t variable, uint32_t depth);
  void assign_in(uint32_t variable, uint32_t depth, mlir::Value value);
  /// What is known of an index while recording.
  std::optional<Dim> greatest(mlir::Value index);
  std::optional<Dim> least(mlir::Value index);
  mlir::Value without_placeholders(mlir::Value value);
  /// The ends of all that a tile's loop walks over: those of the outer tile's where it walks one.
  mlir::Value range_begin(mlir::Value lower);
  mlir::Value range_end(mlir::Value upper);
  bool depends_on_block_size(mlir::Value value);
  /// Throws Error where a value does not keep its type; `who` changes it: "tw::while_ of line 12 carries on".
  void check_kept(const std::string& who, mlir::Value before, mlir::Value after);
  void check_carried(const Scope& scope);
  /// int64 scalars are of type index or i64, as it comes; a variable keeps the one it began with. In the open scope.
  void settle_index_types(Scope& scope);
  /// Ends a scope that repeats: replaces placeholders, and gives the block an argument for each carried variable.
  struct Carried {
    llvm::SmallVector<uint32_t> variables;
    llvm::SmallVector<mlir::Value> initial, yielded;
  };
  Carried carry(Scope& scope, llvm::ArrayRef<uint32_t> variables, unsigned first_argument);
  void assign_results(llvm::ArrayRef<uint32_t> variables, llvm::ArrayRef<mlir::Value> initial,
                      mlir::ValueRange results);
  Scope record_branch(const Body& body, const SourceLocation& where);

  mlir::Type array_type(const Array& array, const std::string& name);
  int64_t host_number(uint32_t block);
  /// A bound of an outermost loop, which is a host integer.
  mlir::Value with_host_numbers(mlir::Value bound);

  const KernelDefinition& definition_;
  const Config* config_;
  HostChoices choices_;
  std::vector<Array> captured_;
  llvm::SmallVector<Handle> captured_handles_;
  llvm::SmallVector<mlir::Attribute> argument_attributes_;
  uint32_t id_;
  Builder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  KernelOp kernel_;
  std::vector<Handle> parameters_;
  llvm::SmallVector<size_t> numbers_; // of the kernel's arguments among those of the call
  std::vector<Dim> sizes_;
  std::vector<Variable> variables_;
  std::vector<TensorEntry> tensors_;
  std::vector<TileEntry> tiles_;
  llvm::DenseMap<mlir::Value, TileRange> tile_ranges_;
  std::vector<PlaceEntry> places_;
  std::vector<Scope> scopes_;
  std::map<uint32_t, std::string>
      unlike_;                         // what two branches gave a variable that had no value before, where it differs
  std::vector<ScopeKind> scope_kinds_; // by number, of all scopes that ever were
  bool had_outermost_ = false;
  std::map<uint32_t, SourceLocation> host_reads_; // variables that a subscript on the host gave: bounds, no more
  std::optional<SourceLocation> last_barrier_;    // no loop follows it yet
  uint32_t streams_ = 0;
  std::optional<std::pair<ScopeKind, SourceLocation>> left_early_;
  std::optional<llvm::SmallVector<mlir::Value>> results_;
};

} // namespace tilewright::detail
