// FX texts for tests, and the words of what goes wrong when one is read.
#pragma once

#include <string>
#include <string_view>

#include "frontends/fx/read.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {

// "class GraphModule(torch.nn.Module): def forward(self, PARAMETERS): STATEMENTS; return RESULT", one
// statement a line, from line 3 on.
std::string module_text(std::string_view parameters, std::string_view statements, std::string_view result);

// The message of the Error that reading throws; NOTHING_THROWN where it throws none.
std::string error_of(std::string_view text, const fx::ReadOptions& options = {});

// "f32[2, s0]" of result k, or what else it is.
std::string result_type(const graph::Graph& graph, std::size_t k = 0);

void write_file(const std::string& file, std::string_view bytes);
std::string read_file(const std::string& file);

}  // namespace twinloom::tests
