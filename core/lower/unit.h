// What lowering makes, fusion rewrites and the pipeline compiles: units in an order in which they can
// run, each a nest that becomes one kernel, and the table of the values (buffers) that they read and
// write.
//
//   Lowered := values [parameter | constant | result | temporary], units [nest + arguments]
//
// Always holds: argument k of a unit is the value behind buffer k of its nest; a nest stores no buffer
// that it loads; a unit reads only parameters, constants and what earlier units wrote completely. What a unit
// adds to in memory (Unit::updates) earlier units have written, and nobody reads it before. A
// temporary is written before it is read and dies with its last reader. Run-time integers of a nest
// (Program::sizes) are matched by name: the graph's size symbols, the stride symbols of the layouts,
// and "seed" and "offset" where random numbers are drawn.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/graph/graph.h"
#include "core/loops/loops.h"

namespace twinloom::lower {

using ValueId = Id<struct ValueTag>;

// Whose memory a value lies in.
enum class Storage : std::uint8_t {
  parameter,  // the caller's tensor; never written
  constant,   // an array of the graph
  result,     // what the caller gets
  temporary,  // between kernels
};

// A value that has memory of its own.
struct Value {
  Storage storage = Storage::temporary;
  std::string name;        // of the buffer in every nest: in0, const2, out1, temp7
  graph::NodeId node;      // that it holds; of parts of a scatter, the Scatter
  int parameter = -1;      // of parameter: its place in Graph::parameters()
  int result = -1;         // of result: its place in Graph::results(), own; -1: only views of it are
  graph::Content content;  // of constant: row-major
  bool row_major = false;  // of result: views of it need its elements in this order, without gaps
  bool barrier =
      false;  // its writer and readers stay kernels of their own: the user's Realize, or for a library
  ops::DType dtype = ops::DType::f32;
  graph::Shape shape;
  std::vector<index::Expr> strides;  // in elements, one for each size
  index::Expr count;                 // elements of memory from the lowest to the highest, inclusive
};

struct Unit {
  loops::Program nest;
  std::vector<ValueId> arguments;    // one for each buffer of the nest, in order
  std::vector<graph::NodeId> nodes;  // of the graph that it computes, ascending: for errors and `explain`
  std::vector<ValueId> updates = {};  // arguments that it adds to by atomic stores, ascending
};

struct Lowered {
  std::vector<Value> values;
  std::vector<Unit> units;
  index::Facts facts;  // about size and stride symbols

  const Value& operator[](ValueId id) const { return values[id.index]; }
};

// Strides of the tensors handed in, by parameter; one that is not named is row-major. A stride is a
// number or an expression of symbols ("st0", ...) that the run binds.
using Layouts = std::map<int, std::vector<index::Expr>>;

// What a device has besides loops.
struct Routines {
  bool sums_by_key = false;  // a row by one worker
  bool long_keys = false;    // a sort by keys of up to 32 bits, whose first places nobody asks for
  bool atomics = false;      // floats are added in memory, in whatever order that happens
  std::int64_t workers = 1;  // that share the rows
  // Whether a library computes a nest that is a contraction: what it makes then lies as that likes it best.
  // Null: there is no library.
  std::function<bool(const loops::Program& nest)> has_library_call = {};
  double least_products = 0;                           // of such a nest
  std::function<bool(ops::DType)> library_takes = {};  // factors of this type of 16 or 8 bits as they are
};

// What must run before each unit, by unit: the writers of what it reads. Ascending.
std::vector<std::vector<std::size_t>> dependencies(const Lowered& lowered);

// Bug where the table above is broken.
void verify(const Lowered& lowered);

std::string print(const Lowered& lowered);

}  // namespace twinloom::lower
