// The steps as rows: how each is read, printed and applied. See steps.h.
#include "core/steps/steps.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/match.h"
#include "core/loops/nest.h"
#include "core/steps/rows.h"

namespace twinloom::steps {

namespace {

constexpr std::initializer_list<loops::Place> PLACES = {loops::Place::registers, loops::Place::scratch};

Step read_split(Scanner& scanner) {
  Split split{scanner.word(), {}, Tail::exact};
  split.factors = read_list<std::int64_t>(scanner, [&] { return scanner.integer_up_to(MOST_NUMBER); });
  split.tail = read_one_of(scanner, TAILS);
  return {std::move(split)};
}

Step read_fuse(Scanner& scanner) {
  Fuse fuse{read_list<std::string>(scanner, [&] { return scanner.word(); }), {}};
  scanner.expect("as");
  fuse.name = scanner.word();
  return {std::move(fuse)};
}

Step read_reorder(Scanner& scanner) {
  return {Reorder{read_list<std::string>(scanner, [&] { return scanner.word(); })}};
}

// NAME at LOOP in PLACE.
template <class Stored>
Stored read_stored(Scanner& scanner) {
  Stored stored;
  stored.what = scanner.word();
  scanner.expect("at");
  stored.at = scanner.word();
  scanner.expect("in");
  stored.place = read_one_of(scanner, PLACES);
  return stored;
}

Step read_cache(Scanner& scanner) {
  Cache cache = read_stored<Cache>(scanner);
  if (scanner.accept("filled")) {
    scanner.expect("by");
    cache.fill = read_list<std::string>(scanner, [&] { return scanner.word(); });
  }
  if (scanner.accept("pad")) cache.pad = scanner.integer_up_to(MOST_NUMBER);
  return {std::move(cache)};
}

Step read_store_at(Scanner& scanner) { return {read_stored<StoreAt>(scanner)}; }

Step read_distribute(Scanner& scanner) { return {Distribute{scanner.word()}}; }

Step read_bind(Scanner& scanner) {
  BindLoop bind{scanner.word(), loops::Bind::serial};
  bind.bind = read_one_of(scanner, loops::BINDS);
  return {std::move(bind)};
}

struct Row {
  std::string_view word;
  Step (*read)(Scanner& scanner);
};
constexpr std::array<Row, std::variant_size_v<decltype(Step::node)>> ROWS = {{{"split", read_split},
                                                                              {"fuse", read_fuse},
                                                                              {"reorder", read_reorder},
                                                                              {"cache", read_cache},
                                                                              {"store_at", read_store_at},
                                                                              {"distribute", read_distribute},
                                                                              {"bind", read_bind}}};

}  // namespace

std::string_view name(Tail tail) {
  constexpr std::array<std::string_view, 4> NAMES = {"exact", "mask", "clip", "remainder"};
  return NAMES.at(static_cast<std::size_t>(tail));
}

Kernel kernel_of(const loops::Program& nest) { return {nest, loops::facts_of(nest)}; }

Result apply(const Kernel& kernel, const Step& step) {
  return match(
      step, [&](const Split& split) { return apply_split(kernel, split); },
      [&](const Fuse& fuse) { return apply_fuse(kernel, fuse); },
      [&](const Reorder& reorder) { return apply_reorder(kernel, reorder); },
      [&](const Cache& cache) { return apply_cache(kernel, cache); },
      [&](const StoreAt& store) { return apply_store_at(kernel, store); },
      [&](const Distribute& distribute) { return apply_distribute(kernel, distribute); },
      [&](const BindLoop& bind) { return apply_bind(kernel, bind); });
}

Result apply(const Kernel& kernel, const std::vector<Step>& steps) {
  Kernel now = kernel;
  for (const Step& step : steps) {
    Result next = apply(now, step);
    if (const auto* reason = std::get_if<std::string>(&next)) return cat(print(step), ": ", *reason);
    now = std::get<Kernel>(std::move(next));
  }
  return now;
}

std::string print(const Step& step) {
  const auto same = [](const auto& item) { return cat(item); };
  const std::string rest = match(
      step,
      [&](const Split& split) {
        return cat(split.loop, " ", join(split.factors, ", ", same), " ", name(split.tail));
      },
      [&](const Fuse& fuse) { return cat(join(fuse.loops, ", ", same), " as ", fuse.name); },
      [&](const Reorder& reorder) { return join(reorder.loops, ", ", same); },
      [&](const Cache& cache) {
        return cat(cache.what, " at ", cache.at, " in ", name(cache.place),
                   cache.fill.empty() ? "" : " filled by ", join(cache.fill, ", ", same),
                   cache.pad == 0 ? "" : cat(" pad ", cache.pad));
      },
      [&](const StoreAt& store) { return cat(store.what, " at ", store.at, " in ", name(store.place)); },
      [&](const Distribute& distribute) { return distribute.loop; },
      [&](const BindLoop& bind) { return cat(bind.loop, " ", name(bind.bind)); });
  return cat(ROWS[step.node.index()].word, " ", rest);
}

std::vector<std::string_view> words() {
  std::vector<std::string_view> words;
  for (const Row& row : ROWS) words.push_back(row.word);
  return words;
}

Step parse(std::string_view word, Scanner& scanner) {
  const auto row = std::ranges::find(ROWS, word, &Row::word);
  CHECK(row != ROWS.end(), "no step begins with ", word);
  return row->read(scanner);
}

}  // namespace twinloom::steps
