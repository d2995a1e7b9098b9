// Totals as text: Start, Merge, Combine, Push, Fold and Prefix. A combine across an unrolled axis is written
// out, across the vector axis it halves the register, across a serial axis it is a loop over memory.
#pragma once

#include <functional>
#include <map>

#include "core/emit/threads.h"
#include "core/emit/values.h"

namespace twinloom::emit {

class Totals {
 public:
  Totals(const loops::Program& program, const Threads& threads, Scopes& scopes, Indices& indices,
         Values& values, const Vectors& vectors, const Dialect& dialect);

  void start(const loops::Start& start);
  void merge(const loops::Merge& merge);
  // Neighbours across one axis with one pairing, for which threads wait together. `span`: threads that
  // execute the statements for the same members of thread loops.
  void combine(const std::vector<loops::Combine>& combines, std::int64_t span);
  // Whether the same accumulators are combined across threads of a warp and right after that across their
  // lanes.
  bool are_scattered(const std::vector<loops::Combine>& threads,
                     const std::vector<loops::Combine>& lanes) const;
  void combine_scattered(const std::vector<loops::Combine>& threads, const std::vector<loops::Combine>& lanes,
                         std::int64_t span);
  void push(const loops::Push& push);
  void fold(const loops::Fold& fold);
  void prefix(const loops::Prefix& prefix);

 private:
  using Parts = std::vector<std::string>;
  using Places = std::map<loops::Axis, std::string>;
  int part_count(const Total& total) const { return ops::parts(total.monoid); }
  ops::DType part_type(const Total& total, int part) const {
    return ops::part_type(total.monoid, total.element, part);
  }
  Parts members(const Total& total, const Places& places, const std::string& slot = {});
  // target = combine(left, right), for all parts; where `mask` is not empty only in its lanes.
  void combine_into(const Total& total, const Parts& target, const Parts& left, const Parts& right, int lanes,
                    const std::string& mask = {});
  // target = fma(factors, target); where `mask` is not empty only in its lanes.
  void add_product(const Total& total, const std::string& target, const Parts& factors,
                   const std::string& mask);
  // The same into new variables.
  void define_combined(const Total& total, const Parts& target, const Parts& left, const Parts& right,
                       int lanes);
  Parts carry(const Total& stack, const Parts& carried, const index::Expr& number);
  void fold_into(const Total& stack, const Parts& names, const index::Expr& number);
  void declare(const Total& total, int level);
  // target = text, for all lanes.
  void assign(const Total& total, const std::string& target, const std::string& text) {
    scopes_.line(vectors_.assignment(target, text, total.lanes));
  }
  void fill_with_identity(const Total& total);
  bool rises(const Total& total, const loops::Merge& merge) const;
  // body(places) for each member of the copies that no loop around walks, but those along `without`.
  void for_each_member(const Total& total, std::optional<loops::Axis> without,
                       const std::function<void(const Places&)>& body);
  // The copies that no loop around walks, but those along `without`.
  std::vector<Total::Copies> walked(const Total& total, std::optional<loops::Axis> without) const;
  bool walks_by_loops(const Total& total) const;
  // How many members an array may have for statements that walk it to be written out, not put into a loop.
  static std::int64_t written_out(const Total& total);
  void combine_copies(Total& total, loops::Axis across, loops::Pairing pairing);
  using Pair = std::function<void(const std::string& at, const std::string& other)>;
  void combine_by_loops(std::int64_t extent, bool halves, const Pair& pair);
  void combine_lanes(Total& total, loops::Temp temp, loops::Pairing pairing);
  using Whole = std::function<Parts(const Total& total, const Parts& own)>;
  void replace_lanes(const Total& total, loops::Temp temp, const Whole& whole);
  Parts scattered(const Total& total, const Parts& own, std::int64_t extent, std::int64_t width);
  std::vector<Parts> half_exchanged(const Total& single, const std::vector<Parts>& lanes,
                                    std::int64_t distance);
  Parts exchanged(const Total& single, const Parts& kept, const Parts& given, std::int64_t distance);
  Parts combined(const Total& single, const Parts& left, const Parts& right);
  Parts halved(const Total& total, Parts parts, loops::Pairing pairing);
  Parts halved_apart(const Total& total, Parts parts, int lanes, bool halves);
  void prefix_copies(const Total& before, const Total& all, const Total& total, loops::Axis across,
                     const Places& places);
  void prefix_threads(const Total& before, const Total& all, const Total& total, const Total::Copies& across,
                      const Places& places, bool again);
  void prefix_warps(const Total& before, const Total& all, const Total& total, std::int64_t extent,
                    const Places& places, bool again);
  void prefix_of_warps(const Total& total, const Parts& target, const Parts& running,
                       const std::string& up_to_here, std::int64_t extent);
  void prefix_lanes(const Total& before, const Total& all, const Total& total, const Places& places);

  // Copies along a thread loop: of one warp by exchange of registers, else through scratch.
  struct Span {
    std::int64_t threads;
    bool again;  // whether scratch is waited for before it is written again (Threads::wait_again)
  };
  using Take = std::function<void(const Total& total, const Parts& own, const Parts& arrays)>;
  void combine_threads(const std::vector<Total*>& totals, const loops::Combine& combine, Span span);
  void tell_others(const Total& total, std::int64_t together, Span span);
  void hand_out(const Total& total, Span span);
  std::string received(const Total& total, int part, const std::string& function, const std::string& own,
                       const std::string& from);
  Parts in_scratch(const Total& total, const Parts& own, std::int64_t threads);
  void through_scratch(const std::vector<const Total*>& totals, Span span, const Take& take);
  void combine_in_warp(const Total& total, std::int64_t extent, std::int64_t width, bool halves);
  void combine_in_block(const std::vector<const Total*>& totals, std::int64_t extent, std::int64_t width,
                        bool halves, bool again);
  void combine_warps(const std::vector<const Total*>& totals, std::int64_t extent, Span span, bool halves);
  void combine_places(const std::vector<const Total*>& totals, std::int64_t extent, std::int64_t places,
                      bool again);
  // How many members a thread takes from scratch, and how they are combined; where each of them lies.
  struct Gathered {
    std::int64_t count;
    loops::Pairing pairing;
  };
  using PlaceOf = std::function<std::string(std::size_t part, std::int64_t at)>;
  void gather(const Total& total, const Parts& own, Gathered of, const PlaceOf& place);
  std::int64_t bytes_in_scratch(const Total& total, std::int64_t threads) const;
  std::string wait(std::int64_t bytes = 0) const;
  void exchange(const Total& total, const Parts& own, std::int64_t extent, std::int64_t width, bool halves);

  const Threads& threads_;
  Scopes& scopes_;
  Indices& indices_;
  Values& values_;
  const Vectors& vectors_;
  const Dialect& dialect_;
  std::map<loops::Axis, loops::Loop> loops_;   // every loop of the program
  std::map<loops::Axis, std::size_t> order_;   // of these, each before those inside it
  std::map<loops::Temp, std::size_t> merges_;  // into an accumulator, before its copies are combined
};

}  // namespace twinloom::emit
