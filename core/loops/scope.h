// What is known at one place of a program while verify() walks it: the loops around it, the symbols,
// buffers and temps that may be used there, and the rules of values. For the inside of this room.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/loops/loops.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

struct Level {
  Axis axis;
  Bind bind;
  int turn;  // a number for each loop statement of the program
};

enum class TempKind : std::uint8_t { value, total, stack };

struct TempFacts {
  TempKind kind = TempKind::value;
  std::vector<Axis> copies = {};      // those that no Combine has taken away yet
  std::vector<Level> levels = {};     // the loops around its definition
  std::optional<int> filled_in = {};  // the loop beside the Start that accumulates or scans it; -1: none
  std::set<int> read_in = {};         // the same of its Reads
};

class Scope {
 public:
  explicit Scope(const Program& program);

  // Everything that is defined between open() and close() is out of scope afterwards.
  void open() { opened_.emplace_back(); }
  void close();
  void enter(const Loop& loop, int turn);
  void leave();
  const std::vector<Level>& levels() const { return levels_; }
  bool inside(Bind bind) const;

  void define_symbol(const index::Symbol& symbol);
  void hide(const std::vector<Axis>& axes);
  void reveal(const std::vector<Axis>& axes);
  bool has(const index::Symbol& symbol) const { return symbols_.contains(symbol); }
  void check(const index::Expr& expr) const;
  void check(const index::Condition& condition) const;

  void define(const Stmt& stmt, Temp temp, TempFacts facts);
  TempFacts& facts(Temp temp, TempKind kind);
  // Whether this place is inside all loops that the temp has copies along.
  void check_one_copy(Temp temp, const TempFacts& facts) const;
  // Whether this place changes a copy of its own: every loop whose turns may run together, between the
  // definition and here, is one of the copies.
  void check_own_copy(Temp temp, TempKind kind);
  // The loop through which this place is reached from beside the definition; -1 when there is none.
  int way_from(const TempFacts& facts) const;

  void declare(const Scratch& scratch);
  void undeclare(Buffer buffer) { locals_.erase(buffer); }
  const BufferInfo& buffer(Buffer buffer) const;

  // Checks the value and gives its type.
  ops::DType check(const Value& value);
  // Checks what is combined into a total: one value a part, of the part's type.
  void check_parts(Temp total, const std::vector<Ref<Value>>& values);
  // Checks the two factors of what is added to a sum of floats.
  void check_factors(Temp total, const std::vector<Ref<Value>>& values);
  void check_read(Temp temp);
  int parts(Temp temp) const { return types_.parts(temp); }
  ops::DType type(Temp temp, int part) const { return types_.of(temp, part); }

 private:
  struct Opened {
    std::vector<index::Symbol> symbols;
    std::vector<Temp> temps;
  };
  ops::DType check(const Load& load);
  ops::DType check(const Apply& apply);

  const Program& program_;
  Program head_;  // the program without its body
  Types types_;
  std::vector<Level> levels_;
  std::vector<Opened> opened_;
  std::set<index::Symbol> symbols_;
  std::map<Temp, TempFacts> temps_;
  std::set<Temp> ever_defined_;
  std::map<Buffer, bool> locals_;  // whether it may only be touched inside thread loops
};

}  // namespace twinloom::loops
