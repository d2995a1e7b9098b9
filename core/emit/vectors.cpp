// See vectors.h.
#include "core/emit/vectors.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace twinloom::emit {

namespace {

// A name, perhaps of a member or of an element.
bool is_place(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_.[]").find(letter) != std::string_view::npos;
  });
}

}  // namespace

std::string of_lane(std::string_view text, int lane) {
  std::string written;
  for (const char letter : text) {
    if (letter == LANE_NUMBER)
      written += cat(lane);
    else
      written += letter;
  }
  return written;
}

std::string Vectors::listed(const std::string& text, int lanes) const {
  std::string all;
  for (int lane = 0; lane < (apart(lanes) ? lanes : 1); ++lane)
    all += cat(lane == 0 ? "" : ", ", of_lane(text, lane));
  return all;
}

std::string Vectors::for_lanes(const std::string& prefix, const std::string& text, int lanes) const {
  return cat(prefix, listed(text, lanes), ";");
}

std::string Vectors::variable(const std::string& name, int lanes) const {
  return apart(lanes) ? cat(name, "_", LANE_NUMBER) : name;
}

std::string Vectors::lanes_of(const std::string& whole, int lanes) const {
  return apart(lanes) ? whole + lane_ : whole;
}

std::string Vectors::whole(const std::string& text, const std::string& element, int lanes) const {
  if (!apart(lanes)) return text;
  const std::string_view place(text.data(), text.size() - std::min(text.size(), lane_.size()));
  if (text.ends_with(lane_) && is_place(place)) return std::string(place);
  return cat("Vector<", element, ", ", lanes, ">{", listed(text, lanes), "}");
}

std::string Vectors::element(const std::string& first) const {
  return cat(is_place(first) ? first : cat("(", first, ")"), "[", LANE_NUMBER, "]");
}

std::string Vectors::spread(const std::string& text, ops::DType dtype, int lanes) const {
  return lanes == 1 || apart(lanes) ? text : cat(dialect_.type(dtype, lanes), "(", text, ")");
}

std::string Vectors::named(int level, std::string_view prefix, ops::DType dtype, int lanes,
                           const std::string& text, Written written, const Origin& origin) {
  if (!apart(lanes) || written == Written::whole)
    return lanes_of(scopes_.named(level, prefix, dialect_.type(dtype, lanes), text, origin), lanes);
  const std::string key = cat(dialect_.type(dtype, lanes), ' ', text);
  return scopes_.named(level, prefix, key, origin, [&](const std::string& name) {
    const std::string names = variable(name, lanes);
    if (written == Written::filled)
      return Scopes::Defined{names,
                             {declaration(dtype, names, lanes), cat(text, listed(names, lanes), ");")}};
    return Scopes::Defined{names, {definition(dtype, names, text, lanes)}};
  });
}

std::string Vectors::definition(ops::DType dtype, const std::string& variable, const std::string& text,
                                int lanes, bool is_const) const {
  return for_lanes(cat(is_const ? "const " : "", type(dtype, lanes), " "), cat(variable, " = ", text), lanes);
}

std::string Vectors::declaration(ops::DType dtype, const std::string& variable, int lanes) const {
  return for_lanes(cat(type(dtype, lanes), " "), variable, lanes);
}

std::string Vectors::assignment(const std::string& target, const std::string& text, int lanes) const {
  return for_lanes("", cat(target, " = ", text), lanes);
}

}  // namespace twinloom::emit
