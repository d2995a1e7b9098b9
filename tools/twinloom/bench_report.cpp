// See bench_report.h.
#include "tools/twinloom/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/estimates.h"
#include "core/base/text.h"
#include "tools/twinloom/report.h"

namespace twinloom::tool {

namespace {

std::string words_of(const std::vector<runtime::Resources>& launches) {
  return join(launches, "; ", [](const runtime::Resources& launch) {
    return cat(launch.registers, " ", launch.spill_bytes, " ", launch.scratch_bytes, " ", launch.blocks_each,
               "x", launch.threads);
  });
}

std::vector<std::string> cells(const BenchedKernel& kernel, const measure::CopyBandwidth& copy) {
  const double rate = kernel.bytes_per_second();
  const auto& estimate = kernel.estimate;
  const auto in_runs = [&](std::string words) { return kernel.once ? std::string() : words; };
  return {kernel.name,
          kernel.once ? "once" : fmt::format("{:.4f}", kernel.time.median * 1e3),
          estimate ? fmt::format("{:.4f}", estimate->seconds * 1e3) : "",
          estimate ? estimate->limiter().name : "",
          estimate ? fmt::format("{:.0f} %", 100 * kernel.share_of_limiter()) : "",
          bytes_words(kernel.traffic.bytes),
          bytes_words(kernel.traffic.floor_bytes),
          bytes_words(kernel.traffic.touched_bytes),
          in_runs(fmt::format("{:.2f}", rate * 1e-9)),
          in_runs(fmt::format("{:.0f} %", 100 * rate / copy.bytes_per_second)),
          in_runs(fmt::format("{:.2f}", kernel.operations_per_second() * 1e-9)),
          fmt::format("{:.1f}{}", kernel.compile_seconds * 1e3, kernel.cached ? " cached" : ""),
          words_of(kernel.launches),
          join(kernel.ops, " ", [](const std::string& name) { return name; })};
}

// Without the columns about which no kernel says anything; the first row is their heads.
std::vector<std::vector<std::string>> without_empty_columns(std::vector<std::vector<std::string>> rows) {
  for (std::size_t column = rows.front().size(); column-- > 0;) {
    const auto is_empty = [&](const auto& row) { return row[column].empty(); };
    if (!std::all_of(rows.begin() + 1, rows.end(), is_empty)) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return rows;
}

// In columns: the first and the last begin where theirs begins, the others end where theirs ends.
void print_rows(std::ostream& stream, const std::vector<std::vector<std::string>>& rows) {
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[column].size());
      const bool words = column == 0 || column + 1 == row.size();
      if (column + 1 == row.size()) width = 0;
      stream << (words ? fmt::format("{:<{}}", row[column], width)
                       : fmt::format("{:>{}}", row[column], width))
             << (column + 1 == row.size() ? "\n" : "  ");
    }
  }
}

using Json = nlohmann::ordered_json;

Json json_of_model(const std::variant<Benched, Failure>& outcome) {
  if (const auto* failure = std::get_if<Failure>(&outcome)) return {{"error", failure->words}};
  return Json::parse(json_of(std::get<Benched>(outcome)));
}

}  // namespace

void print_table(std::ostream& stream, const BenchReport& report, const Benched& measured) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "ms", "estimate ms", "limiter", "of limiter",
                                                 "bytes", "floor", "touched", "GB/s", "of copy", "GFLOP/s",
                                                 "compile ms", "launches", "operators"}};
  for (const BenchedKernel& kernel : measured.kernels) rows.push_back(cells(kernel, *report.copy));
  print_rows(stream, without_empty_columns(std::move(rows)));
  stream << fmt::format(
      "{} kernels on {}, mode {}, {} threads; run {:.4f} ms, compile {:.1f} ms, peak memory {}\n",
      measured.kernels.size(), report.device, report.mode, report.threads, measured.run.median * 1e3,
      measured.compile_seconds * 1e3, bytes_words(measured.peak_bytes));
}

void print_copy(std::ostream& stream, const measure::CopyBandwidth& copy) {
  stream << fmt::format("copy bandwidth {:.2f} GB/s ({}, buffers of {})\n", copy.bytes_per_second * 1e-9,
                        copy.way, bytes_words(copy.buffer_bytes));
}

std::string json_text(const BenchReport& report, bool several) {
  Json json = {{"device", report.device}, {"mode", report.mode}, {"threads", report.threads}};
  if (report.copy) json["copy_gbps"] = report.copy->bytes_per_second * 1e-9;
  auto models = Json::array();
  for (const BenchedModel& model : report.models) {
    models.push_back({{"file", model.file.string()}});
    models.back().update(json_of_model(model.outcome));
  }
  if (several)
    json["models"] = models;
  else
    json.update(json_of_model(report.models.front().outcome));
  // A file's name and words that quote one may hold any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace twinloom::tool
