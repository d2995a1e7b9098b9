// See progress.h.
#include "tools/twinloom/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "core/base/text.h"

namespace twinloom::tool {

namespace {

using namespace std::chrono_literals;
constexpr auto UNSEEN = 1s;  // commands that take no longer show nothing
constexpr auto PERIOD = 200ms;

constexpr std::string_view ERASE = "\r\x1b[K";  // the line that the cursor is in

bool shows_progress() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t columns_of_terminal() {
  constexpr std::size_t USUAL = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL;
}

// Not through std::cerr, which is led past this.
void write_to_terminal(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;  // a terminal that is gone shows no progress
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

void Progress::begin(std::string command) {
  if (!shows_progress()) return;
  command_ = std::move(command);
  begun_ = Clock::now();
  if (isatty(STDOUT_FILENO) != 0) out_ = std::make_unique<Past>(*this, std::cout);
  error_ = std::make_unique<Past>(*this, std::cerr);
  watcher_ = std::thread([this] { watch(); });
}

void Progress::say(std::string words) {
  const std::lock_guard lock(mutex_);
  words_ = std::move(words);
}

void Progress::end() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    erase();
  }
  wake_.notify_all();
  watcher_.join();
  out_.reset();
  error_.reset();
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, UNSEEN, [this] { return ended_; });
  while (!ended_) {
    draw();
    wake_.wait_for(lock, PERIOD, [this] { return ended_; });
  }
}

void Progress::draw() {
  if (is_amid_line_) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begun_).count();
  const std::string time = cat(" (", seconds, " s)");
  std::string line = words_.empty() ? command_ : cat(command_, ": ", words_);
  // The last column stays free: some terminals go to the next line behind it.
  const std::size_t columns = columns_of_terminal();
  line = line.substr(0, columns > time.size() + 1 ? columns - time.size() - 1 : 0) + time;
  write_to_terminal(cat(ERASE, line));
  drawn_ = true;
}

void Progress::erase() {
  if (drawn_) write_to_terminal(ERASE);
  drawn_ = false;
}

int Progress::Past::overflow(int letter) {
  if (letter == traits_type::eof()) return traits_type::not_eof(letter);
  const char text = traits_type::to_char_type(letter);
  return xsputn(&text, 1) == 1 ? letter : traits_type::eof();
}

std::streamsize Progress::Past::xsputn(const char* text, std::streamsize count) {
  if (count <= 0) return 0;
  const std::lock_guard lock(progress_.mutex_);
  progress_.erase();
  progress_.is_amid_line_ = text[count - 1] != '\n';
  return inner_->sputn(text, count);
}

}  // namespace twinloom::tool
