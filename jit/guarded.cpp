// See guarded.h.
#include "jit/guarded.h"

#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <pthread.h>

#include <cstddef>
#include <exception>
#include <mutex>

#include "core/base/error.h"

namespace twinloom::jit {

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 20;

// LLVM hands a fatal error to one handler for the whole process; the words belong to the thread whose
// work failed, and are read by the same thread once the work has been abandoned.
thread_local std::string fatal_words;

// Leaves the work by a long jump to RunSafely. Returns, and so lets LLVM abort, only when LLVM was
// called outside of run_guarded.
void abandon_work(void*, const char* reason, bool) {
  fatal_words = reason;
  if (auto* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(EXIT_FAILURE);
}

// LLVM's handlers are for the whole process: the first guarded work installs them, the last removes them.
class RecoveryScope {
 public:
  RecoveryScope() {
    const std::lock_guard lock(mutex_);
    if (count_++ > 0) return;
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(abandon_work);
    llvm::install_bad_alloc_error_handler(abandon_work);
  }
  ~RecoveryScope() {
    const std::lock_guard lock(mutex_);
    if (--count_ > 0) return;
    llvm::remove_bad_alloc_error_handler();
    llvm::remove_fatal_error_handler();
    llvm::CrashRecoveryContext::Disable();
  }
  RecoveryScope(const RecoveryScope&) = delete;
  RecoveryScope& operator=(const RecoveryScope&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int count_ = 0;
};

struct GuardedWork {
  const std::string& what;
  const std::function<void()>& work;
  std::exception_ptr failure;

  // No exception may pass through RunSafely, which is C code at heart.
  void run_and_keep_failure() noexcept {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }

  void run() {
    fatal_words.clear();
    llvm::CrashRecoveryContext context;
    if (context.RunSafely([this] { run_and_keep_failure(); })) return;
    const std::string cause =
        fatal_words.empty() ? cat("crashed with code ", context.RetCode) : cat("gave up: ", fatal_words);
    failure = std::make_exception_ptr(Bug(cat(what, ": the compiler ", cause)));
  }
};

void* run_on_thread(void* argument) {
  static_cast<GuardedWork*>(argument)->run();
  return nullptr;
}

}  // namespace

void run_guarded(const std::string& what, const std::function<void()>& work) {
  const RecoveryScope scope;
  GuardedWork guarded{what, work, nullptr};
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0, what, ": no attributes for a thread");
  pthread_t thread{};
  const bool sized = pthread_attr_setstacksize(&attributes, stack_bytes) == 0;
  const bool started = sized && pthread_create(&thread, &attributes, run_on_thread, &guarded) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) throw Error(cat(what, ": the system refused another thread"));
  pthread_join(thread, nullptr);
  if (guarded.failure) std::rethrow_exception(guarded.failure);
}

}  // namespace twinloom::jit
