// Relocatable objects to addresses in this process.
//   Session session({{"twinloom_report", &report}});
//   Module module = session.load(object);
//   auto kernel = reinterpret_cast<void (*)(float*)>(module.address("kernel"));
// Loaded code may call the symbols handed in and those of default_host_symbols(), and nothing else of the
// process. No page is ever writable and executable at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/host_symbols.h"
#include "jit/object.h"

namespace twinloom::jit {

// A handle on loaded code. The code goes away with the last copy of the handle: whoever runs the code
// holds one.
class Module {
 public:
  // A symbol that the object does not define is a Bug.
  void* address(const std::string& name) const;

 private:
  friend class Session;
  struct Code;
  explicit Module(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

class Session {
 public:
  // Two symbols of one name are a Bug.
  explicit Session(std::vector<HostSymbol> symbols);

  // Any number of threads may load and drop modules at once; modules may outlive the session. An object
  // that is damaged, or that needs a symbol nobody offers, is a Bug that names what is wrong.
  Module load(const Object& object) const;

 private:
  friend class Module;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace twinloom::jit
