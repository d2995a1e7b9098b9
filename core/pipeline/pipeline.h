// The pipeline: a graph and a device in, an Executable out. The passes and their order are the list in
// pipeline.cpp.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fuse/fuse.h"
#include "core/graph/graph.h"
#include "core/graph/relaxations.h"
#include "core/object_cache/object_cache.h"
#include "core/runtime/backend.h"
#include "core/runtime/executable.h"
#include "core/schedule/schedule.h"

namespace twinloom::pipeline {

// What the user may rely on about the bits of floating-point results.
enum class Mode : std::uint8_t {
  strict,  // every operator rounds once to its type; the same bits on every device
  fused,   // implicit roundings to 16 bits between pointwise operators and reductions are left out
  fast,    // and what Options::relaxed names
};
std::string_view name(Mode mode);
std::optional<Mode> mode_named(std::string_view name);

// Schedules that are measured when a variant is made, and kept in files: see core/schedule/stored.h.
struct Tuning {
  // Other schedules of each nest that are measured beside the usual one, those with the least estimates; the
  // fastest is used, and kept. 0: none are, and what is kept is used. Results have the same bits either way,
  // but for sums whose order is free.
  int tries = 0;
  // Of the files; made where it is missing and something is measured. A nest without a file, for this
  // machine, is scheduled as usual. Error where a file is broken or its schedule is not legal. Empty: there
  // are none.
  std::filesystem::path folder = {};
  int threads =
      0;  // that the kernels will run on, where these are what a machine's workers are; 0: one a core
  struct Tuned {
    std::string kernel;
    double usual_seconds = 0, seconds = 0;  // of the usual schedule and of the fastest
  };
  // Called with each nest that was measured; left empty, nobody is.
  std::function<void(const Tuned& tuned)> report = {};
};

// What was done last on the way to a variant: a pass, or, within the pass that builds them, a kernel.
struct Progress {
  using Time = std::chrono::steady_clock::time_point;
  std::string_view pass;
  std::string_view kernel = {};      // that was built; empty: the pass is done
  std::size_t built = 0, total = 0;  // kernels so far, of how many; 0 of 0 before they are scheduled
  Time begin, end;                   // of it, on the thread that says so
};

struct Options {
  Mode mode = Mode::fused;
  bool fuse = true;                         // false: one kernel for each value that has memory
  bool verify = false;                      // check every form after every pass
  std::optional<fuse::Limits> limits = {};  // of fusion; where there are none, what suits the machine
  // How a nest is walked; left empty, or where it gives nothing, as schedule::choose says. Error where what
  // it gives is not legal.
  std::function<std::optional<schedule::Schedule>(const loops::Program& nest)> schedule = {};
  Tuning tuning = {};     // of nests for which `schedule` gives nothing
  bool row_major_results = false;  // else they lie as kernels write them fastest
  // That make kernels of one graph at the same time, at most one a core; 0: so many. 1: the calling thread.
  int build_threads = 0;
  // Parameters, by name, whose memory results may take, beside those that the graph says: Input::donated.
  std::vector<std::string> donated = {};
  // Called after each pass and each kernel, by one thread at a time; left empty, nobody is.
  std::function<void(const Progress& progress)> progress = {};
  // Where variants are kept for later processes, and found; null: nowhere.
  std::shared_ptr<const object_cache::ObjectCache> cache = nullptr;
  // What follows from arrays of the graph alone is made once; false: by each run, as exported sources do.
  bool made_once = true;
  graph::Relaxations relaxed = graph::Relaxations::all();  // of mode `fast`; other modes have none
  bool relaxes(graph::Relaxation relaxation) const { return mode == Mode::fast && relaxed.has(relaxation); }
};

// The text of the form after one pass.
struct PassText {
  std::string pass;
  std::string text;
};

// The names of all passes, in order.
std::vector<std::string> pass_names();

// Thread-safe. `backend` must outlive what is made with it; so it is shared.
runtime::Executable compile(const graph::Graph& graph, std::shared_ptr<const runtime::Backend> backend,
                            const Options& options = {});

// What makes the variants of such an Executable.
runtime::Executable::Maker maker(std::shared_ptr<const runtime::Backend> backend,
                                 const Options& options = {});

// One variant, with the text after each pass where `texts` is not null. It is made for the class of `sizes`,
// which are all of the graph's size symbols and strides, and for all where there are none; which kernels
// there are does not depend on them.
std::shared_ptr<const runtime::Variant> make_variant(const graph::Graph& graph, const lower::Layouts& layouts,
                                                     const runtime::Backend& backend, const Options& options,
                                                     std::vector<PassText>* texts = nullptr,
                                                     const index::Values& sizes = {});

}  // namespace twinloom::pipeline
