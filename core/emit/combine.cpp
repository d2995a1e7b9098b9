// Copies of a total made one: the part of Totals that has Combine.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/emit/spelling.h"
#include "core/emit/totals.h"

namespace twinloom::emit {

namespace {

// How far apart those are that a step of 1, 2, 4, ... combines: half the members at first, or one.
std::int64_t distance_at(std::int64_t step, std::int64_t extent, bool halves) {
  return halves ? extent / (2 * step) : step;
}

auto copies_of_threads(Total& total, loops::Axis across) {
  return std::ranges::find(total.of_threads, across, &Total::Copies::axis);
}

}  // namespace

std::int64_t Totals::written_out(const Total& total) { return total.in_memory ? 4 : 32; }

void Totals::combine(const std::vector<loops::Combine>& combines, std::int64_t span) {
  const loops::Combine& first = combines.front();
  std::vector<Total*> of_threads;
  bool again = false;
  for (const loops::Combine& combine : combines) {
    CHECK(combine.across == first.across && combine.pairing == first.pairing, "totals combined across ",
          first.across, " and ", combine.across, " together");
    Total& total = values_.total(combine.total);
    if (total.across == combine.across) {
      combine_lanes(total, combine.total, combine.pairing);
    } else if (copies_of_threads(total, combine.across) != total.of_threads.end()) {
      of_threads.push_back(&total);
      again |= threads_.wait_again(combine.total, combine.across);
    } else {
      combine_copies(total, combine.across, combine.pairing);
    }
  }
  if (!of_threads.empty()) combine_threads(of_threads, first, {span, again});
  for (const loops::Combine& combine : combines) scopes_.forget({.buffer = {}, .total = combine.total});
}

// halves: l and l + h, with h falling; neighbours: l and l + s for the l that 2s divides, with s rising.
// Either way member 0 has the whole in the end.
void Totals::combine_copies(Total& total, loops::Axis across, loops::Pairing pairing) {
  const auto copies = std::find_if(total.copies.begin(), total.copies.end(),
                                   [&](const Total::Copies& of) { return of.axis == across; });
  CHECK(copies != total.copies.end(), "combine across ", across, ", along which there are no copies");
  const std::int64_t extent = copies->extent;
  CHECK(is_power_of_two(extent), "combine across ", extent, " copies");
  const bool halves = pairing == loops::Pairing::halves;
  for_each_member(total, across, [&](Places places) {
    const auto pair = [&](const std::string& at, const std::string& other) {
      places[across] = at;
      const Parts left = members(total, places);
      places[across] = other;
      combine_into(total, left, left, members(total, places), total.lanes);
    };
    if (extent > written_out(total)) return combine_by_loops(extent, halves, pair);
    for (std::int64_t step = 1; step < extent; step *= 2) {
      const std::int64_t distance = distance_at(step, extent, halves);
      const std::int64_t pairs = extent / (2 * step);
      const std::int64_t apart = halves ? 1 : 2 * step;
      for (std::int64_t at = 0; at < pairs; ++at) pair(cat(at * apart), cat(at * apart + distance));
    }
  });
  copies->combined = true;
}

void Totals::combine_by_loops(std::int64_t extent, bool halves, const Pair& pair) {
  const std::string step = scopes_.fresh("k");
  const std::string at = scopes_.fresh("k");
  scopes_.open();
  scopes_.open();
  pair(at, cat("(", at, " + ", step, ")"));
  if (halves) {
    scopes_.close(counted(at, step), "}");
    scopes_.close(cat("for (i64 ", step, " = ", extent / 2, "; ", step, " > 0; ", step, " /= 2) {"), "}");
  } else {
    scopes_.close(cat("for (i64 ", at, " = 0; ", at, " < ", extent, "; ", at, " += 2 * ", step, ") {"), "}");
    scopes_.close(cat("for (i64 ", step, " = 1; ", step, " < ", extent, "; ", step, " *= 2) {"), "}");
  }
}

void Totals::combine_threads(const std::vector<Total*>& totals, const loops::Combine& combine, Span span) {
  const std::int64_t extent = copies_of_threads(*totals.front(), combine.across)->extent;
  const std::int64_t width = threads_.width(combine.across);
  const bool halves = combine.pairing == loops::Pairing::halves;
  CHECK(is_power_of_two(extent) && is_power_of_two(width), "combine across ", extent, " members of ", width,
        " threads");
  if (extent * width <= WARP_THREADS)
    for (const Total* total : totals) combine_in_warp(*total, extent, width, halves);
  else
    combine_in_block({totals.begin(), totals.end()}, extent, width, halves, span.again);
  for (Total* total : totals) {
    total->of_threads.erase(copies_of_threads(*total, combine.across));
    tell_others(*total, extent * width, span);
  }
}

// Those threads of so many that have no part in the accumulator which so many have together.
void Totals::tell_others(const Total& total, std::int64_t together, Span span) {
  if (threads_.outermost_fastest()) return;  // all threads of an iteration of the loop around have the whole
  std::int64_t told = span.threads;
  for (const Total::Copies& left : total.of_threads) told = std::min(told, threads_.width(left.axis));
  if (together != told) hand_out(total, {told, span.again});
}

// What the first thread of so many has, for those too that are no member of the loop. Threads that are
// members of another loop along which there are copies still have totals of their own.
void Totals::hand_out(const Total& total, Span span) {
  CHECK(is_power_of_two(span.threads), "a total for ", span.threads, " threads");
  if (span.threads > WARP_THREADS) {
    const auto take = [&](const Total&, const Parts& own, const Parts& arrays) {
      for (std::size_t part = 0; part < own.size(); ++part)
        assign(total, own[part],
               vectors_.lanes_of(cat(arrays[part], "[thread / ", span.threads, "]"), total.lanes));
    };
    return through_scratch({&total}, span, take);
  }
  const std::string from =
      cat(", int(thread % ", WARP_THREADS, " / ", span.threads, " * ", span.threads, "))");
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts own = members(total, places);
    for (int part = 0; part < part_count(total); ++part) {
      const std::string& name = own[static_cast<std::size_t>(part)];
      assign(total, name, received(total, part, "from_lane(", name, from));
    }
  });
}

