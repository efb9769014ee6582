#include "backends/cpu/loops_to_llvm.h"

#include "backends/cpu/function_emitter.h"

#include "backends/cpu/debug_locations.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

namespace tilewright::cpu {
namespace {

constexpr unsigned kRangeArguments = 3; // begin, end, workers
constexpr int64_t kScratchAlignment = 64;

// Buffers of whole pages would all begin at the same place in a page, and so would arrays: equal elements of them would
// share a set of the first-level cache, and a load would look like one from the buffer just stored to. So each large
// buffer is moved on by a few cache lines; a softmax that works on two rows at a time gains 15% by it.
constexpr int64_t kPage = 4096;
constexpr int64_t kStagger = 5 * 64;

int64_t element_bytes(mlir::MemRefType type, mlir::Operation* op) {
  mlir::Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat()) refuse(op, "a memref of this element type");
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (bits % 8 != 0) refuse(op, "a memref whose elements are not whole bytes (bool arrays hold i8)");
  return bits / 8;
}

int64_t buffer_bytes(mlir::memref::AllocaOp alloca) {
  mlir::MemRefType type = alloca.getType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity()) refuse(alloca, "a scratch buffer without static shape");
  return type.getNumElements() * element_bytes(type, alloca);
}

// One kernel: an outer function of the launch ABI that unpacks the arguments, and an inner one whose pointers are
// parameters, because only parameters can be noalias: so LLVM knows that arrays and scratch buffers do not overlap.
class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp kernel, const CpuTarget& target, llvm::Module& module)
      : kernel_(kernel), module_(module), emitter_(module, target), builder_(emitter_.builder) {
    pointer_ = builder_.getPtrTy();
    check_signature();
    place_scratch_buffers();
    add_function_attributes(target);
  }

  // Returns the bytes of scratch.
  int64_t emit(DebugLocations* locations) {
    emitter_.set_debug_locations(locations);
    llvm::Function* inner = emit_inner(locations);
    builder_.SetCurrentDebugLocation(llvm::DebugLoc());
    emit_outer(inner);
    return scratch_bytes_;
  }

