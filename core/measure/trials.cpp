// See trials.h.
#include "core/measure/trials.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/loops/rewrite.h"
#include "core/measure/drawn.h"
#include "core/measure/gpu_clock.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::measure {

namespace {

// What a buffer may hold by whose integers a nest finds places.
struct Found {
  std::int64_t bound = 0;  // they are from 0 to below it
  bool rising = false;     // they end rows: a loop is as long as two of them are apart
};

std::set<index::Symbol> symbols_of_extents(const loops::Stmt& body) {
  std::set<index::Symbol> found;
  loops::for_each_stmt(body, [&](const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) found.merge(index::symbols_of(loop->extent));
  });
  return found;
}

// The buffers that a value is computed from, through temporaries too.
class Sources {
 public:
  explicit Sources(const loops::Stmt& body) {
    loops::for_each_stmt(body, [&](const loops::Stmt& stmt) {
      if (const auto* let = std::get_if<loops::Let>(&stmt.node)) lets_.emplace(let->temp, let->value);
    });
  }
  std::set<loops::Buffer> of(const loops::Value& value) const {
    std::set<loops::Buffer> found;
    loops::for_each_value(value, [&](const loops::Value& inner) {
      if (const auto* load = std::get_if<loops::Load>(&inner.node)) found.insert(load->buffer);
      const auto* read = std::get_if<loops::Read>(&inner.node);
      const auto let = read == nullptr ? lets_.end() : lets_.find(read->temp);
      if (let != lets_.end()) found.merge(of(*let->second));
    });
    return found;
  }

 private:
  std::map<loops::Temp, loops::Ref<loops::Value>> lets_;
};

bool are_known(const std::set<index::Symbol>& symbols, const index::Values& sizes) {
  return std::ranges::all_of(symbols, [&](const index::Symbol& symbol) { return sizes.contains(symbol); });
}

std::map<loops::Buffer, Found> found_places(const Subject& subject) {
  const Sources sources(*subject.nest.body);
  const std::set<index::Symbol> extents = symbols_of_extents(*subject.nest.body);
  std::map<loops::Buffer, Found> found;
  loops::for_each_stmt(*subject.nest.body, [&](const loops::Stmt& stmt) {
    const auto* place = std::get_if<loops::Index>(&stmt.node);
    if (place == nullptr || !are_known(index::symbols_of(place->bound), subject.sizes)) return;
    const std::int64_t bound = index::evaluate(place->bound, subject.sizes);
    for (const loops::Buffer buffer : sources.of(*place->value)) {
      Found& known = found.try_emplace(buffer, Found{bound}).first->second;
      known.bound = std::min(known.bound, bound);
      known.rising |= extents.contains(place->symbol);
    }
  });
  return found;
}

// The memory of the nest's buffers.
std::vector<runtime::Tensor> made_buffers(const Subject& subject, const runtime::Space* space) {
  const std::map<loops::Buffer, Found> found = found_places(subject);
  std::vector<runtime::Tensor> tensors;
  for (std::size_t b = 0; b < subject.layouts.size(); ++b) {
    const loops::BufferInfo& info = subject.nest.buffers[b];
    const auto& [sizes, strides] = subject.layouts[b];
    const auto place = found.find(loops::Buffer{static_cast<std::uint32_t>(b)});
    if (info.written)
      tensors.push_back(
          runtime::allocate(info.dtype, sizes, strides, space == nullptr ? nullptr : space->memory().get()));
    else if (place == found.end())
      tensors.push_back(drawn(info.dtype, sizes, strides, std::nullopt, space));
    else if (place->second.rising)
      tensors.push_back(rising(info.dtype, sizes, strides, place->second.bound, space));
    else
      tensors.push_back(drawn(info.dtype, sizes, strides, place->second.bound, space));
  }
  return tensors;
}

// The kernels of one way, with the memory that they work on. What others have besides the nest's buffers,
// such as parts of totals, is its own.
class Trial {
 public:
  Trial(const runtime::Backend& backend, const Subject& subject, const Way& programs)
      : space_(backend.space()), threads_(subject.threads) {
    for (const loops::Program& program : programs) {
      Launch launch{backend.build(program).kernel, {}, {}, -1};
      for (const loops::SizeInfo& size : program.sizes) launch.sizes.push_back(subject.sizes.at(size.symbol));
      launch.tasks = launch.kernel->tasks(launch.sizes);
      launches_.push_back(std::move(launch));
    }
  }

