#include "tests/torture/sandbox.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

namespace espalier::torture {

namespace {

using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// What the processes share: the case that runs, and the outcome of the last one.
struct Board {
  std::atomic<std::uint64_t> number{0};
  std::atomic<double> since{0.0}, worked{0.0};  ///< by the clock; processor time before it
  std::atomic<bool> runs{false};
};

/// A child's answer to its parent, as text: numbers and lines.
std::string packed(const Outcome& outcome) {
  std::string text = std::to_string(static_cast<int>(outcome.verdict));
  for (const auto& [name, count] : outcome.counts) {
    text += "\x1f" + name + "\x1e" + std::to_string(count);
  }
  return text + "\x1d" + outcome.what + "\x1d" + outcome.particulars.substr(0, 2000);
}
Outcome unpacked(const std::string& text) {
  Outcome out;
  const std::size_t first = text.find('\x1d'), second = text.find('\x1d', first + 1);
  out.what = text.substr(first + 1, second - first - 1);
  out.particulars = text.substr(second + 1);
  out.verdict = static_cast<Outcome::Verdict>(text[0] - '0');
  for (std::size_t at = text.find('\x1f'); at < first;) {
    const std::size_t end = std::min(text.find('\x1f', at + 1), first),
                      split = text.find('\x1e', at);
    out.counts[text.substr(at + 1, split - at - 1)] =
        std::stol(text.substr(split + 1, end - split - 1));
    at = end;
  }
  return out;
}

void send(int pipe, std::uint64_t number, const std::string& text) {
  std::string message(sizeof number + sizeof(std::uint32_t), '\0');
  const auto size = static_cast<std::uint32_t>(text.size());
  std::memcpy(message.data(), &number, sizeof number);
  std::memcpy(message.data() + sizeof number, &size, sizeof size);
  message += text;
  for (std::size_t done = 0; done < message.size();) {
    const ssize_t n = ::write(pipe, message.data() + done, message.size() - done);
    if (n <= 0) _exit(98);
    done += static_cast<std::size_t>(n);
  }
}

/// Takes whole messages off a buffer.
void receive(std::string& buffer, Tally& tally) {
  constexpr std::size_t head = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  while (buffer.size() >= head) {
    std::uint64_t number = 0;
    std::uint32_t size = 0;
    std::memcpy(&number, buffer.data(), sizeof number);
    std::memcpy(&size, buffer.data() + sizeof number, sizeof size);
    if (buffer.size() < head + size) return;
    tally.add(number, unpacked(buffer.substr(head, size)));
    tally.next = number + 1;
    buffer.erase(0, head + size);
  }
}

[[noreturn]] void work(const Kind& kind, std::uint64_t first, double end, Board& board, int pipe) {
  for (std::uint64_t number = first; now() < end; ++number) {
    board.number = number;
    board.since = now(), board.worked = processor_time(::getpid());
    board.runs = true;
    Outcome outcome;
    try {
      outcome = kind.run(number);
    } catch (const std::exception& error) {
      outcome = defect("an exception that is no error of ours", error.what());
    } catch (...) {
      outcome = defect("an exception that is no exception");
    }
    board.runs = false;
    send(pipe, number, packed(outcome));
  }
  _exit(0);
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return std::string("crash: ") + strsignal(WTERMSIG(status));
  return "the process ended with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

double processor_time(int process) {
  clockid_t clock;
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0.0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Outcome defect(std::string what, std::string particulars) {
  Outcome out;
  out.verdict = Outcome::Verdict::defect;
  out.what = std::move(what), out.particulars = std::move(particulars);
  return out;
}

Outcome refusal(const std::string& message) {
  if (message.find(": ") == std::string::npos || (message.find("expected") == std::string::npos &&
                                                  message.find("cannot") == std::string::npos)) {
    return defect("an error that does not say what it expects", message);
  }
  if (message.find(" threw ") != std::string::npos) {
    return defect("code of our own threw what is no error of ours", message);
  }
  Outcome out;
  out.verdict = Outcome::Verdict::refused;
  return out;
}

void Tally::add(std::uint64_t number, const Outcome& outcome) {
  ++cases;
  good += outcome.verdict == Outcome::Verdict::good;
  refused += outcome.verdict == Outcome::Verdict::refused;
  for (const auto& [name, count] : outcome.counts) counts[name] += count;
  if (outcome.verdict != Outcome::Verdict::defect) return;
  Defect& d = defects[outcome.what];
  if (d.times++ == 0) d.number = number, d.particulars = outcome.particulars;
}

void run_cases(const Kind& kind, double seconds, Tally& tally) {
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("torture: shared memory is refused");
  Board& board = *new (memory) Board;
  const double end = now() + seconds;
  while (now() < end) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("torture: a pipe is refused");
    const std::uint64_t first = tally.next;
    board.runs = false;
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("torture: a process is refused");
    if (child == 0) {
      ::close(pipe[0]);
      work(kind, first, end, board, pipe[1]);
    }
    ::close(pipe[1]);
    std::string buffer;
    int status = 0;
    bool hangs = false;
    std::thread watch([&] {
      while (::waitpid(child, &status, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        // A busy machine makes a case slow by the clock, not in processor time.
        if (!hangs && board.runs &&
            (processor_time(child) - board.worked > kind.seconds ||
             now() - board.since > 10.0 * kind.seconds)) {
          hangs = true;
          ::kill(child, SIGKILL);
        }
      }
    });
    char part[1 << 16];
    for (ssize_t n; (n = ::read(pipe[0], part, sizeof part)) > 0;) {
      buffer.append(part, static_cast<std::size_t>(n));
      receive(buffer, tally);
    }
    watch.join();
    ::close(pipe[0]);
    if (!hangs && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const std::uint64_t number = board.number;
    tally.add(number, defect(hangs ? "hang: longer than " + std::to_string(int(kind.seconds)) + " s"
                                   : ending_of(status)));
    tally.next = number + 1;
  }
  ::munmap(memory, sizeof(Board));
}

}  // namespace espalier::torture
