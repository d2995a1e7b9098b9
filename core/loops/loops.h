// Where every element is, and in which order a machine walks them: the loop form.
//
// One type, Program, serves twice. As a *nest* every loop is serial and nothing is decided; as a
// *program* (what schedule::apply returns) loops are split and bound, and totals are reached by
// Merge, Combine, Push, Fold and Prefix. Both are executed by interpret.h, which is their meaning.
//
//   value := Literal | Count | Read | Load | Apply | Convert
//   stmt  := Block | Loop | Let | Index | Store | Start | Accumulate | Scan            (nests)
//          | Merge | Combine | Push | Fold | Prefix | Scratch | Prefetch | Sync | LastBlock | Call (programs)
//
// Types. f16 and bf16 exist only in memory: a Load gives them, the only things that may be done with
// the value are Convert and Store, and Apply computes in f32. Comparison gives b8. A Condition, an
// offset, an extent and a place are index expressions over sizes, loop counters and Index symbols.
// Offsets are in elements from the start of the buffer's data and may be negative for an input with
// negative strides.
//
// Names. An Index symbol is bound once in a program. An axis is bound once too, but loops that stand
// side by side may share one where their extents are equal: a total with copies along it is merged in
// one of them and read in the next. A Temp is defined once (by a Let, Start, Scan, Fold or Prefix),
// before every Read of it, in a statement whose loops enclose the Read.
//
// Vector loops are lock-step: the body, serial loops in it included, is meant once for each member,
// and no statement's meaning depends on the others, so a back end may keep a Temp of the body as one
// register with a lane for each member. A vector loop contains no block or thread loop.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/id.h"
#include "core/base/match.h"
#include "core/index/facts.h"
#include "core/ops/dtype.h"
#include "core/ops/monoid.h"
#include "core/ops/number.h"
#include "core/ops/pointwise.h"

