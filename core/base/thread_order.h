// Tells the thread sanitizer what it does not see: that threads of a library which is not built with it (TBB)
// begin their work after whoever handed it out, and are done before whoever waits for them. Empty in all
// other builds.
//   ThreadOrder order;
//   tbb::parallel_for(first, last, [&](int k) { const ThreadOrder::Task task(order); work(k); });
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace twinloom {

// Lives where the work is handed out, until all of it is done.
class ThreadOrder {
 public:
#ifdef __SANITIZE_THREAD__
  ThreadOrder() { __tsan_release(&begin_); }
  ~ThreadOrder() { __tsan_acquire(&end_); }
#else
  ThreadOrder() {}
  ~ThreadOrder() {}
#endif
  ThreadOrder(const ThreadOrder&) = delete;
  ThreadOrder& operator=(const ThreadOrder&) = delete;

  // Lives as long as one piece of the work is done. Pieces are in no order among themselves.
  class Task {
   public:
#ifdef __SANITIZE_THREAD__
    explicit Task(ThreadOrder& order) : order_(order) { __tsan_acquire(&order_.begin_); }
    ~Task() { __tsan_release(&order_.end_); }
#else
    explicit Task(ThreadOrder&) {}
    ~Task() {}
#endif
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
#ifdef __SANITIZE_THREAD__

   private:
    ThreadOrder& order_;
#endif
  };

#ifdef __SANITIZE_THREAD__

 private:
  char begin_ = 0, end_ = 0;
#endif
};

}  // namespace twinloom
