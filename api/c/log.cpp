// The logs of the C API. See handles.h.
#include "core/base/log.h"
#include "api/c/handles.h"

twinloom_error* twinloom_set_log(const char* names, twinloom_log callback, void* context) {
  return twinloom::c::guarded([&] {
    twinloom::logging::Sink sink;
    if (callback != nullptr) {
      sink = [callback, context](twinloom::Log log, std::string_view text) {
        const std::string name(twinloom::logging::name(log)), copy(text);
        callback(context, name.c_str(), copy.c_str());
      };
    }
    twinloom::logging::set(names == nullptr ? "" : names, std::move(sink));
  });
}