  void prepare(const Subject& subject, const Way& programs, const std::vector<runtime::Tensor>& buffers) {
    std::map<std::string, runtime::Tensor> own;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      const auto& infos = programs[p].buffers;
      for (std::size_t b = 0; b < infos.size(); ++b)
        if (b < buffers.size())
          add(launches_[p], buffers[b]);
        else if (!infos[b].local)
          add(launches_[p], own_buffer(infos[b], subject.sizes, own));
    }
    for (auto& [name, tensor] : own) owned_.push_back(std::move(tensor));
  }

  double seconds(const std::optional<runtime::Tensor>& flushed) {
    if (flushed) return seconds_on_gpu(*flushed);
    // What ran before, perhaps for long, has left other memory in the caches.
    run({.threads = threads_});
    if (repeats_ == 0)
      repeats_ = std::clamp(static_cast<int>(LEAST_SECONDS / seconds_of_runs(1)), 1, MOST_REPEATS);
    return seconds_of_runs(repeats_);
  }

 private:
  // A clock's step and what a loop costs are nothing beside so long a time.
  static constexpr double LEAST_SECONDS = 100e-6;
  static constexpr int MOST_REPEATS = 1000;

  struct Launch {
    std::unique_ptr<const runtime::Kernel> kernel;
    std::vector<runtime::Memory> memory;
    std::vector<std::int64_t> sizes;
    std::int64_t tasks;
  };

  static void add(Launch& launch, const runtime::Tensor& tensor) {
    const runtime::Extent extent = runtime::extent_of(tensor);
    launch.memory.push_back({tensor.data, extent.first, extent.last});
  }
  runtime::Tensor own_buffer(const loops::BufferInfo& info, const index::Values& sizes,
                             std::map<std::string, runtime::Tensor>& own) const {
    runtime::Tensor& tensor = own[info.name];
    if (tensor.owner == nullptr)
      tensor = runtime::allocate(info.dtype, {index::evaluate(info.count, sizes)}, {1},
                                 space_ == nullptr ? nullptr : space_->memory().get());
    return tensor;
  }

  static void expect_none(const std::optional<loops::Failure>& failure) {
    if (failure)
      throw Error(cat("index ", failure->value, " is out of range; expected 0 <= index < ", failure->bound));
  }
  void run(runtime::RunSettings settings) const {
    for (const Launch& launch : launches_) {
      settings.tasks = launch.tasks;
      expect_none(launch.kernel->run(launch.memory, launch.sizes, settings));
    }
  }
  double seconds_of_runs(int runs) const {
    Stopwatch stopwatch;
    for (int k = 0; k < runs; ++k) run({.threads = threads_});
    return stopwatch.lap() / runs;
  }
  double seconds_on_gpu(const runtime::Tensor& flushed) const {
    std::unique_ptr<runtime::Work> work;
    const double seconds = seconds_of(*space_, flushed, [&] {
      work = space_->begin(nullptr);
      run({.work = work.get()});
      work->close();
      return 0;
    });
    expect_none(work->wait());
    return seconds;
  }

  const runtime::Space* space_;
  int threads_, repeats_ = 0;
  std::vector<Launch> launches_;
  std::vector<runtime::Tensor> owned_;
};

}  // namespace

bool has_sizes(const loops::Program& nest, const index::Values& sizes) {
  return std::ranges::all_of(nest.sizes,
                             [&](const loops::SizeInfo& size) { return sizes.contains(size.symbol); });
}

std::vector<Taken> try_ways(const runtime::Backend& backend, const Subject& subject,
                            std::span<const Way> ways, const Turns& turns) {
  const runtime::Space* space = backend.space();
  std::vector<std::shared_ptr<Trial>> trials(ways.size());
  std::vector<std::string> failures(ways.size());
  const auto build = [&](std::size_t k) {
    try {
      trials[k] = std::make_shared<Trial>(backend, subject, ways[k]);
    } catch (const Error& error) {
      failures[k] = error.what();
    }
  };
  // The caller's tasks do not wait among them.
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, ways.size(), build); });
  const std::vector<runtime::Tensor> buffers = made_buffers(subject, space);
  std::optional<runtime::Tensor> flushed;
  if (space != nullptr) flushed = flush_buffer(*space);
  std::vector<Runner> runners(ways.size());
  for (std::size_t k = 0; k < ways.size(); ++k) {
    if (!trials[k]) continue;
    trials[k]->prepare(subject, ways[k], buffers);
    runners[k] = [trial = std::move(trials[k]), &flushed] { return trial->seconds(flushed); };
  }
  std::vector<Taken> taken = by_turns(std::move(runners), turns);
  for (std::size_t k = 0; k < taken.size(); ++k)
    if (!failures[k].empty()) taken[k].failure = failures[k];
  return taken;
}

}  // namespace twinloom::measure
