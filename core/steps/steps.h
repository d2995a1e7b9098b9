// Schedule steps: each maps a kernel to a kernel, or refuses in words. A kernel is a nest on its way to a
// program: a tree of loops and statements in which Accumulates may stand anywhere below the Start of their
// accumulator.
//
//   split k 256 clip                      one loop into several: k.0 (steps of 256) and k.1; of a remainder
//                                         also k.0t (none or one iteration) and k.1_1
//   fuse i, j as r                        neighbouring loops walked as one
//   reorder i.0, j.0, k.0, j.1, i.1, k.1  the loops in this order; an accumulator that loses its scope gets
//                                         a copy for each iteration of what it loses
//   cache b at j.1 in scratch             what the iteration of j.1 loads of b is copied into an array
//   before,
//                                         by the loops that read it, or "filled by u, v pad 1" by loops of
//                                         these names
//   cache y at i.0 in scratch filled by u
//                                         what atomics of an iteration of i.0 add to y is added up in an
//                                         array, which loops like those that fill it add to y behind the
//                                         iteration
//   cache t3 at i.1 in registers          an accumulator of its own for each iteration of i.1, added to t3
//                                         behind it
//   store_at s at i.0 in scratch          the array s holds what an iteration of i.0 stores to it, no longer
//                                         that of a loop inside
//   distribute i.1                        a loop around each group of statements that use no value of
//                                         another, in place of one around all: i.1, i.1_1, i.1_2
//   bind j.2 vector                       what walks the loop
//
// Loops are named by their axes, buffers by their names, accumulators as the printed nest shows them. Each
// step has a file of its own, and a row in steps.cpp. Every kernel on the way has the meaning of the nest;
// lower_reductions() then decides nothing: it writes out how the accumulators are reached.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/scanner.h"
#include "core/base/text.h"
#include "core/loops/loops.h"

namespace twinloom::steps {

// Of a factor, a count or a sibling in the text of a schedule: products of two fit 64 bits, and no block,
// part or unit that a machine runs is larger.
constexpr std::int64_t MOST_NUMBER = std::int64_t{1} << 30;

enum class Tail : std::uint8_t {
  exact,      // every factor divides what it splits
  mask,       // loads, stores and accumulations past the end do nothing
  clip,       // each loop ends where the axis ends
  remainder,  // a loop of full iterations without masks, then one masked iteration for what is left
};

constexpr std::initializer_list<Tail> TAILS = {Tail::exact, Tail::mask, Tail::remainder, Tail::clip};
std::string_view name(Tail tail);

struct Split {
  std::string loop;
  std::vector<std::int64_t>
      factors;  // steps of all new loops but the last, falling, each a multiple of the next
  Tail tail = Tail::exact;
  friend bool operator==(const Split&, const Split&) = default;
};
struct Fuse {
  std::vector<std::string> loops;  // each the only statement in the one before, outermost first
  std::string name;                // of the one loop
  friend bool operator==(const Fuse&, const Fuse&) = default;
};
struct Reorder {
  std::vector<std::string> loops;  // on one path of the tree, in their new order
  friend bool operator==(const Reorder&, const Reorder&) = default;
};
struct Cache {
  std::string what;  // a buffer that is only loaded, or updated by atomics; or an accumulator in any order
  std::string at;    // the loop each of whose iterations has its own copy
  loops::Place place = loops::Place::scratch;
  std::vector<std::string> fill =
      {};                // names of the loops that fill it; none: those of the loops that read it
  std::int64_t pad = 0;  // elements after each row of the array
  friend bool operator==(const Cache&, const Cache&) = default;
};
struct StoreAt {
  std::string what;  // an array of the kernel
  std::string at;    // the loop each of whose iterations has its own
  loops::Place place = loops::Place::scratch;
  friend bool operator==(const StoreAt&, const StoreAt&) = default;
};
struct Distribute {
  std::string loop;
  friend bool operator==(const Distribute&, const Distribute&) = default;
};
struct BindLoop {
  std::string loop;
  loops::Bind bind = loops::Bind::serial;
  friend bool operator==(const BindLoop&, const BindLoop&) = default;
};
struct Step {
  std::variant<Split, Fuse, Reorder, Cache, StoreAt, Distribute, BindLoop> node;
  friend bool operator==(const Step&, const Step&) = default;
};

// A nest on its way to a program, and what is known of its symbols.
struct Kernel {
  loops::Program program;
  index::Facts facts;
};
Kernel kernel_of(const loops::Program& nest);

// The kernel after the step, or why the step may not be applied to it.
std::variant<Kernel, std::string> apply(const Kernel& kernel, const Step& step);
// After all of them; the reason begins with the step that refuses.
std::variant<Kernel, std::string> apply(const Kernel& kernel, const std::vector<Step>& steps);

// Every Accumulate becomes what a program reaches its accumulator by, or why that cannot be done; expressions
// are simplified.
enum class Proofs : std::uint8_t {
  wanted,  // that the loops walk the canonical tree, and that threads meet where they wait for each other
  given,   // the law of core/schedule has shown it
};
std::variant<Kernel, std::string> lower_reductions(Kernel kernel, Proofs proofs = Proofs::wanted);
// The threads of a block wait for each other where they share an array, or why they cannot.
std::variant<Kernel, std::string> place_barriers(const Kernel& kernel);

// One line, without its end.
std::string print(const Step& step);
// Reads what follows the first word of a step, one of words().
std::vector<std::string_view> words();
Step parse(std::string_view word, Scanner& scanner);

}  // namespace twinloom::steps
