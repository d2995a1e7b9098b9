// Values as text: each step of a value gets a name, one statement a line, and what is computed twice is
// computed once. In a vector loop a value that does not depend on the axis stays a scalar.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/emit/dialect.h"
#include "core/emit/indices.h"
#include "core/emit/scopes.h"
#include "core/emit/vectors.h"
#include "core/loops/loops.h"

namespace twinloom::emit {

// An expression without side effects, cheap to repeat: a name or a constant.
struct Operand {
  std::string text;
  ops::DType dtype = ops::DType::f32;
  int lanes = 1;
  Written written = Written::a_lane;  // until it has a name
};

// A total in the text: a variable, or an array of them where there are copies along axes other than the
// vector axis.
struct Total {
  struct Copies {
    loops::Axis axis;
    std::int64_t extent;
    bool combined = false;  // member 0 stands for all
  };
  ops::Monoid monoid{};
  ops::DType element{};
  int depth = 0;  // of a stack; its places are the fastest index of the array
  int lanes = 1;
  std::optional<loops::Axis> across;  // the vector axis that the lanes are copies along
  std::vector<Copies> copies;
  std::vector<Copies> of_threads;  // copies along thread loops: each thread's variable is a member
  bool in_memory = false;          // a serial loop walks some of the copies, so no register can hold them
  std::vector<std::string> names;  // one a part
  int level = 0;                   // of the scope that declares it
  bool free = false;               // may be combined in any order
  bool rises = false;              // each place that it takes lies behind those before
  bool is_array() const { return depth > 0 || !copies.empty(); }
  bool has_places() const { return depth > 0 || in_memory; }  // of an array, which are no constants
};

class Values {
 public:
  Values(const loops::Program& program, Scopes& scopes, Indices& indices, Vectors& vectors,
         const Dialect& dialect)
      : program_(program),
        scopes_(scopes),
        indices_(indices),
        vectors_(vectors),
        dialect_(dialect),
        may_mask_(may_mask(program)) {}

  Operand value(const loops::Value& value);
  // The value as one of all lanes of the vector loop, or as it is where `lanes` is 1; as an argument of a
  // function that takes a vector.
  std::string with_lanes(const Operand& operand, int lanes);
  std::string argument(const Operand& operand, int lanes);
  void store(const loops::Store& store);
  // Gives a load its name where it stands, if it is of memory that the program never writes and depends on no
  // loop that is still to come.
  void load_ahead(const loops::Load& load);
  void index(const loops::Index& index);
  void prefetch(const loops::Prefetch& prefetch);
  void prefetch_run(const loops::Prefetch& prefetch);

  void set_temp(loops::Temp temp, std::vector<Operand> parts) { temps_[temp] = std::move(parts); }
  void set_total(loops::Temp temp, Total total) { totals_[temp] = std::move(total); }
  Total& total(loops::Temp temp);
  // `of_thread`: each thread has one of its own.
  void set_buffer(loops::Buffer buffer, Base base, bool of_thread = false) {
    buffers_[buffer] = std::move(base);
    if (of_thread) of_thread_.insert(buffer);
  }
  bool is_of_thread(loops::Buffer buffer) const { return of_thread_.contains(buffer); }
  const Base& buffer(loops::Buffer buffer) const;
  // The same where a block has several: such an array should stay in registers, so nobody takes its address.
  bool is_own(loops::Buffer buffer) const { return is_of_thread(buffer) && dialect_.has_threads(); }

  // The variable of the active member of a total, or of stack place `slot`.
  std::string member(const Total& total, int part, const std::string& slot = {});
  // The same with the indices of some copies given as text.
  std::string member(const Total& total, int part, const std::map<loops::Axis, std::string>& places,
                     const std::string& slot = {});
  std::string literal(const ops::Number& number, ops::DType dtype, int lanes) const;
  std::string spelled(std::string_view spelling, const std::vector<std::string>& inputs) const;
  Operand named(const Operand& operand, const Origin& origin = {});
  Operand named_at(int level, const Operand& operand, const Origin& origin);

 private:
  std::string offset_of(const loops::Index& index);
  Operand literal(const loops::Literal& literal);
  Operand count(const loops::Count& count);
  Operand read(const loops::Read& read);
  Operand load(const loops::Load& load);
  std::optional<Operand> compared_shortly(const loops::Apply& apply);
  std::optional<Operand> drawn_together(const loops::Apply& apply);
  Operand apply(const loops::Apply& apply);
  bool is_kept_wide(const loops::Convert& inner, ops::DType to) const;
  Operand converted_operand(const loops::Convert& convert);
  Operand convert(const loops::Convert& convert);
  Operand divided_by_one(const Operand& over, const Operand& under);
  Operand side_by_side(ops::Pointwise op, const std::vector<Operand>& inputs, int lanes);
  Operand narrowed_in_pairs(const Operand& input, ops::DType to);
  struct Others {  // arguments behind the first one, of a function's quick form and of its own
    std::string of_quick, of_rare;
    bool mends = true;  // whether a second form mends what is rare
  };
  // Whether some elements may be left out by values that vanish: by a choice, or by a second input that is
  // added.
  static bool may_mask(const loops::Program& program);
  Operand lanes_again(const std::string& rare, const Operand& input, const std::string& function,
                      const Others& others);
  Operand uniform_load(const loops::Load& load, const Mask& mask);
  // Where a load may stand: memory that the kernel only reads is the same in every turn of a loop.
  int level_of(const loops::Load& load, const Along& run, const Mask& mask) const;
  std::string lanes_load(const loops::Load& load, const Along& run, const Mask& mask);
  bool are_together(const Along& run, const Mask& mask) const;
  bool is_walked(loops::Buffer buffer, const Along& run, const Mask& mask) const;
  std::optional<std::int64_t> fewer_in_registers(loops::Buffer buffer, const Along& run) const;
  bool is_filled(loops::Buffer buffer, const Along& run, const Mask& mask) const;
  std::string memory_literal(const loops::Literal& literal) const;
  std::string pointer(loops::Buffer buffer, const index::Expr& offset);
  // The same for neighbours, one a lane.
  bool mentions_sizes(const index::Expr& offset) const;
  std::string_view way_of(loops::Buffer buffer, const index::Expr& offset) const;
  const loops::BufferInfo& info(loops::Buffer buffer) const;
  void uniform_store(const loops::Store& store, const Operand& value, const Mask& mask,
                     const std::string& prefix);
  bool adds_run(const loops::Store& store, const Along& run, const Mask& mask) const;
  std::string added_run(const loops::Store& store, const Along& run, const std::string& value,
                        const Mask& mask);
  std::string lanes_store(const loops::Store& store, const Along& run, const std::string& value,
                          const Mask& mask);

  const loops::Program& program_;
  Scopes& scopes_;
  Indices& indices_;
  Vectors& vectors_;
  const Dialect& dialect_;
  const bool may_mask_;
  std::map<loops::Temp, std::vector<Operand>> temps_;
  std::map<loops::Temp, Total> totals_;
  std::map<loops::Buffer, Base> buffers_;
  std::set<loops::Buffer> of_thread_;
  std::map<const loops::Value*, Operand> done_;  // within one call of value() from outside
  int nesting_ = 0;
};

}  // namespace twinloom::emit
