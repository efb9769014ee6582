// Loops over tiles.
//
//   for (auto [tile_m, tile_n] : tw::tile({m, n})) {   // outermost: one device program per tile, all in one launch
//     for (auto tile_k : tw::tile(k)) { ... }          // inner: one after the other
//   }
//
// The body of the C++ loop runs once, to record what one tile does; how many elements a tile has is the config's
// business. So a plain C++ number that the body changes changes once, and the body must be left at its end or by
// `continue`, not by break or return.
#pragma once

#include "tilewright/value.h"

#include <cstddef>
#include <utility>

namespace tilewright {

// A range of indices of one dimension.
class Tile {
public:
  // The indices of its elements, int32, or int64 where they may pass 2^31; those past the end too, where the tile ends
  // early.
  Value index(SourceLocation location = std::source_location::current()) const;
  // Scalars: the first index, and one past the last one that exists.
  Value begin(SourceLocation location = std::source_location::current()) const;
  Value end(SourceLocation location = std::source_location::current()) const;
  // begin() divided by the block size, so that it counts from 0 only where the loop begins at 0.
  Value id(SourceLocation location = std::source_location::current()) const;
  // The number of tiles in the loop.
  Value count(SourceLocation location = std::source_location::current()) const;
  // The most elements a tile of this loop has.
  Value block_size(SourceLocation location = std::source_location::current()) const;

  const detail::Handle& handle() const { return handle_; }
  Tile() = default;
  explicit Tile(detail::Handle handle) : handle_(handle) {}

private:
  detail::Handle handle_;
};

// The variables of a loop over N > 1 dimensions: `auto [tile_m, tile_n]`, or all tiles as one subscript, `x[tiles]`.
template <class Variable, size_t N> class LoopVariables {
public:
  const Variable& operator[](size_t i) const { return variables_[i]; }
  const Variable* data() const { return variables_; }
  static constexpr int size() { return N; }
  template <size_t I> const Variable& get() const { return variables_[I]; }

private:
  template <class, size_t> friend class LoopOver;
  Variable variables_[N];
};
template <size_t N> using Tiles = LoopVariables<Tile, N>;

// A block size of its own, which the config chooses: what register_block_size() gives. Several loops may have it, and
// new values: tw::tile(n, tw::block_size(block)), tw::zeros({tile_m, block}). On the device it is a number.
//
// It is a host integer as well: tw::empty({tw::cdiv(m, block), n}), tw::tile(m, tw::block_size(4 * block)), and even
// `if (block > 32)`. Whoever asks for the integer has the kernel recorded once for each value that a config gives it.
class RegisteredBlockSize : public Value {
public:
  explicit RegisteredBlockSize(const Value& value) : Value(value) {}
  // The size that the config chooses.
  operator Size() const;
};

// Arithmetic and comparison with numbers and sizes are the host's.
#define TILEWRIGHT_ON_BLOCK_SIZE(Result, function, expression)                                                         \
  inline Result function(const RegisteredBlockSize& block, const Size& other) {                                        \
    Size a = block, b = other;                                                                                         \
    return expression;                                                                                                 \
  }                                                                                                                    \
  inline Result function(const Size& other, const RegisteredBlockSize& block) {                                        \
    Size a = other, b = block;                                                                                         \
    return expression;                                                                                                 \
  }                                                                                                                    \
  inline Result function(const RegisteredBlockSize& block, const RegisteredBlockSize& other) {                         \
    Size a = block, b = other;                                                                                         \
    return expression;                                                                                                 \
  }
TILEWRIGHT_ON_BLOCK_SIZE(Size, operator+, a + b)
TILEWRIGHT_ON_BLOCK_SIZE(Size, operator-, a - b)
TILEWRIGHT_ON_BLOCK_SIZE(Size, operator*, a* b)
TILEWRIGHT_ON_BLOCK_SIZE(Size, operator/, a / b)
TILEWRIGHT_ON_BLOCK_SIZE(Size, operator%, a % b)
TILEWRIGHT_ON_BLOCK_SIZE(Size, min, min(a, b))
TILEWRIGHT_ON_BLOCK_SIZE(Size, max, max(a, b))
TILEWRIGHT_ON_BLOCK_SIZE(Condition, operator==, a == b)
TILEWRIGHT_ON_BLOCK_SIZE(Condition, operator!=, a != b)
TILEWRIGHT_ON_BLOCK_SIZE(Condition, operator<, a < b)
TILEWRIGHT_ON_BLOCK_SIZE(Condition, operator<=, a <= b)
TILEWRIGHT_ON_BLOCK_SIZE(Condition, operator>, a > b)
TILEWRIGHT_ON_BLOCK_SIZE(Condition, operator>=, a >= b)
#undef TILEWRIGHT_ON_BLOCK_SIZE

// Before the tile loop: a new entry in the config's block_sizes, for loops over `extent` elements.
RegisteredBlockSize register_block_size(const Size& extent, SourceLocation location = std::source_location::current());
// From `min`, a power of two, to which smaller values of a config are raised, to `max`, the largest that a search
// tries.
RegisteredBlockSize register_block_size(const Size& min, const Size& max,
                                        SourceLocation location = std::source_location::current());

// Before the tile loop: an option of the kernel's own in the config, under this name, with the first choice as its
// default. What is given back is the config's choice, a plain number: it may size allocations, be a block size or a
// loop's bound, and steer an `if` or a `switch`. The kernel is recorded once for each choice that is tried, and what is
// not taken may be anything.
//   auto split = tw::register_tunable("split", {1, 2, 4, 8});
Size register_tunable(const char* name, std::initializer_list<int64_t> choices,
                      SourceLocation location = std::source_location::current());

// The block size of a dimension: a number, a registered one, or none for the config's choice.
class BlockSize {
public:
  template <class T>
    requires(std::convertible_to<T, Size>)
  BlockSize(const T& size) : size_(Size(size)), chosen_(true) {}
  BlockSize(const RegisteredBlockSize& block) : size_(block), chosen_(true) {}
  BlockSize(None) {}

