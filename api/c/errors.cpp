// Errors and texts of the C API. See handles.h.
#include <cstdlib>
#include <new>

#include "api/c/handles.h"

namespace twinloom::c {

namespace {

// Of a failure to make an error: it is nobody's and never freed.
twinloom_error& no_memory() {
  static twinloom_error error = {TWINLOOM_OUT_OF_MEMORY, "there is no memory left", {}};
  return error;
}

twinloom_error* error_of(twinloom_code code, const char* message, const Location& location = {}) noexcept {
  try {
    return new twinloom_error{code, message, location};
  } catch (...) {
    return &no_memory();
  }
}

}  // namespace

twinloom_error* caught() noexcept {
  try {
    throw;
  } catch (const OutOfMemory& error) {
    return error_of(TWINLOOM_OUT_OF_MEMORY, error.what(), error.location());
  } catch (const DeviceLost& error) {
    return error_of(TWINLOOM_DEVICE_LOST, error.what());
  } catch (const Error& error) {
    return error_of(TWINLOOM_INVALID, error.what(), error.location());
  } catch (const std::bad_alloc&) {
    return &no_memory();
  } catch (const std::exception& error) {
    return error_of(TWINLOOM_BUG, error.what());
  } catch (...) {
    return error_of(TWINLOOM_BUG, "something was thrown that is no std::exception");
  }
}

char* copied(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace twinloom::c

twinloom_code twinloom_error_code(const twinloom_error* error) {
  return error == nullptr ? TWINLOOM_OK : error->code;
}

const char* twinloom_error_message(const twinloom_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

const char* twinloom_error_node(const twinloom_error* error) {
  return error == nullptr ? "" : error->location.node.c_str();
}

int64_t twinloom_error_line(const twinloom_error* error) {
  return error == nullptr ? 0 : error->location.line;
}

void twinloom_error_free(twinloom_error* error) {
  if (error != &twinloom::c::no_memory()) delete error;
}

void twinloom_text_free(char* text) { std::free(text); }

const char* twinloom_version() { return TWINLOOM_VERSION; }
