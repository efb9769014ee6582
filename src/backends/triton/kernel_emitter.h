// The state of writing one kernel's function. Private to the backend; the files that define its members are named for
// what they write.
#pragma once

#include "backends/triton/code.h"
#include "backends/triton/lane_limit.h"
#include "backends/triton/missing_lanes.h"
#include "backends/triton/placement.h"
#include "backends/triton/writer.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::triton {

/// A tensor descriptor: the launcher makes it, and the kernel has it in an array's place.
struct Descriptor {
  unsigned argument; // of the program
  std::string name;
  llvm::SmallVector<int64_t> block;
};

/// A kernel's text and what its launcher must know.
struct EmittedFunction {
  std::vector<std::string> combiners; // functions that it calls, each complete; without those of earlier kernels
  std::string name;
  std::vector<std::string> parameters; // as they are declared
  /// For each parameter, the argument of the program or the descriptor that it is.
  struct Parameter {
    std::optional<unsigned> argument;
    std::optional<Descriptor> descriptor;
  };
  std::vector<Parameter> passed;
  std::vector<std::string> body;
  bool uses_libdevice = false;
};

class KernelEmitter {
public:
  /// `arguments`: the name of each of the program's arguments: those of the kernel, and those that the launcher gives
  /// its allocations.
  KernelEmitter(ProgramOp program, std::string name, llvm::ArrayRef<std::string> arguments,
                llvm::function_ref<llvm::StringRef(llvm::StringRef, unsigned)> source_line);

  EmittedFunction run();

  /// The combiners of kernels that stand before this one in the file, by their text: it calls the same, and its own
  /// have other names. Those of both after run().
  void share_combiners(const std::map<std::string, std::string>& before);
  const std::map<std::string, std::string>& combiners() const { return functions_; }

  /// Masks and sums of offsets that a first run wrote several times: this one gives them names.
  void name_repeated(std::map<std::string, unsigned> written) { repeated_ = std::move(written); }
  const std::map<std::string, unsigned>& written() const { return written_; }

private:
  //===--- kernel_emitter.cpp: blocks and statements ----------------------===//
  void emit_block(mlir::Block& block);
  void emit(mlir::Operation* op);
  void assign(mlir::Operation* op, const Code& code);
  void define(mlir::Value value, Code code) { codes_[value] = std::move(code); }
  /// What a value is called that gets a name of its own.
  std::string name_of(mlir::Value value);
  [[noreturn]] void refuse(mlir::Operation* op, const std::string& what);

  //===--- kernel_emitter.cpp: values -------------------------------------===//
  /// The expression of a value: its name, or what computes it.
  Code code_of(mlir::Value value);
  Code compute(mlir::Operation* op);
  /// With all lanes, of the value's shape.
  Code in_full(mlir::Value value);
  Code in_full(const Code& code, mlir::Type type);
  /// An index as Python reads it, without needless parentheses around it.
  Code index_code(mlir::Value value) { return code_of(value); }

  //===--- emit_pointwise.cpp, emit_math.cpp ------------------------------===//
  std::optional<Code> compute_arith(mlir::Operation* op);
  std::optional<Code> compute_index(mlir::Operation* op);
  std::optional<Code> compute_cast(mlir::Operation* op);
  std::optional<Code> half_of_product(mlir::Operation* op);
  std::optional<Code> compute_math(mlir::Operation* op);
  Code compute_composite(CompositeOp op);
  Code divide(mlir::Operation* op, const Code& a, const Code& b);
  Code exponential(mlir::Operation* op, Code x);
  Code library(const char* function, llvm::ArrayRef<Code> operands, const std::string& type);
  /// An operand as 32 bits wide, for functions that have no narrower form.
  Code at_least_float32(const Code& x);
  bool is_rounded_after(mlir::Operation* op);

  //===--- emit_shape.cpp -------------------------------------------------===//
  std::optional<Code> compute_shape(mlir::Operation* op);
  Code align(const Code& code, mlir::Type from, mlir::Type to);