  bool chosen() const { return chosen_; }
  const Operand& size() const { return size_; }

private:
  Operand size_;
  bool chosen_ = false;
};

class BlockSizes {
public:
  static constexpr int kMost = 8;
  BlockSizes() = default; // the config chooses all

  int size() const { return count_; }
  const BlockSize& operator[](int i) const { return blocks_[i]; }
  void push_back(const BlockSize& block) {
    if (count_ < kMost) blocks_[count_] = block;
    ++count_;
  }

private:
  BlockSize blocks_[kMost] = {none, none, none, none, none, none, none, none};
  int count_ = 0;
};

// For tile(): fixes block sizes that the config would choose otherwise. tw::tile(n, tw::block_size(64)),
// tw::tile({m, n}, tw::block_size({16, tw::none})).
inline BlockSizes block_size(const BlockSize& block) {
  BlockSizes blocks;
  blocks.push_back(block);
  return blocks;
}
inline BlockSizes block_size(std::initializer_list<BlockSize> list) {
  BlockSizes blocks;
  for (const BlockSize& block : list) blocks.push_back(block);
  return blocks;
}

namespace detail {

// A loop while it is recorded, for the templates below.
class LoopRange {
public:
  LoopRange(const LoopRange&) = delete;
  LoopRange& operator=(const LoopRange&) = delete;

  // What a range-for does: begin() opens the loop, and ++ closes it after its body was recorded.
  struct End {};
  End end() const { return {}; }

protected:
  // begin may be null: 0.
  LoopRange(const Operand* begin, const Operand* end, int rank, const BlockSizes& blocks, bool grid,
            SourceLocation location);
  ~LoopRange();

  void open();
  void close();
  bool is_open() const { return state_ == State::open; }
  Handle variable(int dim) const {
    return {first_variable_.recording, first_variable_.index + static_cast<uint32_t>(dim)};
  }

private:
  enum class State : uint8_t { fresh, open, closed };
  static constexpr int kMost = 8;

  Operand begin_[kMost];
  Operand end_[kMost];
  BlockSizes blocks_;
  int rank_;
  bool grid_;
  bool has_begin_;
  State state_ = State::fresh;
  Handle first_variable_;
  uint32_t depth_ = 0; // of the loop, 1 for an outermost one
  SourceLocation location_;
};

// Steps through the one recorded iteration.
template <class Range> class LoopIterator {
public:
  explicit LoopIterator(Range* range) : range_(range) {}
  auto operator*() const { return range_->variables(); }
  LoopIterator& operator++() {
    range_->finish();
    return *this;
  }
  bool operator!=(LoopRange::End) const { return range_->is_recording(); }

private:
  Range* range_;
};

} // namespace detail

// What tile() and grid() return, for a range-for: over one Variable (N = 1) or LoopVariables<Variable, N>. The variable
// is a Tile, or for a grid a scalar Value. A range is walked once.
template <class Variable, size_t N> class LoopOver : public detail::LoopRange {
public:
  LoopOver(const Operand* begin, const Operand* end, const BlockSizes& blocks, SourceLocation location)
      : LoopRange(begin, end, static_cast<int>(N), blocks, std::same_as<Variable, Value>, location) {}

  detail::LoopIterator<LoopOver> begin() {
    open();
    return detail::LoopIterator<LoopOver>(this);
  }
  auto variables() const {
    if constexpr (N == 1) {
      return Variable(variable(0));
    } else {
      LoopVariables<Variable, N> all;
      for (size_t i = 0; i < N; ++i) all.variables_[i] = Variable(variable(static_cast<int>(i)));
      return all;
    }
  }
  void finish() { close(); }
  bool is_recording() const { return is_open(); }
};
// What jagged_tile() returns, for a range-for over a Tile.
class JaggedTileRange : public detail::LoopRange {
public:
  JaggedTileRange(const Value& lengths, const Value& longest, SourceLocation location);

