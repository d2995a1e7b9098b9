// Machine code that is made in the background, by the C API. See handles.h.
#include <algorithm>
#include <chrono>
#include <future>

#include "api/c/arguments.h"
#include "api/c/handles.h"

using twinloom::c::checked;
using twinloom::c::guarded;

// The end of the future waits for its thread.
struct twinloom_preparation {
  std::shared_future<void> made;
};

twinloom_error* twinloom_prepare_start(const twinloom_executable* executable, const twinloom_value* arguments,
                                       size_t argument_count, twinloom_preparation** preparation) {
  return guarded([&] {
    checked(preparation, "preparation");
    const twinloom::Executable& prepared = checked(executable, "executable").executable;
    auto given = twinloom::c::arguments_of(arguments, argument_count, false);
    *preparation =
        new twinloom_preparation{std::async(std::launch::async, [&prepared, given = std::move(given)] {
                                   prepared.variant(given);
                                 }).share()};
  });
}

twinloom_error* twinloom_preparation_wait(const twinloom_preparation* preparation, double seconds,
                                          int32_t* done) {
  return guarded([&] {
    const std::shared_future<void>& made = checked(preparation, "preparation").made;
    checked(done, "done") = 0;
    if (seconds >= 0) {
      constexpr double LONGEST = 1e8;  // what clocks count
      const std::chrono::duration<double> time(std::min(seconds, LONGEST));
      if (made.wait_for(time) != std::future_status::ready) return;
    }
    made.get();
    *done = 1;
  });
}

void twinloom_preparation_free(twinloom_preparation* preparation) { delete preparation; }
