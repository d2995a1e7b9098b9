// Work that a GPU does while this thread goes on: streams, places in them, and the kernels of one run.
#pragma once

#include <memory>
#include <optional>

#include "core/loops/interpret.h"

namespace twinloom::runtime {

// In whose order a GPU works: a CUstream or cudaStream_t of the GPU's primary context, which nothing here
// looks into (CUDA's default stream is CU_STREAM_LEGACY). Null: the stream that Twinloom keeps for the GPU.
// Memory of a run belongs to its stream: a caller that uses results on another stream drops them only when
// that is done, and ends a stream only when its work is.
using Stream = void*;

// A place in a stream, reached when all that was started there before is done. Thread-safe.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool reached() const = 0;
  // Error where what was started before has failed.
  virtual void wait() const = 0;
};

// The kernels of one run: their stream and the record of their first failed Index. Used by one thread at a
// time. Who ends it has waited for it, or nothing was started.
class Work {
 public:
  virtual ~Work() = default;
  virtual Stream stream() const = 0;
  // No more is started.
  virtual void close() = 0;
  // wait() does not block; only after close().
  virtual bool done() const = 0;
  // Whether a kernel is known to have failed by now; after close() wait() says how.
  virtual bool failed() const = 0;
  // Until all is done. Error where the GPU has failed.
  virtual std::optional<loops::Failure> wait() = 0;
};

}  // namespace twinloom::runtime
