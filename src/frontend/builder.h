// The tracing builder: writes tile IR for the operations of the language, whoever reads the user's kernel, be it the
// C++ DSL or another frontend. It knows the language's rules for types, shapes and broadcasting, and refuses what
// breaks them with an Error at the user's line; what it builds passes the verifier.
//
// Each method appends to the block at which `ir` stands. at() sets the user's line for all that follows.
#pragma once

#include "frontend/dimensions.h"
#include "frontend/dtypes.h"
#include "ir/tile_dialect.h"
#include "support/error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

/// An operand as the user wrote it: a device value, or a literal number.
struct Term {
  enum class Kind : uint8_t { value, integer, real, boolean };

  Term(mlir::Value value) : kind(Kind::value), value(value) {}
  static Term integer_literal(int64_t number) { return Term(Kind::integer, number, 0); }
  static Term real_literal(double number) { return Term(Kind::real, 0, number); }
  static Term boolean_literal(bool number) { return Term(Kind::boolean, number, 0); }

  bool is_literal() const { return kind != Kind::value; }
  double as_double() const { return kind == Kind::real ? real : static_cast<double>(integer); }

  Kind kind;
  mlir::Value value;
  int64_t integer = 0; // of an integer or a boolean
  double real = 0;

private:
  Term(Kind kind, int64_t integer, double real) : kind(kind), integer(integer), real(real) {}
};

/// The pointwise operations of tilewright/operations.inc.
enum class Pointwise : uint8_t {
#define TILEWRIGHT_POINTWISE(name, ...) name,
#include "tilewright/operations.inc"
};

/// One subscript of a load, a store, or of a device value.
struct SubscriptTerm {
  enum class Kind : uint8_t { whole, new_axis, ellipsis, tile, index, slice, slice_from };
  Kind kind;
  Term term = Term::integer_literal(0);    // a tile, an index (a scalar or a tensor), or the begin of slice_from
  std::optional<Dim> begin = {}, end = {}; // of a slice, as the user wrote them; of slice_from, `end` is its length
  int64_t step = 1;
};

/// Where a load or a store goes: what its subscripts come to.
struct Place {
  mlir::Value array;
  llvm::SmallVector<int32_t> kinds;       // as tile.load wants them
  llvm::SmallVector<mlir::Value> indices; // likewise
  llvm::SmallVector<Dim> dims;            // of the block, before new axes
  llvm::SmallVector<int64_t> new_axes;    // positions in the result, ascending
  llvm::SmallVector<unsigned> repeated;   // dims of which a load repeats the one element of a dimension of size 1
  bool passes_end = false;                // one of their tiles is known to have more elements than that
  mlir::Value mask = {};                  // of the block's dimensions
  std::optional<Eviction> eviction = {};
};

/// A tile whose rows end at lengths of their own.
struct JaggedTile {
  Dim extent;
  mlir::Value tile;
  bool wide; // its indices may be too large for int32
  std::function<mlir::Value()> lengths;
};

/// Makes the scalars that two lanes combine to, from those of the one on the left and the one on the right.
using CombinerBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange left, mlir::ValueRange right)>;

class Builder {
public:
  explicit Builder(mlir::MLIRContext* context) : ir(context), location_(ir.getUnknownLoc()) {}

  mlir::OpBuilder ir;
  Dimensions dimensions;

  /// From here on, `block` is written, until close_scope() goes back to the block before. What stands in the blocks
  /// before can be used in it.
  void open_scope(mlir::Block* block);
  void close_scope();

  /// Sets the line that the user is on.
  Builder& at(const SourceLocation& where);
  const SourceLocation& where() const { return where_; }
  mlir::Location location() const { return location_; }
  mlir::MLIRContext* context() const { return location_.getContext(); }