// What a function that exchanges registers of a warp gives: words, of which small lanes share one.
std::string Totals::received(const Total& total, int part, const std::string& function,
                             const std::string& own, const std::string& from) {
  const ops::DType dtype = part_type(total, part);
  if (!vectors_.apart(total.lanes) || ops::size_of(dtype) >= 4) return cat(function, own, from);
  const std::string name = scopes_.fresh("t");
  const std::string whole = vectors_.whole(own, dialect_.type(dtype, 1), total.lanes);
  scopes_.line(
      cat("const ", dialect_.type(dtype, total.lanes), " ", name, " = ", function, whole, from, ";"));
  return vectors_.lanes_of(name, total.lanes);
}

// Arrays with what the first of every so many threads has, to be waited for.
Totals::Parts Totals::in_scratch(const Total& total, const Parts& own, std::int64_t threads) {
  Parts arrays;
  for (int part = 0; part < part_count(total); ++part) {
    arrays.push_back(scopes_.fresh("t"));
    scopes_.line(dialect_.array(dialect_.type(part_type(total, part), total.lanes), arrays.back(),
                                cat(threads_.count() / threads), loops::Place::scratch));
  }
  for (std::size_t part = 0; part < arrays.size(); ++part) {
    const std::string place = cat(arrays[part], threads == 1 ? "[thread]" : cat("[thread / ", threads, "]"));
    const std::string first = threads == 1 ? "" : cat("if (thread % ", threads, " == 0) ");
    if (!threads_.are_of_cluster()) {
      scopes_.line(
          cat(first, vectors_.assignment(vectors_.lanes_of(place, total.lanes), own[part], total.lanes)));
      continue;
    }
    CHECK(total.lanes == 1 && ops::size_of(part_type(total, static_cast<int>(part))) >= 4,
          "blocks exchange words, not vectors or parts of words");
    scopes_.line(cat(first, "for (int block = 0; block < ", threads_.shape().blocks,
                     "; ++block) exchanges.send(&", place, ", ", own[part], ", block);"));
  }
  return arrays;
}

std::int64_t Totals::bytes_in_scratch(const Total& total, std::int64_t threads) const {
  std::int64_t bytes = 0;
  for (int part = 0; part < part_count(total); ++part) bytes += ops::size_of(part_type(total, part));
  return bytes * (threads_.count() / threads);
}

// For what was put into scratch, so many bytes; or, where it was none, for those that still read it.
std::string Totals::wait(std::int64_t bytes) const {
  if (!threads_.are_of_cluster()) return dialect_.sync();
  return bytes > 0 ? cat("exchanges.receive(", bytes, ");") : "exchanges.meet();";
}

