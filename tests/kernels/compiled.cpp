// See compiled.h.
#include "tests/kernels/compiled.h"

#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "core/loops/rewrite.h"
#include "core/pipeline/pipeline.h"
#include "tests/goldens/planners.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tests {

namespace {

class ExecutionCounter {
 public:
  explicit ExecutionCounter(index::Values values) : values_(std::move(values)) {}

  Executions of(const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) return of_loop(*loop);
    Executions sum;
    if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
      for (const auto& inner : block->stmts) add(sum, of(*inner), 1);
      return sum;
    }
    if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) return of(*scratch->body);
    if (const auto* last = std::get_if<loops::LastBlock>(&stmt.node)) return of(*last->body);
    const bool works = std::holds_alternative<loops::Let>(stmt.node) ||
                       std::holds_alternative<loops::Store>(stmt.node) ||
                       std::holds_alternative<loops::Merge>(stmt.node);
    if (works) sum = {1, in_vector_ ? 1 : 0};
    return sum;
  }

 private:
  Executions of_loop(const loops::Loop& loop) {
    const std::int64_t extent = std::max<std::int64_t>(index::evaluate(loop.extent, values_), 0);
    const bool outside = in_vector_;
    in_vector_ = in_vector_ || (loop.bind == loops::Bind::vector && extent > 1);
    Executions sum;
    if (shapes_loops(loop)) {
      for (std::int64_t turn = 0; turn < extent; ++turn) {
        values_.insert_or_assign(loop.axis, turn);
        add(sum, of(*loop.body), 1);
      }
      values_.erase(loop.axis);
    } else {
      add(sum, of(*loop.body), extent);
    }
    in_vector_ = outside;
    return sum;
  }

  static bool shapes_loops(const loops::Loop& outer) {
    bool found = false;
    loops::for_each_stmt(*outer.body, [&](const loops::Stmt& stmt) {
      const auto* loop = std::get_if<loops::Loop>(&stmt.node);
      found |= loop != nullptr && index::mentions(loop->extent, outer.axis);
    });
    return found;
  }

  static void add(Executions& sum, const Executions& more, std::int64_t times) {
    sum.all += times * more.all;
    sum.in_vectors += times * more.in_vectors;
  }

  index::Values values_;
  bool in_vector_ = false;
};

// What is asserted of programs must not depend on the caches of the machine that runs the tests.
std::shared_ptr<const runtime::Backend> stored_machine(const std::string& isa) {
  for (const auto& planner : planners())
    if (planner->name() == cat("cpu-", isa)) return planner;
  CHECK(false, "no stored machine of ", isa);
  return nullptr;
}

}  // namespace

Loaded built(void (*build)(graph::Builder&)) {
  graph::Builder builder;
  build(builder);
  return {{builder.take(), {}, {}}, {}};
}

Loaded read_printed(const std::string& name) {
  const std::filesystem::path folder = TWINLOOM_PRINTED_GRAPHS;
  tool::ModelOptions options;
  options.file = folder / (name + ".fx");
  options.inputs = folder / (name + ".npz");
  return {tool::read_model(options), options};
}

Compiled compiled(const Loaded& loaded, const std::string& isa) {
  const auto arguments = tool::make_arguments(loaded.model, loaded.options);
  const auto executable = pipeline::compile(loaded.model.graph, stored_machine(isa), {});
  return {executable.variant(arguments), executable.symbols(arguments, {})};
}

Executions executions_of(const loops::Program& program, const index::Values& values) {
  return ExecutionCounter(values).of(*program.body);
}

}  // namespace twinloom::tests
