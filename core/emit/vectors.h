// How values of several lanes are written. Where registers hold several lanes, as one variable. Where they do
// not, as a variable a lane, since a compiler that has to take structs apart does little else (a layer norm:
// a third of its optimiser's time):
//   const Vector<f32, 4> v3 = v1 + v2;    const f32 v3_0 = v1_0 + v2_0, v3_1 = v1_1 + v2_1, ...;
// There the text of such a value is that of any lane, with a mark where its number stands, v1_@ + v2_@; what
// a function of the device header gives or takes as a whole is a struct still, whose lanes are v5.lane[@].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/emit/dialect.h"
#include "core/emit/scopes.h"

namespace twinloom::emit {

// Stands for the number of the lane in the text of a value.
constexpr char LANE_NUMBER = '@';

// What the text of a value of several lanes is, where they are apart.
enum class Written : std::uint8_t {
  a_lane,  // that of any lane
  whole,   // what a function gives as a struct
  filled,  // what a function puts into variables: the call up to these, "load_packed(p1, "
};

class Vectors {
 public:
  Vectors(const Dialect& dialect, Scopes& scopes)
      : dialect_(dialect), scopes_(scopes), lane_(cat(dialect.lanes_member(), "[", LANE_NUMBER, "]")) {}

  // Whether a value of so many lanes is a variable a lane.
  bool apart(int lanes) const { return lanes > 1 && !dialect_.has_vectors(); }
  // Of its variables.
  std::string type(ops::DType dtype, int lanes) const {
    return dialect_.type(dtype, apart(lanes) ? 1 : lanes);
  }
  // The text of a variable of this name.
  std::string variable(const std::string& name, int lanes) const;
  // Of what a function gave as a whole, as text of a value.
  std::string lanes_of(const std::string& whole, int lanes) const;
  // The same the other way, for an element type that is a type of the device header's registers.
  std::string whole(const std::string& text, const std::string& element, int lanes) const;
  // Of lanes apart: a neighbour each, from the first on.
  std::string element(const std::string& first) const;
  // Its lanes one after the other, as arguments.
  std::string listed(const std::string& text, int lanes) const;
  // One value for all lanes.
  std::string spread(const std::string& text, ops::DType dtype, int lanes) const;

  // As Scopes::named, with the text of a value as the result.
  std::string named(int level, std::string_view prefix, ops::DType dtype, int lanes, const std::string& text,
                    Written written = Written::a_lane, const Origin& origin = {});

  // Statements; `variable` and `target` are texts of variables.
  std::string definition(ops::DType dtype, const std::string& variable, const std::string& text, int lanes,
                         bool is_const = true) const;
  std::string declaration(ops::DType dtype, const std::string& variable, int lanes) const;
  std::string assignment(const std::string& target, const std::string& text, int lanes) const;

 private:
  // "prefix lane, lane, ...;" with the text for each lane.
  std::string for_lanes(const std::string& prefix, const std::string& text, int lanes) const;
  const Dialect& dialect_;
  Scopes& scopes_;
  std::string lane_;  // behind the name of a struct: one of its lanes
};

// The text for one lane.
std::string of_lane(std::string_view text, int lane);

}  // namespace twinloom::emit