private:
  void check_signature() {
    if (!llvm::hasSingleElement(kernel_.getBody())) refuse(kernel_, "a function of several blocks");
    if (kernel_.getNumResults() != 0) refuse(kernel_, "a kernel with results");
    unsigned count = kernel_.getNumArguments();
    if (count < kRangeArguments) refuse(kernel_, "a kernel without the arguments begin, end, workers");
    for (unsigned i = count - kRangeArguments; i < count; ++i)
      if (!kernel_.getArgument(i).getType().isIndex())
        refuse(kernel_, "begin, end or workers of a type other than index");
  }

  void place_scratch_buffers() {
    for (auto alloca : kernel_.getBody().front().getOps<mlir::memref::AllocaOp>()) {
      int64_t bytes = llvm::alignTo(buffer_bytes(alloca), kScratchAlignment);
      if (bytes >= kPage) scratch_bytes_ += kStagger;
      buffers_.push_back(alloca);
      offsets_.push_back(scratch_bytes_);
      scratch_bytes_ += bytes;
    }
  }

  void add_function_attributes(const CpuTarget& target) {
    attributes_.addAttribute(llvm::Attribute::NoUnwind);
    attributes_.addAttribute("target-cpu", target.cpu);
    attributes_.addAttribute("target-features", target.features);
    attributes_.addAttribute("prefer-vector-width", std::to_string(target.vector_bits));
    attributes_.addAttribute("no-trapping-math", "true");
  }

  bool is_array(unsigned argument) { return mlir::isa<mlir::MemRefType>(kernel_.getArgument(argument).getType()); }
  unsigned argument_count() { return kernel_.getNumArguments() - kRangeArguments; }

  // Parameters: the kernel's arguments, the scratch buffers, the runtime table.
  llvm::Function* emit_inner(DebugLocations* locations) {
    llvm::SmallVector<llvm::Type*> types;
    for (mlir::BlockArgument argument : kernel_.getArguments())
      types.push_back(emitter_.type(argument.getType(), kernel_));
    types.append(buffers_.size(), pointer_);
    types.push_back(pointer_);
    auto* inner = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), types, false),
                                         llvm::Function::InternalLinkage, kernel_.getName() + ".programs", module_);
    inner->addFnAttrs(attributes_);
    inner->addFnAttr(llvm::Attribute::NoInline);
    if (locations) locations->enter(inner, kernel_.getLoc());

    unsigned position = 0;
    for (mlir::BlockArgument argument : kernel_.getArguments()) {
      llvm::Argument* parameter = inner->getArg(position);
      name_argument(parameter, position);
      if (is_array(position)) mark_pointer(parameter, array_alignment(position));
      emitter_.set(argument, parameter);
      ++position;
    }
    for (mlir::memref::AllocaOp buffer : buffers_) {
      llvm::Argument* parameter = inner->getArg(position++);
      auto name = buffer->getAttrOfType<mlir::StringAttr>("tile.name");
      parameter->setName(name ? name.getValue() : "scratch");
      mark_pointer(parameter, kScratchAlignment);
      emitter_.set(buffer.getResult(), parameter);
    }
    llvm::Argument* table = inner->getArg(position);
    table->setName("runtime_table");
    emitter_.set_runtime_table(table);

    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", inner));
    emitter_.emit_ops(kernel_.getBody().front());
    builder_.CreateRetVoid();
    return inner;
  }

  void emit_outer(llvm::Function* inner) {
    llvm::Type* int64 = builder_.getInt64Ty();
    auto* type =
        llvm::FunctionType::get(builder_.getVoidTy(), {pointer_, int64, int64, int64, pointer_, pointer_}, false);
    auto* outer = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel_.getName(), module_);
    outer->addFnAttrs(attributes_);
    const char* names[] = {"arguments", "program_begin", "program_end", "worker_count", "scratch", "runtime_table"};
    for (llvm::Argument& parameter : outer->args()) parameter.setName(names[parameter.getArgNo()]);

    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", outer));
    llvm::SmallVector<llvm::Value*> operands;
    for (unsigned i = 0; i < argument_count(); ++i) {
      llvm::Value* slot = builder_.CreateConstInBoundsGEP1_64(pointer_, outer->getArg(0), i);
      llvm::Value* pointer = builder_.CreateLoad(pointer_, slot, inner->getArg(i)->getName());
      operands.push_back(is_array(i) ? pointer : load_number(pointer, inner->getArg(i)->getType()));
    }
    for (unsigned i = 1; i <= kRangeArguments; ++i) operands.push_back(outer->getArg(i));
    for (int64_t offset : offsets_)
      operands.push_back(builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), outer->getArg(4), offset));
    operands.push_back(outer->getArg(5));
    builder_.CreateCall(inner, operands);
    // Streaming stores are not ordered with what tells other threads that the kernel is done.
    if (emitter_.has_streaming_stores()) {
      if (llvm::Triple(module_.getTargetTriple()).isX86())
        builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
      else
        builder_.CreateFence(llvm::AtomicOrdering::Release);
    }
    builder_.CreateRetVoid();
  }

  // A run-time number is the first bytes of an 8-byte slot; a bool is the lowest bit of a byte.
  llvm::Value* load_number(llvm::Value* slot, llvm::Type* type) {
    if (!type->isIntegerTy(1)) return builder_.CreateAlignedLoad(type, slot, llvm::Align(8));
    return builder_.CreateTrunc(builder_.CreateAlignedLoad(builder_.getInt8Ty(), slot, llvm::Align(8)), type);
  }

  int64_t array_alignment(unsigned argument) {
    if (auto given = kernel_.getArgAttrOfType<mlir::IntegerAttr>(argument, "tile.alignment")) return given.getInt();
    return element_bytes(mlir::cast<mlir::MemRefType>(kernel_.getArgument(argument).getType()), kernel_);
  }

  void mark_pointer(llvm::Argument* parameter, int64_t alignment) {
    llvm::AttrBuilder marks(module_.getContext());
    marks.addAttribute(llvm::Attribute::NoAlias);
    marks.addAttribute(llvm::Attribute::NonNull);
    marks.addAlignmentAttr(llvm::Align(alignment));
    parameter->addAttrs(marks);
  }

  void name_argument(llvm::Argument* parameter, unsigned position) {
    static constexpr const char* kRangeNames[] = {"begin", "end", "workers"};
    if (position >= argument_count()) return parameter->setName(kRangeNames[position - argument_count()]);
    if (auto name = kernel_.getArgAttrOfType<mlir::StringAttr>(position, "tile.name"))
      parameter->setName(name.getValue());
    else
      parameter->setName("a" + llvm::Twine(position));
  }

  mlir::func::FuncOp kernel_;
  llvm::Module& module_;
  FunctionEmitter emitter_;
  llvm::IRBuilder<>& builder_;
  llvm::PointerType* pointer_;
  llvm::AttrBuilder attributes_{module_.getContext()};
  llvm::SmallVector<mlir::memref::AllocaOp> buffers_;
  llvm::SmallVector<int64_t> offsets_;
  int64_t scratch_bytes_ = 0;
};

} // namespace

EmittedKernel emit_llvm(mlir::func::FuncOp kernel, const CpuTarget& target, SourceLines lines) {
  EmittedKernel emitted;
  emitted.context = std::make_unique<llvm::LLVMContext>();
  emitted.entry = kernel.getName().str();
  emitted.module = std::make_unique<llvm::Module>(emitted.entry, *emitted.context);
  emitted.module->setTargetTriple(target.triple);
  std::optional<DebugLocations> locations;
  if (lines == SourceLines::Keep) locations.emplace(*emitted.module);
  emitted.scratch_bytes = KernelEmitter(kernel, target, *emitted.module).emit(locations ? &*locations : nullptr);
  if (locations) locations->finish();
  return emitted;
}

} // namespace tilewright::cpu
