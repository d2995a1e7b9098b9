// What the names in printed sizes stand for: s77, u0, batch_size.
//
// A name is the symbol of the same name, or of another where that is too long or taken. The sizes of a run
// are found from the parameters; where these tell a name only as part of an expression (2*s27*s52), the part
// has a symbol. A name that only Sym(...) parameters mention may be negative: it is then a difference of two
// symbols (see core/graph/bind.h), since a symbol is at least 0.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/index/compounds.h"
#include "core/index/facts.h"
#include "frontends/fx/annotation.h"
#include "frontends/fx/syntax.h"

namespace twinloom::fx {

class SizeNames {
 public:
  // Reads what the parameters tell. Error where the type of one is none.
  explicit SizeNames(const Module& module);

  // As parse_annotation, with the names of this text.
  std::optional<Annotation> annotation(const std::string& text, int line);
  // The size over symbols that a run finds from its parameters; nothing where it cannot.
  std::optional<index::Expr> size(const PrintedNumber& number) const;
  std::optional<std::vector<index::Expr>> sizes(const std::vector<PrintedNumber>& numbers) const;
  std::optional<index::Expr> resolved(const index::Expr& expr) const { return compounds_->resolved(expr); }
  std::optional<index::Condition> resolved(const index::Condition& condition) const;
  // A symbol for the number of a parameter that its text does not tell.
  index::Symbol make_symbol(std::string_view name);
  // A number that may be negative.
  index::Expr make_signed(std::string_view name);

 private:
  Item look_up(const std::string& name);
  void collect_dimensions(const Module& module);
  std::vector<index::Expr> told(const Module& module);

  std::map<std::string, Item> items_;            // by name
  std::map<std::string, index::Symbol> opaque_;  // by the text of a size that is no known arithmetic
  std::set<std::string> taken_;                  // names of symbols
  std::set<std::string> dimensions_;             // names that stand in the shape of a tensor
  index::Facts facts_;
  std::optional<index::Compounds> compounds_;
};

}  // namespace twinloom::fx