  //===--- emit_access.cpp ------------------------------------------------===//
  void emit_load(LoadOp load);
  Code load_code(LoadOp load);
  void emit_store(StoreOp store);
  void emit_atomic(mlir::Operation* op);
  /// begin + 0, 1, ..., size - 1, named, where it can be used by everything that uses `begin`; null: 0.
  Code line(mlir::Value begin, int64_t size, llvm::StringRef wanted = "");
  /// A dimension of an access's block, set among the dimensions of all of it.
  Code spread(const Code& code, llvm::ArrayRef<int64_t> block_shape, int64_t first_dim, int64_t rank = 1);
  Code address(AccessOp access);
  /// The expression, or its name where it is written several times.
  Code named_if_repeated(const Code& code, llvm::StringRef wanted);
  std::optional<Code> mask_of(AccessOp access);
  /// True in the lanes of one dimension that exist, set among the dimensions of all.
  std::optional<Code> lanes_mask(mlir::Value valid, llvm::ArrayRef<int64_t> shape, int64_t dim);
  std::optional<Code> bounds_mask(mlir::Type type, mlir::OperandRange valid, llvm::ArrayRef<int32_t> dims);
  std::string block_pointer(AccessOp access, std::vector<int64_t>& checked);
  std::string descriptor(AccessOp access, std::string& offsets);
  std::string array_name(AccessOp access);

  //===--- emit_reduce.cpp ------------------------------------------------===//
  Code compute_reduce(ReduceOp reduce);
  Code compute_dot(DotOp dot);
  void emit_combine(CombineOp op);
  void emit_scan(ScanOp op);
  std::string combiner_function(mlir::Operation* op, mlir::Block& block, bool with_flag);
  std::string reduction_function(Reduction kind, mlir::Type element, mlir::Location location);
  /// `value` with the neutral element in the lanes that do not exist along `dim`.
  Code masked(const Code& code, mlir::Type type, int64_t dim, mlir::Value valid, const Code& neutral);

  //===--- emit_control.cpp -----------------------------------------------===//
  void emit_for(mlir::scf::ForOp loop);
  void emit_if(mlir::scf::IfOp branch);
  void emit_while(mlir::scf::WhileOp loop);
  void emit_print(PrintOp op);
  std::string loop_range(mlir::scf::ForOp loop);
  std::string variable_name(mlir::scf::ForOp loop);
  /// What a value is called that a loop carries: as on the line of its first value, or that of the next one.
  std::string carried_name(mlir::Value first, mlir::Value next);
  /// A value in the form that a loop carries or a branch gives: all lanes, indices of 64 bits.
  Code carried_code(mlir::Value value, mlir::Type type);
  Code carried_variable(const std::string& name, mlir::Type type);
  void assign_results(llvm::ArrayRef<std::string> names, mlir::ValueRange values, mlir::TypeRange types);

  //===--- emit_programs.cpp ----------------------------------------------===//
  void emit_program_id(ProgramIdOp op);
  void emit_map_program(MapProgramOp op);

  ProgramOp program_;
  std::vector<std::string> arguments_;
  Writer writer_;
  MissingLanes missing_;
  Placement placement_;
  EmittedFunction function_;

  llvm::DenseMap<mlir::Value, Code> codes_;
  llvm::DenseMap<mlir::Value, std::string> wanted_names_; // of values that a loop or a branch carries
  std::map<std::pair<const void*, std::vector<int64_t>>, Code> lines_;
  std::map<std::string, unsigned> repeated_, written_;         // how often, by their text
  std::map<std::string, std::pair<mlir::Block*, Code>> named_; // of the repeated ones
  std::map<std::string, std::string> functions_;               // combiners: by their text, their names
  std::map<std::string, Descriptor> descriptors_;              // by name
  llvm::DenseMap<unsigned, bool> used_as_pointer_;             // arguments
};

} // namespace tilewright::triton
