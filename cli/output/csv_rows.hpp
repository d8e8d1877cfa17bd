#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace espalier::cli {

/// Turns rows of numbers into lines of CSV, in blocks and on the cores that are free: the digits of
/// a number take 30 ns, those of a row as long as a step of a simulation or two. The text comes out
/// in the order of the rows, on the caller's thread.
class CsvRows {
 public:
  /// @param columns  numbers of a row, at least 1
  /// @param threads  besides the caller's; -1: as many as cores are free, at most 3
  explicit CsvRows(std::size_t columns, int threads = -1);
  ~CsvRows();
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  /// Takes a row.
  /// @return lines that are ready, of earlier rows; valid until the next call
  std::string_view add(const std::vector<double>& row);
  /// All lines that are left.
  std::string_view finish();

 private:
  struct Block {
    std::vector<double> numbers;
    std::unique_ptr<char[]> text;
    std::size_t size = 0;  ///< of the text
    enum { filled, taken, ready } state = filled;
  };

  void format(Block& block) const;
  void work();
  /// The first block that nobody formats, now taken; null if there is none. The mutex is held.
  Block* take();
  /// A block of no numbers: one whose text was given out, or a new one.
  std::unique_ptr<Block> empty_block();
  /// Submits what was filled, and formats as long as more than `most` blocks are not written.
  /// @return the text of those that are ready
  std::string_view submit(std::size_t most);

  std::size_t columns_;
  int thread_count_;
  std::unique_ptr<Block> filling_;
  std::vector<std::unique_ptr<Block>> given_;  ///< whose text the caller has
  std::string several_;                        ///< texts of several blocks

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable filled_, ready_;
  std::deque<std::unique_ptr<Block>> blocks_;  ///< in order of their rows
  bool ends_ = false;
  std::vector<std::thread> threads_;  ///< started with the first whole block
};

}  // namespace espalier::cli
