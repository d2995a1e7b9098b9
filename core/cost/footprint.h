// What a tree of loops reads and writes of memory, and what crosses to a cache. For the inside of this room.
#pragma once

#include <map>
#include <vector>

#include "core/cost/walk.h"

namespace twinloom::cost {

// Iterations of loops that run at the same time as others: a cache that workers share holds what all of them
// touch.
using Together = std::map<std::size_t, double>;  // of Walk::loops: so many iterations of it

// A cache: its size, what it is filled by, and who shares it.
struct Cache {
  double bytes = 0;
  double of_blocks = 1;  // share of it that holds what one block leaves for later ones
  double line_bytes = 64;
  // Lines whose places differ by a multiple of this fall into one set, which holds `ways` of them; 0: never.
  double set_pitch = 0, ways = 8;
  double page_bytes = 4096;
  bool streams = false;     // what is streamed passes by
  bool found_alone = true;  // in a list, neighbours of a place that is found count as lines of their own
  Together together;
  // Bytes that stores move where parts of a line do not meet in the cache before it is written back, by
  // access: those of buffers that it has no room for.
  std::map<std::size_t, double> in_parts;
};

// Bytes that reads and writes move into the cache and out of it, in whole lines.
struct Traffic {
  double read = 0, written = 0;
  double jumping = 0, paging = 0;  // of both: lines without their neighbours; each in another page
};

// One execution of the whole walk. What a loop's iterations touch is read once where the cache holds what one
// iteration touches, and again in each iteration where it does not.
Traffic traffic_of(const Walk& walk, const Cache& cache);

// Bytes of all distinct memory that the walk touches.
double touched_by(const Walk& walk, double line_bytes);

// The same with the whole of each buffer of which only the run knows the places that are looked at.
double held_by(const Walk& walk, double line_bytes);

// Bytes that are stored past the caches.
double streamed_by(const Walk& walk);

}  // namespace twinloom::cost
