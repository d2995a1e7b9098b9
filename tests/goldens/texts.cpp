// See texts.h.
#include "tests/goldens/texts.h"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace twinloom::tests {

namespace {

std::string hash_of(std::string_view text) { return fmt::format("{:016x}", stable_hash(text)); }

void write_lines(Writer& writer, std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    writer.line(text.substr(start, end - start));
    start = end + 1;
  }
}

void write_kernel(Writer& writer, const KernelTexts& kernel) {
  writer.line("kernel ", kernel.name);
  const Indented indented(writer);
  writer.line("nest ", hash_of(kernel.nest));
  write_lines(writer, kernel.schedule);
  for (const ProgramTexts& program : kernel.programs)
    writer.line("program ", hash_of(program.program), " source ", hash_of(program.source), " ", program.name);
}

std::string path_of(std::string name) {
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '-') letter = '_';
  return name;
}

std::string text_of(const KernelTexts& kernel) {
  std::string text = cat("nest\n", kernel.nest, "\n", kernel.schedule);
  for (const ProgramTexts& program : kernel.programs)
    text += cat("\nprogram ", program.name, "\n", program.program, "\nsource ", program.name, "\n",
                program.source);
  return text;
}

}  // namespace

std::string golden_of(const machine::Machine& machine, const std::vector<SubjectTexts>& subjects) {
  Writer writer;
  write_lines(writer, machine::print(machine));
  for (const SubjectTexts& subject : subjects) {
    writer.line("subject ", subject.name);
    const Indented indented(writer);
    for (const KernelTexts& kernel : subject.kernels) write_kernel(writer, kernel);
  }
  return writer.take();
}

void write_texts(const std::filesystem::path& folder, const std::vector<SubjectTexts>& subjects) {
  std::set<std::filesystem::path> written;
  for (const SubjectTexts& subject : subjects) {
    const std::filesystem::path place = folder / path_of(subject.name);
    std::filesystem::create_directories(place);
    for (const KernelTexts& kernel : subject.kernels) {
      const std::filesystem::path path = place / (path_of(kernel.name) + ".txt");
      CHECK(written.insert(path).second, "two kernels are written to ", path.string());
      std::ofstream file(path);
      file << text_of(kernel);
      file.close();
      if (!file) throw Error(cat(path.string(), " cannot be written"));
    }
  }
}

}  // namespace twinloom::tests
