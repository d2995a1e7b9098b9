// See nvrtc.h.
#include "backends/cuda/nvrtc.h"

#include <nvrtc.h>

#include <algorithm>

namespace twinloom::cuda {

namespace {

constexpr NvrtcVersion OLDEST = {12, 0};

constexpr const char *SPILLS_ARE_WARNINGS = "--ptxas-options=-warn-spills",
                     *SPILLED = "Registers are spilled";

struct Flag {
  const char* text;
  NvrtcVersion since = OLDEST;  // older ones refuse it
};
// -minimal leaves out textures, surfaces and the device runtime; -no-cache NVRTC's own cache on disk, as
// compiled kernels are kept in ours. 186: a template's x < 0 may be of an unsigned type.
constexpr Flag FLAGS[] = {
    {"--std=c++20"},         {"--fmad=false"},
    {"--prec-div=true"},     {"--prec-sqrt=true"},
    {"--ftz=false"},         {"-no-cache", {12, 9}},
    {"-minimal", {12, 4}},   {"--device-as-default-execution-space"},
    {"--diag-suppress=186"}, {SPILLS_ARE_WARNINGS},
};

std::vector<std::string> flags_of(NvrtcVersion version) {
  std::vector<std::string> flags;
  for (const Flag& flag : FLAGS)
    if (version >= flag.since) flags.emplace_back(flag.text);
  return flags;
}

// Every function of NVRTC that is called, under its own name.
#define NVRTC_FUNCTIONS(FUNCTION)  \
  FUNCTION(nvrtcVersion)           \
  FUNCTION(nvrtcGetErrorString)    \
  FUNCTION(nvrtcCreateProgram)     \
  FUNCTION(nvrtcCompileProgram)    \
  FUNCTION(nvrtcDestroyProgram)    \
  FUNCTION(nvrtcGetProgramLogSize) \
  FUNCTION(nvrtcGetProgramLog)     \
  FUNCTION(nvrtcGetCUBINSize)      \
  FUNCTION(nvrtcGetCUBIN)          \
  FUNCTION(nvrtcGetPTXSize)        \
  FUNCTION(nvrtcGetPTX)

std::string refusal(const SharedLibrary& library) {
  NvrtcVersion version = OLDEST;
  const auto version_of = reinterpret_cast<decltype(&::nvrtcVersion)>(library.find("nvrtcVersion"));
  if (version_of != nullptr) version_of(&version.major, &version.minor);
  if (version < OLDEST) return cat("is version ", version.major, ".", version.minor);
#define FUNCTION(name) #name,
  return library.without({NVRTC_FUNCTIONS(FUNCTION)});
#undef FUNCTION
}

struct Functions {
#define FUNCTION(name) decltype(::name)* name = nullptr;
  NVRTC_FUNCTIONS(FUNCTION)
#undef FUNCTION

  explicit Functions(const Library& library) {
#define FUNCTION(name) name = library.function<decltype(::name)>(#name);
    NVRTC_FUNCTIONS(FUNCTION)
#undef FUNCTION
  }

  void check(nvrtcResult result, const char* what) const {
    CHECK(result == NVRTC_SUCCESS, what, ": ", nvrtcGetErrorString(result));
  }
};

// A text as a person looks for the lines that the log speaks of.
std::string numbered(std::string_view text) {
  std::string lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += cat(number, "  ", text.substr(0, end), "\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// One compilation.
class Program {
 public:
  Program(const Functions& nvrtc, const std::string& text, const std::string& file,
          const std::vector<Header>& headers)
      : nvrtc_(nvrtc) {
    std::vector<std::string> texts;  // NVRTC wants them to end with a zero
    std::vector<const char*> text_pointers, paths;
    for (const Header& header : headers) texts.emplace_back(header.text);
    for (const std::string& each : texts) text_pointers.push_back(each.c_str());
    for (const Header& header : headers) paths.push_back(header.path.c_str());
    nvrtc_.check(
        nvrtc_.nvrtcCreateProgram(&program_, text.c_str(), file.c_str(), static_cast<int>(headers.size()),
                                  text_pointers.data(), paths.data()),
        "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<const char*>& options) const {
    return nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  std::string log() const {
    std::string words = bytes(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog);
    if (!words.empty()) words.pop_back();  // the zero at its end
    return words;
  }
  std::string cubin() const { return bytes(nvrtc_.nvrtcGetCUBINSize, nvrtc_.nvrtcGetCUBIN); }
  std::string ptx() const { return bytes(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX); }

 private:
  std::string bytes(nvrtcResult (*size_of)(nvrtcProgram, std::size_t*),
                    nvrtcResult (*get)(nvrtcProgram, char*)) const {
    std::size_t size = 0;
    nvrtc_.check(size_of(program_, &size), "the size of what NVRTC gives");
    std::string all(size, '\0');
    nvrtc_.check(get(program_, all.data()), "what NVRTC gives");
    return all;
  }

  const Functions& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

struct Nvrtc::State {
  Library library = open_nvrtc({{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}});
  Functions functions{library};
  Version version;
  std::vector<std::string> flags;  // that every text is compiled with

  State() {
    functions.check(functions.nvrtcVersion(&version.major, &version.minor), "nvrtcVersion");
    flags = flags_of(version);
  }
};

Library open_nvrtc(const LibraryPlaces& places) {
  return Library(cat("NVRTC (version ", OLDEST.major, " or newer)"), places, refusal);
}

Nvrtc::Nvrtc() : state_(std::make_unique<State>()) {}
Nvrtc::~Nvrtc() = default;
Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;

Compiled Nvrtc::compile(const std::string& text, const std::string& name, const std::vector<Header>& headers,
                        const NvrtcOptions& options) const {
  std::vector<std::string> all = state_->flags;
  all.push_back(cat("--gpu-architecture=", options.architecture));
  all.insert(all.end(), options.flags.begin(), options.flags.end());
  std::vector<const char*> flags;
  for (const std::string& flag : all) flags.push_back(flag.c_str());

  const Program program(state_->functions, text, cat(name, ".cu"), headers);
  const nvrtcResult result = program.compile(flags);
  const std::string log = program.log();
  if (result != NVRTC_SUCCESS)
    throw Bug(cat("NVRTC refuses the text '", name, "' for ", options.architecture, ": ",
                  state_->functions.nvrtcGetErrorString(result), "\n", log, "the text:\n", numbered(text)));
  return {options.architecture.starts_with("compute") ? program.ptx() : program.cubin(), log,
          log.find(SPILLED) != std::string::npos};
}

Nvrtc::Version Nvrtc::version() const { return state_->version; }
const std::string& Nvrtc::path() const { return state_->library.path(); }

std::string Nvrtc::identity() const {
  return cat("nvrtc ", version().major, ".", version().minor, "\nflags ",
             join(state_->flags, " ", [](const std::string& flag) { return flag; }), "\n");
}

}  // namespace twinloom::cuda
