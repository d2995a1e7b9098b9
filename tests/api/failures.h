// What an error of the C API says.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "api/include/twinloom/twinloom.h"

namespace twinloom::c {

// Its code, its message and where it is; frees it.
struct Failure {
  explicit Failure(twinloom_error* error)
      : code(twinloom_error_code(error)),
        message(twinloom_error_message(error)),
        node(twinloom_error_node(error)),
        line(twinloom_error_line(error)) {
    twinloom_error_free(error);
  }
  twinloom_code code;
  std::string message, node;
  std::int64_t line;
};
inline void expect_ok(twinloom_error* error) {
  const Failure failure(error);
  EXPECT_EQ(failure.code, TWINLOOM_OK) << failure.message;
}
inline void expect_invalid(twinloom_error* error, std::string_view words) {
  const Failure failure(error);
  EXPECT_EQ(failure.code, TWINLOOM_INVALID);
  EXPECT_NE(failure.message.find(words), std::string::npos) << failure.message;
}

}  // namespace twinloom::c
