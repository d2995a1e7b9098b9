// See program.h.
#include "tests/tool/program.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/base/text.h"

namespace twinloom::tests {

const char* const softmax_text = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 8]"):
        # File: model.py:3 in forward, code: return (x * 2).softmax(1)
        mul: "f32[s0, 8]" = torch.ops.aten.mul.Tensor(x, 2);  x = None
        y: "f32[s0, 8]" = torch.ops.aten._softmax.default(mul, 1, False);  mul = None
        return (y,)
)";

const char* const lookup_text = R"(class GraphModule(torch.nn.Module):
    def forward(self, table: "f32[10, 4]", place: "i64[6]"):
        rows: "f32[6, 4]" = torch.ops.aten.index.Tensor(table, [place])
        total: "f32[6]" = torch.ops.aten.sum.dim_IntList(rows, [1])
        return (rows, total)
)";

const char* const scatters_text = R"(class <lambda>(torch.nn.Module):
    def forward(self, at: "i64[6, 1]", places: "i64[50]", source: "f32[50]"):
        rows: "f32[6, 10]" = torch.ops.aten.full.default([6, 10], 0.0)
        one: "f32[6, 10]" = torch.ops.aten.scatter.value(rows, 1, at, -1.0)
        line: "f32[10]" = torch.ops.aten.full.default([10], 0.0)
        many: "f32[10]" = torch.ops.aten.scatter_add.default(line, 0, places, source)
        return (one, many)
)";

std::size_t count_of(const std::string& text, std::string_view words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

std::string Workplace::command_line(std::string_view variables, std::string_view arguments) const {
  return cat("unset TWINLOOM_CACHE_BYTES TWINLOOM_LOG && TWINLOOM_CACHE_DIR='", folder_.path(), "/cache' ",
             variables, " '", TWINLOOM_PROGRAM, "' ", arguments);
}

Outcome Workplace::run_with(std::string_view variables, std::string_view arguments) const {
  return shell(command_line(variables, arguments));
}

Outcome Workplace::shell(std::string_view command) const {
  const std::string whole = cat("cd '", folder_.path(), "' && { ", command, "\n} 2>&1");
  FILE* stream = popen(whole.c_str(), "r");
  if (stream == nullptr) throw std::runtime_error("cannot run " + whole);
  Outcome outcome;
  std::array<char, 4096> piece{};
  for (std::size_t got = 0; (got = fread(piece.data(), 1, piece.size(), stream)) > 0;)
    outcome.output.append(piece.data(), got);
  const int status = pclose(stream);
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  return outcome;
}

Outcome Workplace::run_in_terminal(std::string_view arguments, int columns, std::string_view kind) const {
  const std::string command =
      cat("cd '", folder_.path(), "' && ", command_line(cat("TERM=", kind), arguments));
  const winsize size = {24, static_cast<unsigned short>(columns), 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("there is no terminal to run in");
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  Outcome outcome;
  std::array<char, 4096> piece{};
  // Where the other end is closed, reading fails.
  for (ssize_t got = 0; (got = ::read(terminal, piece.data(), piece.size())) > 0;)
    outcome.output.append(piece.data(), static_cast<std::size_t>(got));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  return outcome;
}

void Workplace::write(std::string_view name, std::string_view text) const {
  std::ofstream stream(file(name), std::ios::binary);
  stream << text;
}

std::string Workplace::read(std::string_view name) const {
  std::ifstream stream(file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace twinloom::tests
