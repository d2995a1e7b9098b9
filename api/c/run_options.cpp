// See run_options.h.
#include "api/c/run_options.h"

#include "api/c/handles.h"

namespace twinloom::c {

namespace {

// Empty where the caller hands out none.
runtime::Allocate allocate_of(const twinloom_run_options& options) {
  if ((options.allocate == nullptr) != (options.release == nullptr))
    throw Error("of twinloom_run_options.allocate and release one is NULL; expected both or none");
  if (options.allocate == nullptr) return {};
  return [allocate = options.allocate, release = options.release, context = options.allocate_context](
             std::int64_t bytes, Stream stream) {
    const auto size = static_cast<std::size_t>(bytes);
    const auto give_back = [=](std::byte* memory) {
      if (memory != nullptr) release(context, memory, size, stream);
    };
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(allocate(context, size, stream)), give_back);
  };
}

}  // namespace

void set_settings(Settings& settings, const twinloom_run_options* given) {
  const twinloom_run_options options = known(given, "twinloom_run_options");
  settings.options.settings.threads = options.threads;
  settings.options.seed = options.seed;
  settings.options.offset = options.offset;
  settings.options.stream = static_cast<Stream>(options.stream);
  settings.options.allocate = allocate_of(options);
  settings.options.keep_donated = options.keep_donated != 0;
  if (options.parallel_for == nullptr) return;
  settings.parallel_for = [run = options.parallel_for, context = options.parallel_context](
                              std::int64_t tasks, int threads, twinloom_tasks body, void* body_context) {
    run(context, tasks, threads, body, body_context);
  };
  settings.options.settings.parallel_for = &settings.parallel_for;
}

}  // namespace twinloom::c
