// A shared library that is opened at run time, from a list of places that is kept so that a message can name
// all of them. It stays open until the process ends: libraries keep threads, and work that threads do as they
// end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace twinloom {

class SharedLibrary {
 public:
  // Why a library that opens is of no use ("is version 11.2"); empty where it is.
  using Refusal = std::function<std::string(const SharedLibrary&)>;

  // Takes the first of these that opens and is not refused: paths, or names by the loader's own rules. None
  // is an Error that begins with `what` and says where it was looked for and what was wrong there. `before`,
  // where it is given, sees each path of a file that is there before it is opened.
  SharedLibrary(std::string what, const std::vector<std::string>& paths, const Refusal& refusal = {},
                const std::function<void(const std::string& path)>& before = {});

  // A function of the library; a missing one is an Error that names it and the library.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }
  // Null where the library has none.
  void* find(const char* name) const;
  // "has no function 'one', 'two'", of these; empty where it has them all.
  std::string without(const std::vector<const char*>& names) const;

  const std::string& path() const { return path_; }  // where it was found
  const std::vector<std::string>& searched() const {
    return searched_;
  }  // every place tried, with its failure

 private:
  using Before = std::function<void(const std::string& path)>;
  void* address(const char* name) const;
  bool take(const std::string& path, const Refusal& refusal, const Before& before);
  bool open(const std::string& path, const Before& before);

  std::string what_;
  std::string path_;
  std::vector<std::string> searched_;
  void* handle_ = nullptr;
};

}  // namespace twinloom
