// What this process prints to std::cout and std::cerr as long as it lives, in place of where that would go.
#pragma once

#include <iostream>
#include <sstream>
#include <string>

namespace twinloom::tests {

class Heard {
 public:
  Heard() : out_(std::cout.rdbuf(words_.rdbuf())), err_(std::cerr.rdbuf(words_.rdbuf())) {}
  ~Heard() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;
  std::string words() const { return words_.str(); }

 private:
  std::ostringstream words_;
  std::streambuf *out_, *err_;
};

}  // namespace twinloom::tests
