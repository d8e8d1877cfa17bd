#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace espalier::cli {

/// Turns rows of numbers into bytes of a file, in blocks and on the cores that are free, while the
/// caller goes on: what a row costs beyond its computation is a copy.
class RowBlocks {
 public:
  struct Block {
    std::span<double> numbers;      ///< row by row
    std::size_t first = 0;          ///< its first row's number
    std::unique_ptr<char[]> bytes;  ///< allocated by Format, kept for other blocks
    std::size_t size = 0;           ///< of the bytes

   private:
    friend class RowBlocks;
    std::unique_ptr<double[]> room;  ///< for the numbers of a whole block, kept as the bytes are
    enum { filled, taken, ready } state = filled;
  };
  /// Makes a block's bytes from its numbers; several blocks at a time, on any thread.
  using Format = std::function<void(Block&)>;
  /// Takes a block's bytes; in the order of the rows, one at a time, on any thread.
  using Write = std::function<void(const Block&)>;

  /// @param columns  numbers of a row, at least 1
  /// @param rows     of a block, at least 1; the last block may have fewer
  /// @param threads  besides the caller's; -1: as many as cores are free, at most 3
  RowBlocks(std::size_t columns, std::size_t rows, Format format, Write write, int threads = -1);
  /// Forgets what finish() has not waited for.
  ~RowBlocks();
  RowBlocks(const RowBlocks&) = delete;
  RowBlocks& operator=(const RowBlocks&) = delete;

  /// Where the next row's numbers go, as many as columns; end_row() takes them.
  double* begin_row();
  /// Takes the row. Waits where blocks are filled faster than all threads write them.
  /// @throws what Format or Write threw for an earlier row
  void end_row();
  /// Returns when all rows are written. @throws what Format or Write threw
  void finish();

  std::size_t rows() const { return rows_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void work();
  /// The first block that nobody formats, now taken; null if there is none. The mutex is held.
  Block* take();
  /// Formats a taken block, and writes those that are ready unless another thread does. The mutex
  /// is held before and after.
  void process(Block& block, Lock& lock);
  void write_ready(Lock& lock);
  /// Calls a function without the mutex, and keeps its exception.
  template <class F>
  void unlocked(Lock& lock, F&& f);
  /// Submits what was filled, and lends a hand as long as more than `most` blocks are not written.
  void submit(std::size_t most);

  const std::size_t columns_, block_numbers_;
  const Format format_;
  const Write write_;
  const std::size_t thread_count_;
  std::size_t rows_ = 0;
  std::unique_ptr<Block> filling_;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable filled_, written_;
  std::deque<std::unique_ptr<Block>> blocks_;  ///< in the order of their rows
  std::vector<std::unique_ptr<Block>> empty_;  ///< written ones, whose memory is used again
  std::size_t pending_ = 0;                    ///< blocks that are not written
  bool writing_ = false, ends_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;  ///< started with the first whole block
};

}  // namespace espalier::cli