namespace twinloom::loops {

using Axis = index::Symbol;  // the counter of a loop is a symbol of index expressions
using Buffer = Id<struct BufferTag>;
using Temp = Id<struct TempTag>;
template <class Node>
using Ref = std::shared_ptr<const Node>;

enum class Bind : std::uint8_t {
  serial,  // a plain loop
  unroll,  // written out; constant extent
  vector,  // neighbouring elements in one register; constant extent, a power of two
  thread,  // may share scratch with its neighbours and wait for them; constant extent
  block,   // independent of its neighbours; any order, any core
};

struct Value;
struct Literal {
  ops::Number value;  // as cast() to the type gives it; the makers see to that
  ops::DType dtype;
};
struct Count {  // an index used as a number of type i64
  index::Expr expr;
};
struct Read {
  Temp temp;
  int part = 0;  // of a tuple; inside a loop with copies: this member's
};
struct Load {  // where the mask does not hold, memory is not touched and the value is `otherwise`
  Buffer buffer;
  index::Expr offset;
  index::Condition mask;
  Literal otherwise;  // of the buffer's type
};
struct Apply {
  ops::Pointwise op;
  std::vector<Ref<Value>> inputs;
};
struct Convert {
  ops::DType to;
  Ref<Value> input;
};
struct Value {
  std::variant<Literal, Count, Read, Load, Apply, Convert> node;
};

struct Stmt;
struct Block {
  std::vector<Ref<Stmt>> stmts;
};
struct Loop {
  Axis axis;
  index::Expr extent;  // >= 0
  Bind bind = Bind::serial;
  Ref<Stmt> body;
};
struct Let {
  Temp temp;
  Ref<Value> value;
};
// Binds a symbol to a run-time integer. Outside `mask` nothing is checked and the symbol is 0. A value
// v is used as v + bound where negative_wraps and v < 0; one that is then not in 0 <= v < bound is a
// failure: the first is recorded with `node`, and the symbol becomes 0. A Load or Store whose offset or
// mask mentions a symbol of a failed or masked Index touches no memory.
struct Index {
  index::Symbol symbol;
  Ref<Value> value;  // an integer type
  index::Expr bound;
  index::Condition mask;
  bool negative_wraps = false;
  int node = -1;  // of the graph, for the error
};
enum class Update : std::uint8_t {
  replace,
  atomic_add,
  atomic_max
};  // atomics: integers; f32, f64 are added
struct Store {
  Buffer buffer;
  index::Expr offset;
  index::Condition mask;
  Ref<Value> value;  // of the buffer's type
  Update update = Update::replace;
};
// A new total, each of its copies the identity of the monoid: one copy for each member of `copies`,
// whatever their bind. depth > 0: an empty stack that holds up to `depth` pending units instead.
struct Start {
  Temp total;
  ops::Monoid monoid;
  ops::DType element;  // of part 0; never f16 or bf16
  std::vector<Axis> copies;
  int depth = 0;
  bool free = false;  // in any order, and products that are summed are not rounded: NUMERICS.md A.2
  bool folded = false;  // of a free one: no more than 512 additions follow each other in one accumulator
};
// Nests only. The total over all executions in the scope of its Start is the canonical combination of
// the pairs (place, values), whatever order the loops have; of a total with copies, which is one of columns
// (nest.h), that of this member's pairs. One value a part: a place is an i64 Count. Of a free accumulator any
// order is meant; the canonical one is what the interpreter takes.
struct Accumulate {
  Temp total;
  std::vector<Ref<Value>> values;
  index::Expr place;           // distinct for each execution, from 0
  index::Condition mask = {};  // where it does not hold, nothing is added
};
// Nests only. result = the scan of the total up to element `place`, in the canonical order.
struct Scan {
  Temp result, total;
  std::vector<Ref<Value>> values;
  index::Expr place;
  bool exclusive = false;
};
// From here on programs only.
// This member's copy = combine(copy, values); outside the mask it stays. Of a sum of floats the values may be
// the two factors of what is added: copy = fma(values[0], values[1], copy), which rounds once.
struct Merge {
  Temp total;
  std::vector<Ref<Value>> values;
  index::Condition mask;
  bool product = false;
};
enum class Pairing : std::uint8_t {
  halves,      // for h = extent/2, ..., 2, 1: c(l) = combine(c(l), c(l+h)) for l < h
  neighbours,  // c(2i) = combine(c(2i), c(2i+1)), then the same of what is left
};
// Afterwards the total has no copies along `across`, whose extent is a power of two.
struct Combine {
  Temp total;
  Axis across;
  Pairing pairing = Pairing::halves;
};
// Adds one unit to a stack as a binary counter does: v = unit; for each set bit k of `number`, from bit
// 0 up to the first clear one: v = combine(stack[k], v); then stack[first clear bit] = v. `number`: how
// many pushes came before this one.
struct Push {
  Temp stack, unit;
  index::Expr number;
  index::Condition mask;
};
// result = what the stack holds, folded v = combine(stack[k], v) from the lowest occupied k upwards; an
// empty stack gives the monoid's value over nothing. `count`: how many units were pushed.
struct Fold {
  Temp result, stack;
  index::Expr count;
};
// before(r) = the copies 0..r-1 of `total` along `across`, combined left to right (the identity for
// r = 0), a total with copies along `across`; all: every copy, left to right, without copies.
struct Prefix {
  Temp before, all, total;
  Axis across;
};
enum class Place : std::uint8_t {
  registers,  // an array of its own for each thread (CPU: on the stack)
  scratch,    // one for each block
  memory,
};
// `buffer` (marked `local` in Program::buffers) exists inside `body`, with undefined contents.
struct Scratch {
  Buffer buffer;
  index::Expr count;  // elements; a constant for registers and scratch
  Place place;
  Ref<Stmt> body;
};
// Memory that is wanted soon, to be read or written: one element, which may lie outside the buffer, since
// nothing is touched; or, once for all threads of a block, a run of `count` inside the buffer.
struct Prefetch {
  Buffer buffer;
  index::Expr offset;
  bool written = false;
  index::Expr count = 1;
  index::Condition mask = {};
};
// All threads of the block have arrived. Where two touch an element and one stores, there is one between. In
// a thread loop, which all of them walk, members come to it together and touch nothing of each other's.
struct Sync {};
struct LastBlock {  // body: run by the member of `among` that arrives last; it sees all their stores
  Buffer counter;
  index::Expr offset;  // counter[offset] is 0 before and after
  std::vector<Axis> among;
  Ref<Stmt> body;
};
enum class Routine : std::uint8_t {
  // sizes [n, bound]; operands: 0 order i64[n], 1 starts i64[bound + 1]; slot 0 is a prologue that sets
  // the key (i64) of element p. Afterwards order lists the elements by ascending key, equal keys in
  // ascending position, those with a key outside 0 <= key < bound left out (their places at the end
  // hold -1); starts[k] is the number of elements with a key below k.
  // sizes [n, bound, rows]: so many rows of n elements, p of row p / n, each with keys of its own below
  // bound; the same as of rows * n elements by row * bound + key. No key is outside unless bound is 0.
  // Without operand 1, the starts that nobody asks for: order lists the elements of each row by their offset
  // in it; no key is outside, and bound is at most 2^32. Then there may be a slot 1, an epilogue at (row, p),
  // for each position p of a row, whose element is what order says there; it may store.
  stable_sort,
  // sizes [n, bound, rows]; operands: 0 sums T[rows * bound], T f32 or f64;
  // 1 T[rows * n] and 2 i64[rows * bound] are room for the routine, with contents that nobody knows
  // afterwards. Of element p of a row, slot 0 sets the key (i64), 0 <= key < bound unless bound is 0, and
  // slot 1 the value (T), both at (row, p).
  // Afterwards sums[row * bound + k] is the canonical sum of the row's values with key k, in the order
  // of their p.
  // Of none it is -0.0, which adds nothing.
  sums_by_key,
};
struct Slot {  // `body` runs for place `at`; a prologue sets `element` (a Let in it), an epilogue is given it
  std::vector<Axis> at;
  Temp element;
  Ref<Stmt> body;
};
struct Call {  // the whole body of its nest and program
  Routine routine;
  std::vector<Buffer> operands;
  std::vector<index::Expr> sizes;
  std::vector<Slot> slots;
};
struct CallSizes {  // by name; one row where none are given
  index::Expr n, bound, rows;
};
CallSizes call_sizes(const Call& call);
bool has_starts(const Call& sort);
const Slot* epilogue_of(const Call& call);  // null where there is none
// The operands that say something afterwards; the others are room.
std::span<const Buffer> made_by(const Call& call);
// How far each axis of a slot goes.
std::vector<index::Expr> slot_extents(const Call& call, const Slot& slot);
struct Stmt {
  std::variant<Block, Loop, Let, Index, Store, Start, Accumulate, Scan, Merge, Combine, Push, Fold, Prefix,
               Scratch, Prefetch, Sync, LastBlock, Call>
      node;
};

struct BufferInfo {
  std::string name;  // letters, digits and _; distinct in a program
  ops::DType dtype;
  index::Expr count;  // elements
  bool written = false;
  bool local = false;  // declared by a Scratch; not an argument
  bool streamed = false;  // programs only: vectors are stored past the caches; never loaded
};
struct SizeInfo {
  index::Symbol symbol;
  index::Range range;
  std::int64_t divisor = 1;
  std::optional<std::int64_t> usual =
      {};  // what runs mostly have: decides how fast they are, and nothing else
  friend bool operator==(const SizeInfo&, const SizeInfo&) = default;
};
struct Program {
  std::string name;                 // letters, digits and _
  std::vector<BufferInfo> buffers;  // the arguments in order, then the local ones
  std::vector<SizeInfo> sizes;      // run-time integers, in order
  Ref<Stmt> body;
  // Programs only: of nested thread loops the outermost is the one whose iterations are neighbours, not the
  // innermost.
  bool outermost_fastest = false;
  // A nest that is one contraction (epilogue.h), which a library computes: its loops say what, not how.
  bool library = false;
};
// The call that is the whole body; null where there are loops.
const Call* routine_of(const Program& program);

// Makers, so that passes read well.
Ref<Value> literal(ops::Number value, ops::DType dtype);
Ref<Value> count(index::Expr expr);
Ref<Value> read(Temp temp, int part = 0);
Ref<Value> load(Buffer buffer, index::Expr offset, index::Condition mask, Literal otherwise);
Ref<Value> apply(ops::Pointwise op, std::vector<Ref<Value>> inputs);
Ref<Value> convert(ops::DType to, Ref<Value> input);  // the input itself when type_of() is that type
// The type as far as the value alone tells: nothing where it depends on a Read. Types of rewrite.h
// knows the rest.
std::optional<ops::DType> type_of(const Value& value);
template <class Node>
Ref<Stmt> stmt(Node node);  // of any kind; made in loops.cpp, because the variant is costly to compile
Ref<Stmt> block(std::vector<Ref<Stmt>> stmts);  // flat: blocks in it are opened; one statement stays itself

// Words of the text.
std::string_view name(Bind bind);
std::string_view name(Place place);
constexpr std::initializer_list<Bind> BINDS = {Bind::serial, Bind::unroll, Bind::vector, Bind::thread,
                                               Bind::block};

// Text that parse() reads back; see README.md of this room for the grammar.
std::string print(const Program& program);
std::string print(const Value& value, const Program& program);
Program parse(std::string_view text);

// Bug, with the line of the printed text, where a program breaks the rules above.
enum class Stage : std::uint8_t { nest, program };
void verify(const Program& program, Stage stage);

}  // namespace twinloom::loops
