#include "ir/flattening.h"

#include "ir/host_choices.h"
#include "ir/kernel_loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
namespace {

bool mentions_any(const Dim& dim, ArrayRef<Symbol> symbols) {
  return llvm::any_of(symbols, [&](Symbol symbol) { return dim.mentions(symbol); });
}

class FlatteningFinder {
public:
  FlatteningFinder(KernelOp kernel, ForOp loop, std::string& reason) : kernel_(kernel), loop_(loop), reason_(reason) {}

  std::optional<Flattening> run() {
    if (!check_loop()) return std::nullopt;
    if (!check_values()) return std::nullopt;
    bool fits = true;
    kernel_.walk(
        [&](Operation* op) { return (fits = check_op(op)) ? WalkResult::advance() : WalkResult::interrupt(); });
    if (!fits || !check_variables() || !check_arrays()) return std::nullopt;
    return std::move(found_);
  }

private:
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  bool check_loop() {
    if (loop_.rank() < 2) return refuse("it has one dimension");
    HostChoices choices = host_choices(kernel_);
    for (auto [dim, block] : llvm::enumerate(loop_.getBlocks().getDims())) {
      std::optional<Symbol> symbol = block.dim().symbol();
      if (!symbol || symbol->kind != Symbol::Kind::Block) return refuse("a dimension has no block size of its own");
      if (llvm::is_contained(found_.blocks, *symbol) || loop_dims_of_block(kernel_, symbol->index).size() != 1)
        return refuse("another loop has one of its block sizes");
      if (llvm::any_of(choices.blocks, [&](const RegisteredBlock& block) {
            return block.block == symbol->index && block.value.has_value();
          }))
        return refuse("the kernel asks for a block's size");
      found_.blocks.push_back(*symbol);
      std::optional<int64_t> length = LoopDim{loop_, static_cast<unsigned>(dim)}.length();
      if (!length || *length == 0) return refuse("a dimension's length is 0 or not known");
      if (dim > 0 && getConstantIntValue(loop_.getLower()[dim]) != 0)
        return refuse("an inner dimension does not begin at 0");
    }
    if (!loop_.getParallel() && !order_is_free(loop_)) return refuse("its order can be seen");
    return true;
  }

  // Side by side or not at all.
  bool check_type(Type type) {
    SmallVector<Dim> dims = dims_of(type);
    unsigned with = llvm::count_if(dims, [&](const Dim& dim) { return mentions_any(dim, found_.blocks); });
    return with == 0 || (with == found_.rank() && found_.position_in(type));
  }

  bool check_values() {
    bool fit = true;
    auto check = [&](ValueRange values) {
      for (Value value : values) fit &= check_type(value.getType());
    };
    kernel_.walk([&](Operation* op) {
      check(op->getResults());
      for (Region& region : op->getRegions())
        for (Block& block : region) check(block.getArguments());
    });
    return fit || refuse("a value has some of its dimensions and not all of them");
  }

