// tw::Tile and the loops over tiles.
#include "frontend/dsl_dynamic.h"
#include "frontend/recording.h"

#include "llvm/ADT/bit.h"

namespace tilewright {

using detail::Recording;

// A number of a tile: begin, end, ...
template <class Op> static Value tile_number(const Tile& tile, const SourceLocation& location, const char* what) {
  Recording& recording = Recording::require(location, what);
  Builder& builder = recording.device(location, what);
  mlir::Value handle = recording.tile(tile.handle());
  return Value(recording.new_variable(builder.ir.create<Op>(builder.location(), builder.ir.getIndexType(), handle)));
}

Value Tile::begin(SourceLocation location) const { return tile_number<BeginOp>(*this, location, "tile.begin()"); }
Value Tile::end(SourceLocation location) const { return tile_number<EndOp>(*this, location, "tile.end()"); }
Value Tile::id(SourceLocation location) const { return tile_number<IdOp>(*this, location, "tile.id()"); }
Value Tile::count(SourceLocation location) const { return tile_number<CountOp>(*this, location, "tile.count()"); }

Value Tile::index(SourceLocation location) const {
  Recording& recording = Recording::require(location, "tile.index()");
  Builder& builder = recording.device(location, "tile.index()");
  mlir::Value tile = recording.tile(handle_);
  return Value(recording.new_variable(builder.tile_index(tile, recording.may_pass_int32(tile))));
}

Value Tile::block_size(SourceLocation location) const {
  Recording& recording = Recording::require(location, "tile.block_size()");
  Builder& builder = recording.device(location, "tile.block_size()");
  auto type = mlir::cast<TileType>(recording.tile(handle_).getType());
  return Value(recording.new_variable(builder.extent(type.getExtent().dim())));
}

RegisteredBlockSize register_block_size(const Size& extent, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::register_block_size");
  Builder& builder = recording.host(location, "tw::register_block_size");
  if (!builder.dimensions.holds(Guard::Kind::LessEqual, Dim(0), recording.dim(extent)))
    builder.fail("tw::register_block_size for {} elements", extent.traced_value());
  return RegisteredBlockSize(Value(recording.register_block(recording.dim(extent), 1, std::nullopt, location)));
}

RegisteredBlockSize register_block_size(const Size& min, const Size& max, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::register_block_size");
  Builder& builder = recording.host(location, "tw::register_block_size");
  if (min.value() < 1 || !llvm::has_single_bit(static_cast<uint64_t>(min.value())))
    builder.fail("the least size of tw::register_block_size must be a power of two, found {}", min.value());
  if (max.value() < min.value())
    builder.fail("tw::register_block_size from {} to {}: the largest size is below the least", min.value(),
                 max.value());
  return RegisteredBlockSize(Value(recording.register_block(std::nullopt, min.value(), max.value(), location)));
}

RegisteredBlockSize::operator Size() const {
  return Size(Recording::require({}, "a registered block size").host_number(variable()));
}

Size register_tunable(const char* name, std::initializer_list<int64_t> choices, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::register_tunable");
  recording.host(location, "tw::register_tunable");
  return Size(recording.register_tunable(name, {choices.begin(), choices.size()}, location));
}

static Tile shifted(const char* what, const Tile& tile, const Operand& by, bool back) {
  Recording& recording = Recording::require(by.location(), what);
  recording.device(by.location(), what);
  return Tile(recording.shifted_tile(tile.handle(), by, back));
}

Tile operator+(const Tile& tile, const Operand& by) { return shifted("tile + k", tile, by, false); }
Tile operator-(const Tile& tile, const Operand& by) { return shifted("tile - k", tile, by, true); }

JaggedTileRange::JaggedTileRange(const Value& lengths, const Value& longest, SourceLocation location)
    : LoopRange(nullptr, std::array{Operand(longest, location)}.data(), 1, {}, /*grid=*/false, location),
      lengths_(lengths) {}

detail::LoopIterator<JaggedTileRange> JaggedTileRange::begin() {
  open();
  detail::mark_jagged(variable(0), lengths_);
  return detail::LoopIterator<JaggedTileRange>(this);
}

JaggedTileRange jagged_tile(const Value& lengths, SourceLocation location) {
  return JaggedTileRange(lengths, detail::longest(lengths, location), location);
}

Value detail::longest(const Value& lengths, const SourceLocation& location) {
  Recording& recording = Recording::require(location, "tw::jagged_tile");
  Builder& builder = recording.device(location, "tw::jagged_tile");
  Term rows = recording.read(lengths.variable());
  if (!is_integral(builder.dtype(rows)))
    builder.fail("tw::jagged_tile takes the lengths of rows, integers, found {}", builder.describe(rows));
  mlir::Value longest = builder.rank(rows) == 0 ? rows.value : builder.extremum(Reduction::Max, rows, {}, false);
  return Value(recording.new_variable(longest));
}

void detail::mark_jagged(const Handle& tile, const Value& lengths) {
  Recording::current()->mark_jagged(tile, lengths.variable());
}

namespace detail {

LoopRange::LoopRange(const Operand* begin, const Operand* end, int rank, const BlockSizes& blocks, bool grid,
                     SourceLocation location)
    : blocks_(blocks), rank_(rank), grid_(grid), has_begin_(begin != nullptr), location_(location) {
  for (int i = 0; i < rank; ++i) {
    if (begin) begin_[i] = begin[i];
    end_[i] = end[i];
  }
}

// A range-for destroys its range when it ends, in whatever way; it must not throw then.
LoopRange::~LoopRange() {
  Recording* recording = Recording::current();
  if (state_ == State::open && recording) recording->leave_scope(depth_);
}

void LoopRange::open() {
  const char* what = grid_ ? "tw::grid" : "tw::tile";
  Recording& recording = Recording::require(location_, what);
  if (state_ != State::fresh) recording.at(location_).fail("a range of {} is walked once; call it again", what);
  first_variable_ = recording.open_loop({has_begin_ ? begin_ : nullptr, end_, &blocks_, rank_, grid_, location_});
  depth_ = recording.depth();
  state_ = State::open;
}

void LoopRange::close() {
  Recording::require(location_, "a tile loop").close_loop();
  state_ = State::closed;
}

} // namespace detail
} // namespace tilewright