// take(total, own, arrays) for each member of the totals, where the arrays hold what the first of every so
// many threads has. One wait serves all; members that a loop of the text walks wait in each of its turns.
void Totals::through_scratch(const std::vector<const Total*>& totals, Span span, const Take& take) {
  struct Member {
    const Total* total;
    Parts own, arrays;
  };
  std::vector<Member> together;
  std::int64_t bytes = 0;
  for (const Total* total : totals) {
    const bool in_turns = walks_by_loops(*total);
    for_each_member(*total, std::nullopt, [&](const Places& places) {
      const Parts own = members(*total, places);
      const Parts arrays = in_scratch(*total, own, span.threads);
      const std::int64_t put = bytes_in_scratch(*total, span.threads);
      bytes += in_turns ? 0 : put;
      if (!in_turns) return together.push_back({total, own, arrays});
      scopes_.line(wait(put));
      take(*total, own, arrays);
      scopes_.line(wait());
    });
  }
  if (together.empty()) return;
  scopes_.line(wait(bytes));
  for (const auto& [total, own, arrays] : together) take(*total, own, arrays);
  if (span.again) scopes_.line(wait());
}

// Member l is combined with member l ^ step, so that in the end each has the whole: the combine of two totals
// does not depend on which is left.
void Totals::combine_in_warp(const Total& total, std::int64_t extent, std::int64_t width, bool halves) {
  for_each_member(total, std::nullopt, [&](const Places& places) {
    exchange(total, members(total, places), extent, width, halves);
  });
}

void Totals::exchange(const Total& total, const Parts& own, std::int64_t extent, std::int64_t width,
                      bool halves) {
  for (std::int64_t step = 1; step < extent; step *= 2) {
    const std::int64_t distance = distance_at(step, extent, halves);
    Parts other;
    for (int part = 0; part < part_count(total); ++part) {
      other.push_back(vectors_.variable(scopes_.fresh("t"), total.lanes));
      const std::string text = received(total, part, "from_lane_across(", own[static_cast<std::size_t>(part)],
                                        cat(", ", distance * width, ")"));
      scopes_.line(vectors_.definition(part_type(total, part), other.back(), text, total.lanes));
    }
    combine_into(total, own, own, other, total.lanes);
  }
}

// Members of less than a warp: neighbours are combined within the warps first, halves within them at last.
// Iterations whose threads have accumulators of their own meet at their places.
void Totals::combine_in_block(const std::vector<const Total*>& totals, std::int64_t extent,
                              std::int64_t width, bool halves, bool again) {
  const std::int64_t of_warp = width < WARP_THREADS ? WARP_THREADS / width : 1;
  const auto within_warps = [&] {
    for (const Total* total : totals) combine_in_warp(*total, of_warp, width, halves);
  };
  if (threads_.outermost_fastest() || (of_warp > 1 && halves)) {
    CHECK(halves, "neighbours among threads far apart");
    combine_places(totals, extent / of_warp, std::max(width, WARP_THREADS), again);
    within_warps();
  } else {
    if (of_warp > 1) within_warps();
    combine_warps(totals, extent / of_warp, {std::max(width, WARP_THREADS), again}, halves);
  }
}

// Through scratch: every warp takes what the first threads of so many members have, a member a lane, and
// combines them as its own. Of the warps of several blocks a lane takes several: neighbours, or those that
// lie apart by halves.
void Totals::combine_warps(const std::vector<const Total*>& totals, std::int64_t extent, Span span,
                           bool halves) {
  const std::int64_t lanes = std::min(extent, WARP_THREADS), each = extent / lanes;
  const std::int64_t threads = span.threads * extent;
  const std::string row = threads == threads_.count() ? "" : cat("thread / ", threads, " * ", extent, " + ");
  const auto number = [&](std::int64_t at) {
    const std::string lane = cat("thread % ", lanes);
    if (each == 1) return lane;
    return halves ? cat(lane, " + ", at * lanes) : cat(lane, " * ", each, " + ", at);
  };
  through_scratch(totals, span, [&](const Total& total, const Parts& own, const Parts& arrays) {
    const auto place = [&](std::size_t part, std::int64_t at) {
      return vectors_.lanes_of(cat(arrays[part], "[", row, number(at), "]"), total.lanes);
    };
    if (each == 1)
      for (std::size_t part = 0; part < own.size(); ++part) assign(total, own[part], place(part, 0));
    else
      gather(total, own, {each, halves ? loops::Pairing::halves : loops::Pairing::neighbours}, place);
    exchange(total, own, lanes, 1, halves);
  });
}

