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

#include <string>
#include <utility>

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

/// Functions of one argument: those of pointwise_functions.inc.
enum class Unary : uint8_t {
#define TILEWRIGHT_UNARY(name, ...) name,
#include "tilewright/pointwise_functions.inc"
};

enum class Binary : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  modulo, // the operator %: remainder of integers
  remainder,
  fmod,
  floor_divide,
  maximum,
  minimum,
  pow,
  atan2,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
};

/// One subscript of a load, a store, or of a device value.
struct SubscriptTerm {
  enum class Kind : uint8_t { whole, new_axis, tile, scalar };
  Kind kind;
  Term term = Term::integer_literal(0); // of a tile or a scalar
};

/// Where a load or a store goes: what its subscripts come to.
struct Place {
  mlir::Value array;
  llvm::SmallVector<int32_t> kinds;       // as tile.load wants them
  llvm::SmallVector<mlir::Value> indices; // likewise
  llvm::SmallVector<Dim> dims;            // of the block, before new axes
  llvm::SmallVector<int64_t> new_axes;    // positions in the result, ascending
  bool broadcasts = false;                // a tile walks over a dimension of size 1
};

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
  /// For a value that is about to be erased.
  void forget(mlir::Value value) { numbers_.erase(value); }
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

  //
  // Pointwise operations
  //

  mlir::Value unary(Unary function, const Term& x);
  mlir::Value gelu(const Term& x, bool by_tanh);
  mlir::Value binary(Binary function, const Term& a, const Term& b);
  mlir::Value where_op(const Term& condition, const Term& a, const Term& b);
  mlir::Value clamp(const Term& x, const Term& low, const Term& high);

  //
  // Reductions. No dims: all. Negative dims count from the end.
  //

  mlir::Value sum(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value mean(const Term& x, llvm::ArrayRef<int> dims, bool keepdim);
  mlir::Value extremum(Reduction kind, const Term& x, llvm::ArrayRef<int> dims, bool keepdim); // Max or Min
  mlir::Value softmax(const Term& x, int dim);

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
  /// A device value's own subscripts: whole and new axes only.
  mlir::Value subscript(const Term& x, llvm::ArrayRef<SubscriptTerm> subscripts);
  /// Inserts leading dimensions and repeats those of size 1; the dims fit.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<Dim> dims);

  //
  // New values and memory
  //

  /// `tiles[i]` limits dimension i where it is not null.
  mlir::Value full(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<mlir::Value> tiles, const Term& value, DType dtype);
  mlir::Value tile_index(mlir::Value tile);
  /// Missing trailing subscripts are whole. `at_most_one(tile)` says whether a tile's loop is known to be over one
  /// index at most; every other tile repeats the one element of a dimension of size 1.
  Place place(mlir::Value array, llvm::ArrayRef<SubscriptTerm> subscripts,
              llvm::function_ref<bool(mlir::Value)> at_most_one);
  mlir::Value load(const Place& place);
  /// Converts to the array's dtype and broadcasts.
  void store(const Place& place, const Term& value);

private:
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
  mlir::Value splat_like(mlir::Value scalar, mlir::Value shape);
  mlir::Value number_like(double number, mlir::Value shape);
  // Marks a result as a plain number where all it was computed from are.
  mlir::Value note_number(mlir::Value result, llvm::ArrayRef<Term> terms);
  bool needs_wider_arithmetic(llvm::ArrayRef<Term> terms, DType dtype) const;

  mlir::Value arithmetic(Binary function, const Term& a, const Term& b);
  mlir::Value divide(const Term& a, const Term& b);
  mlir::Value divide_integers(Binary function, const Term& a, const Term& b);
  mlir::Value float_remainder(Binary function, const Term& a, const Term& b);
  mlir::Value compare(Binary function, const Term& a, const Term& b);
  mlir::Value bitwise(Binary function, const Term& a, const Term& b);
  mlir::Value logical(Binary function, const Term& a, const Term& b);
  mlir::Value pow(const Term& base, const Term& exponent);
  mlir::Value truth(const Term& x); // x != 0

  mlir::Value floating_operand(const Term& x, const char* name); // integers become float32
  mlir::Value reduce(Reduction kind, mlir::Value value, llvm::ArrayRef<int64_t> dims, bool keepdim);
  mlir::Value product(const char* name, const Term& a, const Term& b, const Term* acc, DType acc_dtype);
  void check_matmul_operands(const char* name, const Term& a, const Term& b, std::optional<int64_t> rank) const;

  friend class UnaryFunctions; // pointwise.cpp

  SourceLocation where_;
  mlir::Location location_;
  llvm::DenseSet<mlir::Value> numbers_;

  struct Scope {
    mlir::Block* block;
    llvm::DenseMap<mlir::Attribute, mlir::Value> constants; // and extents: each is written once
  };
  mlir::Value once(mlir::Attribute key, llvm::function_ref<mlir::Value()> make);
  llvm::SmallVector<Scope, 4> scopes_;
};

/// For messages: "+", "tw::maximum".
const char* spelling(Binary function);
/// "tw::exp"
const char* spelling(Unary function);

} // namespace tilewright
