// The text of a kernel while it is written: scopes inside scopes, each with its lines and the values that
// have a name in it. A loop's text enters the scope around it only when the loop is complete, so a
// definition that does not depend on the loop can still be put before it:
//   scopes.open(); ... scopes.named(outer level, ...) ...; scopes.close("for (...) {", "}");
// A value is known by the text that computes it. Equal texts get one name as long as the first is visible
// and what it was read from has not changed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::emit {

// The memory or the total that a named value was read from.
struct Origin {
  std::optional<loops::Buffer> buffer;
  std::optional<loops::Temp> total;
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

class Scopes {
 public:
  Scopes() : scopes_(1) {}

  // `surely_runs`: what stands in the scope is executed whenever the one around it is, so what it computes
  // may as well stand outside.
  void open(bool surely_runs = false) {
    scopes_.push_back({.lines = {}, .values = {}, .surely_runs = surely_runs});
  }
  // Ends the innermost scope and adds "head", its lines and "tail" to the one around it.
  void close(const std::string& head, const std::string& tail);
  // Ends the innermost scope and returns its lines.
  std::vector<std::string> close();
  // The outermost scope from `level` inwards in which something may be computed that the innermost needs.
  int outermost(int level) const;
  int level() const { return static_cast<int>(scopes_.size()) - 1; }

  void line(std::string text) { scopes_.back().lines.push_back(std::move(text)); }
  void line_at(int level, std::string text) { at(level).lines.push_back(std::move(text)); }

  // A number that no other name of the kernel has; from 1, since i0 is a function of the device header.
  int next_number() { return next_number_++; }
  std::string fresh(std::string_view prefix);

  // The name of the value of `text`: "const TYPE PREFIXn = text;" in the scope `level`, unless it has one.
  std::string named(int level, std::string_view prefix, const std::string& type, const std::string& text,
                    const Origin& origin = {});
  // The same where the text of the name and its definition are another's to write.
  struct Defined {
    std::string name;
    std::vector<std::string> lines;
  };
  using Define = std::function<Defined(const std::string& name)>;
  std::string named(int level, std::string_view prefix, const std::string& key, const Origin& origin,
                    const Define& define);
  // What was read from there may have changed.
  void forget(const Origin& origin);

  const std::vector<std::string>& lines() const { return scopes_.back().lines; }

 private:
  struct Named {
    std::string name;
    Origin origin;
  };
  struct Scope {
    std::vector<std::string> lines;
    std::map<std::string, Named> values;  // by type and text
    bool surely_runs = false;
  };
  Scope& at(int level);

  std::vector<Scope> scopes_;
  int next_number_ = 1;
};

}  // namespace twinloom::emit