// own = so many members, each from its place, combined.
void Totals::gather(const Total& total, const Parts& own, Gathered of, const PlaceOf& place) {
  const loops::Axis member("member");
  Total gathered = total;
  gathered.copies = {{member, of.count}};
  gathered.of_threads.clear();
  const int number = scopes_.next_number();
  for (std::size_t part = 0; part < own.size(); ++part)
    gathered.names[part] = cat("t", number, part == 0 ? "" : "_place");
  declare(gathered, scopes_.level());
  for (std::int64_t at = 0; at < of.count; ++at) {
    const Parts target = members(gathered, {{member, cat(at)}});
    for (std::size_t part = 0; part < own.size(); ++part) assign(total, target[part], place(part, at));
  }
  combine_copies(gathered, member, of.pairing);
  const Parts whole = members(gathered, {{member, "0"}});
  for (std::size_t part = 0; part < own.size(); ++part) assign(total, own[part], whole[part]);
}

// Through scratch, from which every thread takes what the threads at its place in so many rows of `places`
// threads have, whole warps, and combines them by halves.
void Totals::combine_places(const std::vector<const Total*>& totals, std::int64_t extent, std::int64_t places,
                            bool again) {
  const std::int64_t threads = places * extent;
  through_scratch(totals, {1, again}, [&](const Total& total, const Parts& own, const Parts& arrays) {
    gather(total, own, {extent, loops::Pairing::halves}, [&](std::size_t part, std::int64_t at) {
      return vectors_.lanes_of(cat(arrays[part], "[thread / ", threads, " * ", threads, " + ", at * places,
                                   " + thread % ", places, "]"),
                               total.lanes);
    });
  });
}

// The same where lanes are apart: lane i and the one it is combined with.
Totals::Parts Totals::halved_apart(const Total& total, Parts parts, int lanes, bool halves) {
  Parts all;
  for (int part = 0; part < part_count(total); ++part)
    all.push_back(vectors_.variable(scopes_.fresh("t"), lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    Parts left, right, target;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      left.push_back(of_lane(parts[part], halves ? lane : 2 * lane));
      right.push_back(of_lane(parts[part], halves ? lane + lanes : 2 * lane + 1));
      target.push_back(of_lane(all[part], lane));
    }
    define_combined(total, target, left, right, 1);
  }
  return all;
}

// One register to one element: each step combines its two halves.
Totals::Parts Totals::halved(const Total& total, Parts parts, loops::Pairing pairing) {
  const bool halves = pairing == loops::Pairing::halves;
  for (int lanes = total.lanes / 2; lanes >= 1; lanes /= 2) {
    if (vectors_.apart(total.lanes)) {
      parts = halved_apart(total, parts, lanes, halves);
      continue;
    }
    Parts left, right, target;
    for (int part = 0; part < part_count(total); ++part) {
      const auto at = static_cast<std::size_t>(part);
      left.push_back(cat(halves ? "low(" : "even(", parts[at], ")"));
      right.push_back(cat(halves ? "high(" : "odd(", parts[at], ")"));
      target.push_back(scopes_.fresh("t"));
    }
    define_combined(total, target, left, right, lanes);
    parts = target;
  }
  return parts;
}

void Totals::combine_lanes(Total& total, loops::Temp temp, loops::Pairing pairing) {
  replace_lanes(total, temp, [&](const Total& many, const Parts& own) { return halved(many, own, pairing); });
}

// By a total of one element, each member of it what whole() makes of a register.
void Totals::replace_lanes(const Total& total, loops::Temp temp, const Whole& whole_of) {
  Total single = total;
  single.lanes = 1;
  single.across.reset();
  std::erase_if(single.copies, [](const Total::Copies& copies) { return copies.combined; });
  const int number = scopes_.next_number();
  for (int part = 0; part < part_count(total); ++part)
    single.names[static_cast<std::size_t>(part)] = cat("t", number, part == 0 ? "" : "_place");
  declare(single, total.level);
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts whole = whole_of(total, members(total, places));
    const Parts target = members(single, places);
    for (std::size_t part = 0; part < target.size(); ++part) assign(single, target[part], whole[part]);
  });
  values_.set_total(temp, std::move(single));
}

}  // namespace twinloom::emit