  template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> message, Args&&... args) const {
    tilewright::fail(where_, message, std::forward<Args>(args)...);
  }

  //
  // What a term is
  //

  DType dtype(const Term& term) const;
  int64_t rank(const Term& term) const { return term.is_literal() ? 0 : dims_of(term.value).size(); }
  /// Whether it is a plain number, as PyTorch's Python numbers are: a literal, a size, a bound of a tile, a run-time
  /// number, or what is computed from these alone.
  bool is_number(const Term& term) const;
  /// Says so of a run-time number.
  void mark_number(mlir::Value value) { numbers_.insert(value); }
  /// Says that a value of i8 is a uint8, where its definition does not: see is_unsigned().
  void mark_unsigned(mlir::Value value) { unsigned_.insert(value); }
  /// What is known of `from` besides its type holds for `to`, which stands for it elsewhere.
  void mark_like(mlir::Value to, mlir::Value from) {
    if (is_number(from)) mark_number(to);
    if (is_unsigned(from)) mark_unsigned(to);
  }
  /// Whether a value of i8 is a uint8: it was marked, was loaded from an array of ui8, or moves lanes of such a value.
  bool is_unsigned(mlir::Value value) const;
  /// For a value that is about to be erased.
  void forget(mlir::Value value) {
    numbers_.erase(value);
    unsigned_.erase(value);
  }
  /// "float32[tile of line 12, 64]"; "float32 scalar".
  std::string describe(const Term& term) const;

  //
  // Scalars and conversions
  //

  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value index_constant(int64_t value) { return constant(ir.getIndexAttr(value)); }
  /// The number that a dimension stands for, an index.
  mlir::Value extent(const Dim& dim);
  /// An integer scalar as an index, for a bound or a subscript; `what` names it in an error.
  mlir::Value index(const Term& term, const char* what);
  /// As PyTorch converts (.to(dtype)).
  mlir::Value cast(const Term& term, DType dtype);
  /// A scalar as what a branch or a loop goes by; `what` is what the user called.
  mlir::Value condition(const Term& term, const char* what);

  //
  // Pointwise operations
  //

  /// The operands, then the numbers that are parameters.
  mlir::Value pointwise(Pointwise function, llvm::ArrayRef<Term> terms);
  mlir::Value where_op(const Term& condition, const Term& a, const Term& b);

  //
  // Reductions. No dims: all. Negative dims count from the end.
  //

  /// Normal dims; in the value's own type.
  mlir::Value reduce(Reduction kind, mlir::Value value, llvm::ArrayRef<int64_t> dims, bool keepdim);
  mlir::Value sum(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value mean(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value extremum(Reduction kind, const Term& x, llvm::ArrayRef<int> dims, bool keepdim); // Max or Min
  mlir::Value softmax(const Term& x, int dim);
  mlir::Value log_softmax(const Term& x, int dim);
  mlir::Value prod(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value any_or_all(Reduction kind, const Term& x, llvm::ArrayRef<int> dims, bool keepdim); // Or: any, And: all
  mlir::Value count_nonzero(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value logsumexp(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value norm(const Term& x, double p, llvm::ArrayRef<int> dims, bool keepdim);
  /// The variance, or its root, and the mean. `name` is what the user called.
  std::pair<mlir::Value, mlir::Value> variance(const char* name, const Term& x, llvm::ArrayRef<int> dims,
                                               double correction, bool keepdim, bool root);
  /// The value and its index. No dim: in row-major order. `name` is what the user called.
  std::pair<mlir::Value, mlir::Value> arg_extremum(const char* name, bool largest, const Term& x,
                                                   std::optional<int> dim, bool keepdim);

  //
  // Jagged tiles
  //

  void add_jagged(JaggedTile tile) { jagged_.push_back(std::move(tile)); }
  /// Which elements of a value of these dimensions exist, as far as jagged tiles say so; null where they say nothing.
  mlir::Value jagged_mask(llvm::ArrayRef<Dim> dims);
  /// The value with `filling`, a scalar of its element type, in place of elements that do not exist in jagged tiles.
  mlir::Value filled(mlir::Value value, mlir::Value filling);
  /// A mask (null: none) and that of jagged tiles, for a place that is accessed.
  mlir::Value access_mask(const Place& place);

  //
  // Combiners of one dimension: of the user, or of the language. All sources have the same dimensions
  //

  llvm::SmallVector<mlir::Value> combine(mlir::ValueRange sources, mlir::ValueRange other, int64_t dim,
                                         CombinerBody body);
  llvm::SmallVector<mlir::Value> scan(mlir::ValueRange sources, int64_t dim, bool reverse, CombinerBody body);
  /// What the user gave to reduce() or associative_scan(), with common dimensions.
  llvm::SmallVector<mlir::Value> combiner_sources(const char* name, llvm::ArrayRef<Term> sources);
  llvm::SmallVector<int64_t> reduced_dims(const char* name, llvm::ArrayRef<int> dims, mlir::Value source) const {
    return normal_dims(dims, dims_of(source).size(), name);
  }
  /// Puts back reduced dimensions, ascending, with size 1.
  mlir::Value keep_dims(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  mlir::Value cumulate(Reduction kind, const Term& x, int dim);                                // Add or Mul
  std::pair<mlir::Value, mlir::Value> cumulate_extremum(bool largest, const Term& x, int dim); // and its index

  //
  // Matrix products; `name` is what the user called
  //

  mlir::Value matmul(const char* name, const Term& a, const Term& b, std::optional<int64_t> rank);
  mlir::Value add_matmul(const char* name, const Term& acc, const Term& a, const Term& b, std::optional<int64_t> rank);
  mlir::Value dot(const Term& a, const Term& b);

  //
  // Shapes
  //

  mlir::Value permute(const Term& x, llvm::ArrayRef<int> dims);
  mlir::Value transpose(const Term& x, int dim0, int dim1);
  mlir::Value t(const Term& x);
  mlir::Value unsqueeze(const Term& x, int dim);
  /// -1 among `dims` is the constant -1; `tiles[i]` limits dimension i where it is not null.
  mlir::Value reshape(const char* name, const Term& x, llvm::ArrayRef<Dim> dims);
  mlir::Value flatten(const Term& x, int first, int last);
  mlir::Value squeeze(const Term& x, llvm::ArrayRef<int> dims);
  mlir::Value expand(const char* name, const Term& x, llvm::ArrayRef<Dim> dims, llvm::ArrayRef<mlir::Value> tiles);
  mlir::Value stack(const char* name, llvm::ArrayRef<Term> values, int dim);
  mlir::Value cat(llvm::ArrayRef<Term> values, int dim);
  /// `length` elements of a whole dimension, from `begin` on.
  mlir::Value piece(const char* name, const Term& x, int64_t dim, int64_t begin, int64_t length);
  /// The length of a dimension that is whole; an error for a tile's.
  int64_t whole_length(const char* name, const Term& x, int64_t dim);
  int64_t dim_of(const Term& x, int dim) const { return normal_dim(dim, rank(x)); }
  mlir::Value flip(const Term& x, llvm::ArrayRef<int> dims);
  mlir::Value gather(const Term& x, int dim, const Term& index);
  /// The values in order and where each was (int64), of a whole dimension. `name` is what the user called.
  std::pair<mlir::Value, mlir::Value> sort(const char* name, const Term& x, int dim, bool descending);
  /// The first `count` of them.
  std::pair<mlir::Value, mlir::Value> topk(const Term& x, int64_t count, int dim, bool largest);
  /// The same bits as another dtype of the same size.
  mlir::Value bit_view(const Term& x, DType dtype);
  /// A device value's own subscripts: whole and new axes only.
  mlir::Value subscript(const Term& x, llvm::ArrayRef<SubscriptTerm> subscripts);
  /// Inserts leading dimensions and repeats those of size 1; the dims fit.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<Dim> dims);

  //
  // New values and memory
  //

  /// `tiles[i]` limits dimension i where it is not null.
  mlir::Value full(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<mlir::Value> tiles, const Term& value, DType dtype);
  /// int32, or int64 where `wide`.
  mlir::Value tile_index(mlir::Value tile, bool wide = false);
  /// Missing trailing subscripts are whole. `length(tile)` is the number of indices that a tile's loop walks at the
  /// most, where that is known. A tile of more than one, or of an unknown number, that meets a dimension of size 1
  /// reads its one element for each index.
  Place place(mlir::Value array, llvm::ArrayRef<SubscriptTerm> subscripts,
              llvm::function_ref<std::optional<Dim>(mlir::Value)> length);
  /// Says more of a place: a mask (null: none) and "", "first" or "last".
  void set_options(Place& place, const Term* mask, llvm::StringRef eviction_policy);
  mlir::Value load(const Place& place);
  /// Converts to the array's dtype and broadcasts.
  void store(const Place& place, const Term& value);
  /// What the elements were before.
  mlir::Value atomic(const char* name, AtomicKind kind, const Place& place, const Term& value, MemoryOrder order);
  mlir::Value atomic_cas(const Place& place, const Term& expected, const Term& value, MemoryOrder order);
  void print(llvm::StringRef text, const Term* value);
  /// 0, 1, 2, ... as int32, along one dimension of any extent.
  mlir::Value lane_numbers(const Dim& extent);
  /// A value of rank 1 along dimension `dim` of these dimensions.
  mlir::Value along(mlir::Value vector, llvm::ArrayRef<Dim> dims, int64_t dim);
  mlir::Value arange(const Term& begin, const Dim& length, DType dtype);

  //
  // Random numbers: by Philox 4x32-10 from a logical index, int64 (or a scalar), which is at most `most` where that is
  // known, and a seed. `stream` is a number of the call's own, for number_streams().
  //

  enum class Distribution : uint8_t { uniform, normal };
  mlir::Value random(Distribution distribution, mlir::Value index, std::optional<int64_t> most, const Term& seed,
                     uint32_t stream, DType dtype);
  /// In [low, low + range).
  mlir::Value random_integers(int64_t low, uint64_t range, mlir::Value index, std::optional<int64_t> most,
                              const Term& seed, uint32_t stream, DType dtype);
  llvm::SmallVector<mlir::Value> random_4x(mlir::Value index, std::optional<int64_t> most, const Term& seed,
                                           uint32_t stream);

private:
  // Of a jagged tile, as jagged_mask() gives it.
  mlir::Value mask_of(const JaggedTile& jagged, llvm::ArrayRef<Dim> dims);
  // Each dimension from 0 on, in [0, rank).
  int64_t normal_dim(int dim, int64_t rank) const;
  llvm::SmallVector<int64_t> normal_dims(llvm::ArrayRef<int> dims, int64_t rank, const char* what) const;

  // The dtype a pointwise operation on these computes in, and their common dimensions.
  DType promoted(llvm::ArrayRef<Term> terms) const;
  llvm::SmallVector<Dim> common_dims(llvm::ArrayRef<Term> terms, const char* what) const;
  // All terms with one element type and the same dimensions.
  llvm::SmallVector<mlir::Value> unify(llvm::ArrayRef<Term> terms, DType dtype, const char* what);
  // index where integers are computed from numbers alone, else the dtype's own element type.
  mlir::Type compute_type(llvm::ArrayRef<Term> terms, DType dtype) const;
  mlir::Value scalar(const Term& term, mlir::Type element);
  mlir::Value cast_value(mlir::Value value, mlir::Type element);
  /// A term of uint8 or of an 8-bit float as what it is computed in: int32, float32.
  Term widened(const Term& term);
  mlir::Value as_uint8(mlir::Value value); // of i8, marked
  mlir::Value splat_like(mlir::Value scalar, mlir::Value shape);
  mlir::Value number_like(double number, mlir::Value shape);
  // Marks a result as a plain number where all it was computed from are.
  mlir::Value note_number(mlir::Value result, llvm::ArrayRef<Term> terms);
  bool needs_wider_arithmetic(llvm::ArrayRef<Term> terms, DType dtype) const;

  mlir::Value arithmetic(Pointwise function, const Term& a, const Term& b);
  mlir::Value divide(const Term& a, const Term& b);
  mlir::Value divide_integers(Pointwise function, const Term& a, const Term& b);
  mlir::Value float_remainder(Pointwise function, const Term& a, const Term& b);
  mlir::Value compare(Pointwise function, const Term& a, const Term& b);
  mlir::Value bitwise(Pointwise function, llvm::ArrayRef<Term> terms);
  mlir::Value shift(bool left, mlir::Value value, mlir::Value by);
  mlir::Value logical(Pointwise function, llvm::ArrayRef<Term> terms);
  mlir::Value pow(const Term& base, const Term& exponent);
  mlir::Value integer_pow(const Term& base, const Term& exponent, DType dtype);
  mlir::Value running_sum(mlir::Value value, int64_t along);
  mlir::Value floating(const char* name, const Term& x);             // in the dtype that sums of it are added up in
  void add_indices(Place& place, llvm::ArrayRef<SubscriptTerm> run); // scalars and tensors side by side
  void add_slice(Place& place, const SubscriptTerm& slice, const Dim& size);
  mlir::Value block_value(const Place& place, const Term& value); // for a store
  mlir::Value transposed(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value pick(mlir::Value source, mlir::Value indices, int64_t dim); // tile.take
  mlir::Value product(const char* name, const Term& a, const Term& b, const Term* acc, DType acc_dtype);
  void check_matmul_operands(const char* name, const Term& a, const Term& b, std::optional<int64_t> rank) const;

  friend class PointwiseCall; // pointwise.cpp
  friend struct Expression;   // expression.h

  SourceLocation where_;
  mlir::Location location_;
  std::vector<JaggedTile> jagged_;
  llvm::DenseSet<mlir::Value> numbers_, unsigned_;

  struct Scope {
    mlir::Block* block;
    llvm::DenseMap<mlir::Attribute, mlir::Value> constants; // and extents: each is written once
  };
  mlir::Value once(mlir::Attribute key, llvm::function_ref<mlir::Value()> make);
  llvm::SmallVector<Scope, 4> scopes_;
};

/// For messages: "+", "tw::maximum".
const char* spelling(Pointwise function);

} // namespace tilewright
