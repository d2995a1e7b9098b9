// What differs between the languages that kernels are written in. Everything else of a kernel's text is
// the emitter's, and calls functions that the device header of each language offers under one name:
//   operators and monoids   as their tables spell them: add(a, b), where(mask, a, b), sum(a, b);
//                           div_by_one(a, b) for a vector divided by one number; where there are no threads
//                           rounded<F>(a) for what is left of an f32 in that format; where lanes are
//                           variables the forms of core/ops/quick.def: quick_exp(rare, a), mended_exp(rare,
//                           a, quick), rare_exp(a), and those of div; where blocks have threads argmax_after
//                           and argmin_after, whose right places come after the left ones, and
//                           rounded_within<T>(a, low, high)
//   index arithmetic        floor_div, floor_mod, least, greatest over i64 and lanes of it; short_div and
//                           short_mod, where both are below 2^31 and not negative; ramp<N>(first, step),
//                           and of any integers ramp_of<N>(first, step);
//                           first_lanes<N>(count), any_lane(mask); last_lanes<N>(count) are all others
//   memory                  load<N>(p), load_first<N>(p, count, otherwise), load_reversed<N>(p),
//                           load_strided<N>(p, stride), load_strided_where<N>(p, stride, mask, otherwise),
//                           gather<N>(p, offsets), gather_where<N>(p, offsets, mask, otherwise);
//                           store(p, v), store_streaming(p, v), stores_done(); store_first(p, count, v),
//                           store_reversed(p, v), store_strided(p, stride, v), store_strided_where(p, stride,
//                           mask, v), scatter(p, offsets, v), scatter_where(p, offsets, mask, v)
//                           load_if<N>(p, active, otherwise): all lanes or none
//                           where blocks have threads load_scratch<N>, store_scratch of what a block shares;
//                           load_apart<N>, store_apart
//                           where p is no multiple; load_packed(p, v0, v1,
//                           ...), load_packed_if(p, active, otherwise, v0, ...), store_packed(p, v0, ...)
//                           where lanes are variables and p is a multiple of what one instruction moves
//                           prefetch<N>(p), prefetch_written<N>(p): N elements, wherever p points
//                           prefetch_run(p, count), where blocks have threads: that many inside their buffer
//                           transpose<N>(to, to_stride, from, from_stride), see transposes()
//                           load_every<N, stride>(p), load_every_first<N, stride>(p, count, otherwise), see
//                           loads_every(); where registers hold several lanes load_where<N>(p, mask,
//                           otherwise), store_where(p, mask, v),
//                           load_parts<N, parts>(p, apart), load_in_turn<N, parts>(p, apart), see Parts
//   atomics                 the same names as store.., with atomic_add_ or atomic_max_ before them; and, of
//                           threads, atomic_add_run for neighbours
//   threads                 from_lane_across(value, bits): of the thread of the warp whose number differs
//                           exchanges.send(place, value, block) into the scratch of a block of the cluster,
//                           exchanges.receive(bytes) of all that are sent, exchanges.meet() of all blocks
//   there lanes             low, high, even, odd: one half of a vector; of two lanes, one element; where they
//   are
//                           variables narrow<F>(a, b, to_a, to_b) of two of them
//   run-time indices        find<N>(value, active, bound, wraps, node, {offset, step}, failure) with .place,
//   .ok
// A mask never lets a function touch memory for a lane outside it.
#pragma once

#include <string>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::emit {

class Dialect {
 public:
  virtual ~Dialect() = default;

  // The lines around the kernel, and how it begins. After the opening lines of its body there is, where
  // blocks have threads, the number `thread` of this one in its block.
  virtual std::string before() const = 0;
  virtual std::string head(const loops::Program& program) const = 0;
  virtual std::vector<std::string> opening(const loops::Program& program) const = 0;
  virtual std::string after() const = 0;
  // Opens the scope of a task of so many blocks, in which `task` is its number.
  virtual std::string task(const std::string& task, std::int64_t blocks) const = 0;
  // What the kernel was handed: a buffer as a pointer to elements of this type, a size, the failure record.
  virtual std::string argument(const std::string& type, ops::DType dtype, std::size_t buffer) const = 0;
  virtual std::string size(std::size_t number, const loops::SizeInfo& info) const = 0;  // of Program::sizes
  // What a launch lets the kernel take for granted of that size.
  virtual index::Range range(const loops::SizeInfo& info) const { return info.range; }
  virtual std::string failure() const = 0;                 // a pointer to the record
  // Whether the pointers that a kernel is handed are multiples of what one instruction moves.
  virtual bool assumes_packed() const = 0;

  // A value of `lanes` elements in registers, and an element in memory.
  virtual std::string type(ops::DType dtype, int lanes) const = 0;
  virtual std::string memory_type(ops::DType dtype) const = 0;
  // A constant of type(dtype, 1); `number` is one that ops::cast gives for the type.
  virtual std::string literal(const ops::Number& number, ops::DType dtype) const = 0;
  // `text` of type(from, lanes) as type(to, lanes).
  virtual std::string converted(ops::DType from, ops::DType to, const std::string& text) const = 0;
  // An element or vector of memory_type as type(), and back.
  virtual std::string loaded(ops::DType dtype, const std::string& text) const = 0;
  virtual std::string stored(ops::DType dtype, const std::string& text) const = 0;

  // The declaration of an array that lives as long as the scope around it.
  virtual std::string array(const std::string& type, const std::string& name, const std::string& count,
                            loops::Place place) const = 0;
  // The same of one that a block's threads share, so many bytes behind the start of the block's scratch.
  virtual std::string block_array(const std::string& type, const std::string& name, const std::string& count,
                                  std::int64_t) const {
    return array(type, name, count, loops::Place::scratch);
  }
  // The head of a loop over 0 <= counter < bound, where the bound is a number only when the kernel runs.
  virtual std::string loop(const std::string& counter, const std::string& bound) const = 0;
  // The line that waits for all threads of a block; nothing where a block has one thread.
  virtual std::string sync() const = 0;
  // Whether a square of so many elements a side is turned over in registers by transpose().
  virtual bool transposes(ops::DType dtype, int count) const = 0;
  // Whether lanes that lie this constant stride apart are loaded by load_every() in place of load_strided().
  virtual bool loads_every(std::int64_t stride, int lanes) const = 0;
  // Whether a register holds several lanes. Where not, a value of several is a variable a lane (vectors.h).
  virtual bool has_vectors() const { return true; }
  // Of a struct of lanes, where they are an array: what stands between its name and their number in brackets.
  virtual std::string lanes_member() const { return {}; }
  // What a routine gives its slots behind their places, with a comma in front: such as where failures are
  // reported.
  virtual std::string slot_parameters() const { return {}; }
  // What stands behind the parameters of a slot, with a space in front: such as that it is written in place.
  virtual std::string slot_attributes() const { return {}; }
  // Whether loops may be bound to threads that share a block.
  virtual bool has_threads() const = 0;
};

}  // namespace twinloom::emit
