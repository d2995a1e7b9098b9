// What schedules of one nest begin from: neighbouring axes walked as one, values kept, and schedules
// resolved. Those that are compared have most of that in common, so that it is made once. For the inside of
// this component.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/schedule/accesses.h"
#include "core/schedule/plan.h"

namespace twinloom::schedule {

// Where walking neighbouring axes as one may leave divisions: nowhere, or in all but what is stored.
enum class Divisions : std::uint8_t { none, loads };

struct KeptArray {
  loops::Buffer buffer;
  std::int64_t count = 0;  // elements of a row, of the longest
  int work = 0;            // that an element is
  int computed = 0;        // of that, what is no load; with conversions
};

// A nest before its axes are split.
struct Form {
  Form(loops::Program made, std::vector<KeptArray> arrays);
  Form(const Form&) = delete;
  Form& operator=(const Form&) = delete;

  loops::Program nest;
  std::vector<KeptArray> kept;  // its last buffers
  loops::Nest shape;            // of it
  index::Facts facts;
  std::vector<const loops::Sibling*> siblings;  // of the shape
  std::vector<Access> accesses;

  // Elements along the axis that one access of so many bytes moves where all that walk it are aligned; at
  // least 1.
  std::int64_t packed_along(const index::Symbol& axis, int vector_bytes) const;

 private:
  mutable std::map<std::pair<index::Symbol, int>, std::int64_t> packed_;  // what was asked for
};

// Not for several threads at once.
class Forms {
 public:
  // The nest must outlive it.
  explicit Forms(const loops::Program& nest);
  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;
  ~Forms();

  const loops::Program& nest() const { return nest_; }
  // As the heuristics choose them.
  const std::vector<steps::Step>& fused(Divisions divisions) const;
  // With these axes fused and so many values kept, or why not.
  std::variant<const Form*, std::string> form(const std::vector<steps::Step>& fused, int kept_values) const;
  // The plan, or why the schedule may not be applied.
  const std::variant<Plan, std::string>& resolved(const Schedule& schedule) const;

 private:
  struct Memo;
  const loops::Program& nest_;
  std::unique_ptr<Memo> memo_;
};

}  // namespace twinloom::schedule
