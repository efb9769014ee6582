#include "schedule/passes.h"

#include "schedule/annotate_loops.h"
#include "schedule/bucket_dims.h"
#include "schedule/choose_accesses.h"
#include "schedule/count_lanes.h"
#include "schedule/cut_blocks.h"
#include "schedule/expand_program_ids.h"
#include "schedule/flatten_loops.h"
#include "schedule/lower_tiles.h"
#include "schedule/map_programs.h"
#include "schedule/order_loops.h"
#include "schedule/pad_extents.h"
#include "schedule/pin_sizes.h"
#include "schedule/prove_bounds.h"
#include "schedule/roll_reductions.h"
#include "schedule/simplify.h"
#include "schedule/unroll_loops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tilewright {
namespace {

/// A pass over all kernels or programs of a module. `Pass` has kName, kDescription and `LogicalResult run(Unit)`. One
/// with options spells out its copy constructor, for options are not copied but registered anew.
template <typename Pass, typename Unit> struct UnitPass : PassWrapper<Pass, OperationPass<ModuleOp>> {
  UnitPass() = default;
  UnitPass(const UnitPass& other) : PassWrapper<Pass, OperationPass<ModuleOp>>(other) {}
  StringRef getArgument() const final { return Pass::kName; }
  StringRef getDescription() const final { return Pass::kDescription; }
  void runOnOperation() final {
    for (Unit unit : llvm::make_early_inc_range(this->getOperation().template getOps<Unit>()))
      if (failed(static_cast<Pass*>(this)->run(unit))) return this->signalPassFailure();
  }
};

// "1:0" as the numbers 1 and 0; "?" is kDynamic.
FailureOr<std::vector<int64_t>> parse_numbers(StringRef text, char separator) {
  std::vector<int64_t> numbers;
  SmallVector<StringRef> parts;
  if (!text.empty()) text.split(parts, separator);
  for (StringRef part : parts) {
    int64_t& number = numbers.emplace_back();
    if (part == "?")
      number = ShapedType::kDynamic;
    else if (part.getAsInteger(10, number))
      return failure();
  }
  return numbers;
}

// Lists of bool are no lists of options.
std::vector<bool> truth_values(ArrayRef<int64_t> numbers) {
  std::vector<bool> values;
  for (int64_t number : numbers) values.push_back(number != 0);
  return values;
}

struct PinSizes : UnitPass<PinSizes, KernelOp> {
  PinSizes() = default;
  PinSizes(const PinSizes& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-pin-sizes";
  static constexpr StringLiteral kDescription = "pins a kernel to the layouts of its arguments";
  ListOption<std::string> arrays{
      *this, "arrays",
      llvm::cl::desc("for each array argument: sizes, and if need be strides and alignment, as 64x32:32x1:16; "
                     "? is known at run time only")};

  FailureOr<ArrayLayout> parse_layout(StringRef text) {
    SmallVector<StringRef> parts;
    text.split(parts, ':');
    FailureOr<std::vector<int64_t>> sizes = parse_numbers(parts[0], 'x');
    if (failed(sizes)) return failure();
    ArrayLayout layout{*sizes, contiguous_strides(*sizes)};
    if (parts.size() > 1) {
      FailureOr<std::vector<int64_t>> strides = parse_numbers(parts[1], 'x');
      if (failed(strides)) return failure();
      layout.strides = *strides;
    }
    if (parts.size() > 2 && parts[2].getAsInteger(10, layout.alignment)) return failure();
    return layout;
  }

  LogicalResult run(KernelOp kernel) {
    SmallVector<ArrayLayout> layouts;
    for (const std::string& text : arrays) {
      FailureOr<ArrayLayout> layout = parse_layout(text);
      if (failed(layout)) return kernel.emitError() << "cannot read the layout '" << text << "'";
      layouts.push_back(*layout);
    }
    return pin_sizes(kernel, layouts);
  }
};

struct BucketDims : UnitPass<BucketDims, KernelOp> {
  BucketDims() = default;
  BucketDims(const BucketDims& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-bucket-dims";
  static constexpr StringLiteral kDescription = "gives whole dimensions of unknown length a bucket";
  ListOption<int64_t> sizes{*this, "sizes", llvm::cl::desc("s0, s1, ... of a call")};

  LogicalResult run(KernelOp kernel) {
    for (const Dim& length : kernel.whole_dims())
      for (const Monomial& monomial : length.monomials())
        for (Symbol symbol : monomial.symbols)
          if (symbol.kind != Symbol::Kind::Size || symbol.index >= sizes.size())
            return kernel.emitError() << "needs " << Dim(symbol).str();
    std::vector<Guard> guards;
    return bucket_dims(kernel, ArrayRef<int64_t>{sizes}, guards);
  }
};

struct SimplifyKernel : UnitPass<SimplifyKernel, KernelOp> {
  static constexpr StringLiteral kName = "tile-simplify-kernel";
  static constexpr StringLiteral kDescription = "cleans up tile IR";
  LogicalResult run(KernelOp kernel) { return simplify_kernel(kernel); }
};

struct NumberLoops : UnitPass<NumberLoops, KernelOp> {
  static constexpr StringLiteral kName = "tile-number-loops";
  static constexpr StringLiteral kDescription = "numbers sequential loops, for unrolling";
  LogicalResult run(KernelOp kernel) { return number_loops(kernel), success(); }
};

struct OrderLoops : UnitPass<OrderLoops, KernelOp> {
  OrderLoops() = default;
  OrderLoops(const OrderLoops& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-order-loops";
  static constexpr StringLiteral kDescription = "permutes the dimensions of tile loops";
  ListOption<std::string> orders{*this, "orders", llvm::cl::desc("for each loop its dimensions, as 1:0")};

  LogicalResult run(KernelOp kernel) {
    std::vector<std::vector<int64_t>> all;
    for (const std::string& text : orders) {
      FailureOr<std::vector<int64_t>> order = parse_numbers(text, ':');
      if (failed(order)) return kernel.emitError() << "cannot read the order '" << text << "'";
      all.push_back(*order);
    }
    return order_loops(kernel, all);
  }
};

struct ChooseAccesses : UnitPass<ChooseAccesses, KernelOp> {
  ChooseAccesses() = default;
  ChooseAccesses(const ChooseAccesses& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-choose-accesses";
  static constexpr StringLiteral kDescription = "writes on loads and stores how they are done";
  ListOption<std::string> indexing{*this, "indexing", llvm::cl::desc("for each load and store")};
  ListOption<std::string> loads{*this, "load-evictions", llvm::cl::desc("for each load; any: the backend decides")};
  ListOption<std::string> stores{*this, "store-evictions", llvm::cl::desc("for each store; any: the backend decides")};

  // An empty word cannot be written in the text of a list.
  static SmallVector<std::string> evictions(ArrayRef<std::string> names) {
    return llvm::map_to_vector(names, [](const std::string& name) { return name == "any" ? std::string() : name; });
  }
  LogicalResult run(KernelOp kernel) {
    return choose_accesses(kernel, ArrayRef<std::string>{indexing}, evictions(ArrayRef<std::string>{loads}),
                           evictions(ArrayRef<std::string>{stores}));
  }
};

struct FlattenLoops : UnitPass<FlattenLoops, KernelOp> {
  FlattenLoops() = default;
  FlattenLoops(const FlattenLoops& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-flatten-loops";
  static constexpr StringLiteral kDescription = "walks loops of several dimensions as one";
  ListOption<int64_t> flatten{*this, "flatten", llvm::cl::desc("for each loop 0 or 1")};
  ListOption<int64_t> block_sizes{*this, "block-sizes", llvm::cl::desc("the sizes of the kernel's own block ids")};

  LogicalResult run(KernelOp kernel) {
    SmallVector<int64_t> sizes(ArrayRef<int64_t>{block_sizes});
    return flatten_loops(kernel, truth_values(flatten), sizes);
  }
};

struct CountLanes : UnitPass<CountLanes, KernelOp> {
  static constexpr StringLiteral kName = "tile-count-lanes";
  static constexpr StringLiteral kDescription = "expands tile.lane_count";
  LogicalResult run(KernelOp kernel) { return count_lanes(kernel); }
};

struct RollReductions : UnitPass<RollReductions, KernelOp> {
  RollReductions() = default;
  RollReductions(const RollReductions& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-roll-reductions";
  static constexpr StringLiteral kDescription = "rolls reductions over whole dimensions into loops";
  ListOption<int64_t> sizes{*this, "sizes", llvm::cl::desc("for each dimension its block; 0: keep it whole")};
  ListOption<int64_t> block_sizes{*this, "block-sizes", llvm::cl::desc("the sizes of the kernel's own block ids")};

  LogicalResult run(KernelOp kernel) {
    SmallVector<std::optional<int64_t>> blocks;
    for (int64_t size : sizes) blocks.push_back(size == 0 ? std::nullopt : std::optional(size));
    SmallVector<int64_t> all(ArrayRef<int64_t>{block_sizes});
    return roll_reductions(kernel, blocks, all);
  }
};

struct LowerTiles : UnitPass<LowerTiles, KernelOp> {
  LowerTiles() = default;
  LowerTiles(const LowerTiles& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-lower";
  static constexpr StringLiteral kDescription = "substitutes block sizes and makes a program of a kernel";
  ListOption<int64_t> block_sizes{*this, "block-sizes", llvm::cl::desc("the size of each block id")};
  Option<bool> pads_extents{*this, "pads-extents", llvm::cl::desc("the backend pads extents to powers of two")};

  LogicalResult run(KernelOp kernel) {
    OpBuilder builder(kernel);
    SmallVector<int64_t> sizes = cut_blocks(kernel, ArrayRef<int64_t>{block_sizes}, pads_extents);
    if (failed(lower_tiles(kernel, sizes, builder))) return failure();
    kernel.erase();
    return success();
  }
};

struct ProveBounds : UnitPass<ProveBounds, ProgramOp> {
  static constexpr StringLiteral kName = "tile-prove-bounds";
  static constexpr StringLiteral kDescription = "drops bounds that are proven whole";
  LogicalResult run(ProgramOp program) { return prove_bounds(program), success(); }
};

struct MapPrograms : UnitPass<MapPrograms, ProgramOp> {
  MapPrograms() = default;
  MapPrograms(const MapPrograms& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-map-programs";
  static constexpr StringLiteral kDescription = "maps tiles to programs";
  Option<std::string> pid_type{*this, "pid-type",
                               llvm::cl::desc("flat, xyz, persistent_blocked or persistent_interleaved"),
                               llvm::cl::init("flat")};
  Option<int64_t> group{*this, "group", llvm::cl::desc("rows of tiles that go together"), llvm::cl::init(1)};
  Option<int64_t> per_worker{*this, "programs-per-worker", llvm::cl::desc("of persistent ones"), llvm::cl::init(1)};

  LogicalResult run(ProgramOp program) {
    std::optional<PidType> type = pid_type_from_name(pid_type);
    if (!type) return program.emitError() << "there is no pid_type '" << pid_type << "'";
    return map_programs(program, {*type, group, per_worker});
  }
};

struct ExpandProgramIds : UnitPass<ExpandProgramIds, ProgramOp> {
  static constexpr StringLiteral kName = "tile-expand-program-ids";
  static constexpr StringLiteral kDescription = "expands tile.map_program to arithmetic";
  LogicalResult run(ProgramOp program) { return expand_program_ids(program), success(); }
};

struct UnrollLoops : UnitPass<UnrollLoops, ProgramOp> {
  UnrollLoops() = default;
  UnrollLoops(const UnrollLoops& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-unroll-loops";
  static constexpr StringLiteral kDescription = "unrolls numbered loops";
  ListOption<int64_t> factors{*this, "factors", llvm::cl::desc("for each number")};
  ListOption<int64_t> statics{*this, "static", llvm::cl::desc("for each number 1 where it is unrolled wholly, or 0")};
  LogicalResult run(ProgramOp program) {
    return success(succeeded(unroll_loops(program, ArrayRef<int64_t>{factors}, truth_values(statics))));
  }
};

struct AnnotateLoops : UnitPass<AnnotateLoops, ProgramOp> {
  AnnotateLoops() = default;
  AnnotateLoops(const AnnotateLoops& other) : UnitPass(other) {}
  static constexpr StringLiteral kName = "tile-annotate-loops";
  static constexpr StringLiteral kDescription = "writes on numbered loops how they are to be run";
  ListOption<int64_t> stages{*this, "stages", llvm::cl::desc("for each number; 0: nothing is said")};
  ListOption<int64_t> factors{*this, "factors", llvm::cl::desc("of unrolling, for each number")};
  ListOption<int64_t> statics{*this, "static", llvm::cl::desc("1 or 0 for each number")};
  ListOption<int64_t> flattens{*this, "flatten", llvm::cl::desc("1 or 0 for each number")};
  ListOption<int64_t> single_buffers{*this, "one-buffer", llvm::cl::desc("1 or 0 for each number")};
  ListOption<int64_t> warp_specializes{*this, "warp-specialize", llvm::cl::desc("1 or 0 for each number")};
  LogicalResult run(ProgramOp program) {
    annotate_loops(program, {{stages.begin(), stages.end()},
                             {factors.begin(), factors.end()},
                             truth_values(statics),
                             truth_values(flattens),
                             truth_values(single_buffers),
                             truth_values(warp_specializes)});
    return success();
  }
};

struct PadExtents : UnitPass<PadExtents, ProgramOp> {
  static constexpr StringLiteral kName = "tile-pad-extents";
  static constexpr StringLiteral kDescription = "rounds dimensions up to powers of two";
  LogicalResult run(ProgramOp program) { return pad_extents(program); }
};

struct SimplifyProgram : UnitPass<SimplifyProgram, ProgramOp> {
  static constexpr StringLiteral kName = "tile-simplify-program";
  static constexpr StringLiteral kDescription = "cleans up program IR";
  LogicalResult run(ProgramOp program) { return simplify_program(program); }
};

} // namespace

void register_schedule_passes() {
  PassRegistration<PinSizes>();
  PassRegistration<BucketDims>();
  PassRegistration<SimplifyKernel>();
  PassRegistration<NumberLoops>();
  PassRegistration<ChooseAccesses>();
  PassRegistration<OrderLoops>();
  PassRegistration<FlattenLoops>();
  PassRegistration<CountLanes>();
  PassRegistration<RollReductions>();
  PassRegistration<LowerTiles>();
  PassRegistration<ProveBounds>();
  PassRegistration<MapPrograms>();
  PassRegistration<ExpandProgramIds>();
  PassRegistration<UnrollLoops>();
  PassRegistration<AnnotateLoops>();
  PassRegistration<PadExtents>();
  PassRegistration<SimplifyProgram>();
}

} // namespace tilewright