  detail::LoopIterator<JaggedTileRange> begin();
  Tile variables() const { return Tile(variable(0)); }
  void finish() { close(); }
  bool is_recording() const { return is_open(); }

private:
  Value lengths_;
};

template <size_t N> using TileRange = LoopOver<Tile, N>;
template <size_t N> using GridRange = LoopOver<Value, N>;

// Tiles of [0, size), of [begin, end), or of several dimensions, nested first to last. Bounds are integers: numbers,
// sizes, and in an inner loop also scalars on the device, such as tile_q.end() or lengths[i].
inline TileRange<1> tile(const Operand& size, SourceLocation location = std::source_location::current()) {
  return {nullptr, &size, {}, location};
}
inline TileRange<1> tile(const Operand& size, const BlockSizes& blocks,
                         SourceLocation location = std::source_location::current()) {
  return {nullptr, &size, blocks, location};
}
inline TileRange<1> tile(const Operand& begin, const Operand& end,
                         SourceLocation location = std::source_location::current()) {
  return {&begin, &end, {}, location};
}
inline TileRange<1> tile(const Operand& begin, const Operand& end, const BlockSizes& blocks,
                         SourceLocation location = std::source_location::current()) {
  return {&begin, &end, blocks, location};
}
template <size_t N>
TileRange<N> tile(const Operand (&sizes)[N], SourceLocation location = std::source_location::current()) {
  return {nullptr, sizes, {}, location};
}
template <size_t N>
TileRange<N> tile(const Operand (&sizes)[N], const BlockSizes& blocks,
                  SourceLocation location = std::source_location::current()) {
  return {nullptr, sizes, blocks, location};
}
template <size_t N>
TileRange<N> tile(const Operand (&begin)[N], const Operand (&end)[N],
                  SourceLocation location = std::source_location::current()) {
  return {begin, end, {}, location};
}
template <size_t N>
TileRange<N> tile(const Operand (&begin)[N], const Operand (&end)[N], const BlockSizes& blocks,
                  SourceLocation location = std::source_location::current()) {
  return {begin, end, blocks, location};
}

// Inside the tiles that index `lengths`, as in lengths[tile_b]: tiles of [0, the longest), where each row ends at its
// length. What has the rows and the jagged tile has elements where the tile's index is below the row's length. Else
// loads read 0 and stores do nothing, and reductions, products of matrices and combiners leave it out.
JaggedTileRange jagged_tile(const Value& lengths, SourceLocation location = std::source_location::current());

// Single indices instead of tiles: the loop's variable is a scalar.
inline GridRange<1> grid(const Operand& size, SourceLocation location = std::source_location::current()) {
  return {nullptr, &size, {}, location};
}
inline GridRange<1> grid(const Operand& begin, const Operand& end,
                         SourceLocation location = std::source_location::current()) {
  return {&begin, &end, {}, location};
}
template <size_t N>
GridRange<N> grid(const Operand (&sizes)[N], SourceLocation location = std::source_location::current()) {
  return {nullptr, sizes, {}, location};
}

// In a tile loop: the same number of indices, moved by a number, a size or a scalar on the device. As a subscript it
// still is a block of memory; tile.index() would gather. Elements outside of the tensor must not exist in the tile.
Tile operator+(const Tile& tile, const Operand& by);
Tile operator-(const Tile& tile, const Operand& by);

} // namespace tilewright

template <class Variable, size_t N>
struct std::tuple_size<tilewright::LoopVariables<Variable, N>> : std::integral_constant<size_t, N> {};
template <size_t I, class Variable, size_t N> struct std::tuple_element<I, tilewright::LoopVariables<Variable, N>> {
  using type = const Variable;
};
