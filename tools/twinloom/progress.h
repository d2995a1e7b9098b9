// How far a command is: a line at the end of the error stream that is written again and again, and erased in
// the end. Only at a terminal, and only of commands that take longer than a second:
//   twinloom bench: kernel 3 of 7: k2_softmax (4 s)
// While it lives, what goes to std::cout and std::cerr is led past the line: it is erased before, and drawn
// again when the others' line is whole.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>

namespace twinloom::tool {

class Progress {
 public:
  // Nothing is drawn before begin().
  Progress() = default;
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Of a command, "twinloom run"; where the error stream is a terminal.
  void begin(std::string command);
  // What is done now. Thread-safe.
  void say(std::string words);
  // Erases the line; nothing is drawn afterwards.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  // Of a stream whose output the terminal shows.
  class Past : public std::streambuf {
   public:
    Past(Progress& progress, std::ostream& stream)
        : progress_(progress), stream_(stream), inner_(stream.rdbuf(this)) {}
    ~Past() override { stream_.rdbuf(inner_); }

   protected:
    int overflow(int letter) override;
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int sync() override { return inner_->pubsync(); }

   private:
    Progress& progress_;
    std::ostream& stream_;
    std::streambuf* inner_;
  };

  void watch();
  void draw();
  void erase();

  std::string command_;
  Clock::time_point begun_;
  std::mutex mutex_;  // of all below, and of what is written
  std::condition_variable wake_;
  std::string words_;
  bool ended_ = false;
  bool drawn_ = false;
  bool is_amid_line_ = false;  // the others' last line has no end yet
  std::unique_ptr<Past> out_, error_;
  std::thread watcher_;
};

}  // namespace twinloom::tool
