// See forms.h.
#include "core/schedule/forms.h"

#include <algorithm>
#include <list>
#include <optional>

#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/schedule/heuristics.h"
#include "core/schedule/reuse.h"

namespace twinloom::schedule {

Form::Form(loops::Program made, std::vector<KeptArray> arrays)
    : nest(std::move(made)),
      kept(std::move(arrays)),
      shape(loops::take_apart(nest)),
      facts(loops::facts_of(nest)),
      siblings(siblings_of(shape)),
      accesses(accesses_of(nest, shape)) {}

namespace {

// Whether so many iterations from a multiple of their number on lie beside each other, the first of them at a
// multiple too.
bool are_neighbours(const Form& form, const Access& access, const index::Symbol& axis, std::int64_t lanes) {
  const auto runs = runs_along(access.offset, axis, lanes, form.facts);
  return runs && runs->stride == index::Expr(1) && runs->facts.proves_equal(floor_mod(runs->first, lanes), 0);
}

std::int64_t packed_in(const Form& form, const index::Symbol& axis, int vector_bytes) {
  std::vector<const Access*> neighbours;
  int widest = 0;
  for (const Access& access : form.accesses) {
    if (access.local) continue;
    if (stride_along(access, axis) != 1 && !are_neighbours(form, access, axis, 2)) continue;
    neighbours.push_back(&access);
    widest = std::max(widest, access.bytes);
  }
  if (widest == 0) return 1;
  // A load beside one of the same buffer, as of a stencil, finds its elements in the cache, one by one.
  const auto is_shifted = [&](const Access& access, std::int64_t lanes) {
    return !access.store && std::ranges::any_of(neighbours, [&](const Access* other) {
      return !other->store && other->buffer == access.buffer && are_neighbours(form, *other, axis, lanes) &&
             index::constant_of(index::simplify(other->offset - access.offset, form.facts));
    });
  };
  const auto are_packed = [&](std::int64_t lanes) {
    return std::ranges::all_of(neighbours, [&](const Access* access) {
      return are_neighbours(form, *access, axis, lanes) ||
             (stride_along(*access, axis) == 1 && is_shifted(*access, lanes));
    });
  };
  std::int64_t lanes = std::max<std::int64_t>(1, vector_bytes / widest);
  while (lanes > 1 && !are_packed(lanes)) lanes /= 2;
  return lanes;
}

}  // namespace

std::int64_t Form::packed_along(const index::Symbol& axis, int vector_bytes) const {
  const auto [known, fresh] = packed_.try_emplace({axis, vector_bytes}, 0);
  if (fresh) known->second = packed_in(*this, axis, vector_bytes);
  return known->second;
}

namespace {

bool is_fuse(const steps::Step& step) { return std::holds_alternative<steps::Fuse>(step.node); }

// The forms of one choice of fused axes: with no value kept, with one, ...
struct Chain {
  std::vector<steps::Step> fused;
  std::list<Form> forms;
  bool is_whole = false;  // nothing more can be kept
};

}  // namespace

struct Forms::Memo {
  std::map<Divisions, std::vector<steps::Step>> chosen;
  std::list<Chain> chains;
  std::list<std::pair<Schedule, std::variant<Plan, std::string>>> resolved;

  Chain* chain_of(const std::vector<steps::Step>& fused) {
    const auto known = std::ranges::find(chains, fused, &Chain::fused);
    return known == chains.end() ? nullptr : &*known;
  }
  Chain& begin(std::vector<steps::Step> fused, loops::Program nest) {
    Chain& chain = chains.emplace_back();
    chain.fused = std::move(fused);
    chain.forms.emplace_back(std::move(nest), std::vector<KeptArray>());
    return chain;
  }
};

Forms::Forms(const loops::Program& nest) : nest_(nest), memo_(std::make_unique<Memo>()) {}
Forms::~Forms() = default;

const std::vector<steps::Step>& Forms::fused(Divisions divisions) const {
  const auto [known, fresh] = memo_->chosen.try_emplace(divisions);
  if (fresh) {
    FusedAxes made = choose_fused_axes(nest_, divisions);
    known->second = made.steps;
    if (memo_->chain_of(made.steps) == nullptr) memo_->begin(std::move(made.steps), std::move(made.nest));
  }
  return known->second;
}

std::variant<const Form*, std::string> Forms::form(const std::vector<steps::Step>& fused,
                                                   int kept_values) const {
  if (kept_values < 0) return cat("values ", kept_values, ": a count of values is 0 or more");
  Chain* chain = memo_->chain_of(fused);
  if (chain == nullptr) {
    if (!std::ranges::all_of(fused, &is_fuse)) return "only fuse stands before splits and loops of siblings";
    auto made = steps::apply(steps::kernel_of(nest_), fused);
    if (auto* reason = std::get_if<std::string>(&made)) return std::move(*reason);
    chain = &memo_->begin(fused, std::get<steps::Kernel>(std::move(made)).program);
  }
  const auto wanted = static_cast<std::size_t>(kept_values) + 1;
  while (chain->forms.size() < wanted && !chain->is_whole) {
    const Form& last = chain->forms.back();
    auto next = keep_value(last.nest);
    chain->is_whole = !next;
    if (!next) break;
    std::vector<KeptArray> kept = last.kept;
    kept.push_back({next->array, next->count, next->work, next->computed});
    chain->forms.emplace_back(std::move(next->nest), std::move(kept));
  }
  if (chain->forms.size() < wanted)
    return cat("values ", kept_values, ": only ", chain->forms.size() - 1, " are computed twice");
  return &*std::next(chain->forms.begin(), kept_values);
}

const std::variant<Plan, std::string>& Forms::resolved(const Schedule& schedule) const {
  auto& all = memo_->resolved;
  const auto known =
      std::ranges::find(all, schedule, [](const auto& one) -> const Schedule& { return one.first; });
  return known != all.end() ? known->second : all.emplace_back(schedule, resolve(*this, schedule)).second;
}

}  // namespace twinloom::schedule
