// A variant as JSON, but for its class of sizes, which stands apart. What runs and what reports need is kept;
// texts of sources are not.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/lower/unit.h"
#include "core/runtime/variant.h"

namespace twinloom::package {

// Gives the number under which a piece of a file is kept.
using KeepPiece = std::function<std::int64_t(std::string bytes)>;
// The piece of that number. Error where there is none.
using FindPiece = std::function<std::string_view(std::int64_t number)>;

// Arrays that the variant's graph refers to are appended to `arrays`, unless they are there.
nlohmann::json json_of(const runtime::Variant& variant, std::vector<graph::Content>& arrays,
                       const KeepPiece& keep);
// Its steps have code and no kernels. Error, or an exception of the JSON library, where the text is none.
runtime::Variant variant_of(const nlohmann::json& text, const std::vector<graph::Content>& arrays,
                            const FindPiece& find);

nlohmann::json json_of(const loops::SizeClass& sizes);
loops::SizeClass class_of(const nlohmann::json& list);

// The strides of each parameter that is not row-major.
nlohmann::json json_of(const lower::Layouts& layouts);
lower::Layouts layouts_of(const nlohmann::json& text);

}  // namespace twinloom::package