  bool check_op(Operation* op) {
    if (auto extent = dyn_cast<ExtentOp>(op))
      return !mentions_any(extent.getDim().dim(), found_.blocks) || refuse("the kernel asks for a block's size");
    auto position = [&](Value value) { return found_.position_in(value.getType()); };
    bool concerned = llvm::any_of(op->getOperands(), position) || llvm::any_of(op->getResults(), position);
    if (!concerned) return true;
    if (isa<LoadOp, StoreOp>(op)) return check_access(AccessOp(op));
    if (isa<ForOp, YieldOp, FullOp, SplatOp, ExpandDimsOp, CompositeOp>(op)) return true;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return position(broadcast.getSource()) || refuse("a value is repeated along its dimensions");
    if (auto reduce = dyn_cast<ReduceOp>(op)) return check_reduced(reduce.getSource(), reduce.getDims());
    if (auto count = dyn_cast<LaneCountOp>(op)) return check_reduced(count.getSource(), count.getDims());
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op)) return true;
    return refuse(("'" + op->getName().getStringRef() + "' tells its dimensions apart").str());
  }

  bool check_reduced(Value source, ArrayRef<int64_t> dims) {
    std::optional<unsigned> first = found_.position_in(source.getType());
    if (!first) return true;
    unsigned among = llvm::count_if(dims, [&](int64_t dim) { return dim >= *first && dim < *first + found_.rank(); });
    return among == 0 || among == found_.rank() || refuse("a reduction runs over some of its dimensions");
  }

  // The loop's tiles as subscripts of neighbouring dimensions, which lie in memory as one would.
  bool check_access(AccessOp access) {
    SmallVector<SubscriptUse> uses = access.subscripts();
    if (llvm::any_of(uses, [](const SubscriptUse& use) { return use.is_gather(); }))
      return refuse("elements are gathered along its dimensions");
    auto variables = loop_.variables();
    auto* first = llvm::find_if(uses, [&](const SubscriptUse& use) { return use.operand == variables[0]; });
    unsigned at = first - uses.begin();
    if (at + found_.rank() > uses.size()) return refuse("an access has not all of its tiles side by side");
    ArrayType type = access.array_type();
    if (!type.is_static()) return refuse("an array's sizes are known at run time only");
    SmallVector<int64_t> sizes = type.sizes();
    std::optional<int64_t> stride; // that the next dimension outwards must have
    for (unsigned dim = found_.rank(); dim-- > 0;) {
      if (uses[at + dim].operand != variables[dim]) return refuse("an access has not all of its tiles side by side");
      int64_t size = sizes[at + dim];
      if (dim > 0 && size != LoopDim{loop_, dim}.length()) return refuse("a row of an array is not walked whole");
      if (size == 1) continue;
      if (stride && type.stride(at + dim) != *stride) return refuse("the rows of an array do not follow each other");
      stride = type.stride(at + dim) * size;
    }
    accesses_.push_back(access.operation());
    for (const Flattening::Merged& merged : found_.arrays)
      if (merged.array == access.array())
        return merged.first_dim == at || refuse("an array is walked along several of its dimensions");
    found_.arrays.push_back({access.array(), at});
    return true;
  }

  bool check_variables() {
    for (Value variable : loop_.variables())
      for (Operation* user : variable.getUsers()) {
        if (auto full = dyn_cast<FullOp>(user)) {
          for (Value other : loop_.variables())
            if (!llvm::is_contained(full.getTiles(), other)) return refuse("a new value ends with some of its tiles");
          continue;
        }
        if (!llvm::is_contained(accesses_, user)) return refuse("its tiles are used for other things than subscripts");
      }
    return true;
  }

  bool check_arrays() {
    for (const Flattening::Merged& merged : found_.arrays) {
      if (Operation* definition = merged.array.getDefiningOp(); definition && !isa<EmptyOp>(definition))
        return refuse("an array is a view of another one");
      for (Operation* user : merged.array.getUsers())
        if (!isa<ReturnOp>(user) && !llvm::is_contained(accesses_, user))
          return refuse("an array is also accessed in another way");
    }
    return true;
  }

  KernelOp kernel_;
  ForOp loop_;
  std::string& reason_;
  Flattening found_;
  SmallVector<Operation*> accesses_;
};

} // namespace

std::optional<unsigned> Flattening::position_in(Type type) const {
  SmallVector<Dim> dims = dims_of(type);
  for (unsigned first = 0; first + rank() <= dims.size(); ++first) {
    bool here = true;
    for (unsigned i = 0; i < rank(); ++i) here &= dims[first + i].symbol() == blocks[i];
    if (here) return first;
  }
  return std::nullopt;
}

std::optional<Flattening> find_flattening(KernelOp kernel, ForOp loop, std::string& reason) {
  return FlatteningFinder(kernel, loop, reason).run();
}

} // namespace tilewright
