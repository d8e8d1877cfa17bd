#include "cli/output/row_blocks.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace espalier::cli {

namespace {

/// Blocks that may wait for each thread.
constexpr std::size_t waiting_each = 4;

int free_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 0;
  return std::clamp(CPU_COUNT(&cores) - 1, 0, 3);
}

}  // namespace

RowBlocks::RowBlocks(std::size_t columns, std::size_t rows, Format format, Write write, int threads)
    : columns_(columns),
      block_numbers_(columns * rows),
      format_(std::move(format)),
      write_(std::move(write)),
      thread_count_(static_cast<std::size_t>(threads < 0 ? free_cores() : threads)),
      filling_(std::make_unique<Block>()) {}

RowBlocks::~RowBlocks() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  filled_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

RowBlocks::Block* RowBlocks::take() {
  for (const auto& block : blocks_) {
    if (block->state != Block::filled) continue;
    block->state = Block::taken;
    return block.get();
  }
  return nullptr;
}

template <class F>
void RowBlocks::unlocked(Lock& lock, F&& f) {
  if (error_) return;  // nothing is written beyond what failed
  lock.unlock();
  std::exception_ptr error;
  try {
    f();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error && !error_) error_ = error;
}

void RowBlocks::process(Block& block, Lock& lock) {
  unlocked(lock, [&] { format_(block); });
  block.state = Block::ready;
  write_ready(lock);
}

void RowBlocks::write_ready(Lock& lock) {
  while (!writing_ && !blocks_.empty() && blocks_.front()->state == Block::ready) {
    std::unique_ptr<Block> block = std::move(blocks_.front());
    blocks_.pop_front();
    writing_ = true;
    unlocked(lock, [&] { write_(*block); });
    writing_ = false;
    --pending_;
    block->numbers = {};
    block->state = Block::filled;
    empty_.push_back(std::move(block));
    written_.notify_one();
  }
}

void RowBlocks::work() {
  Lock lock(mutex_);
  for (;;) {
    Block* block = nullptr;
    filled_.wait(lock, [&] { return ends_ || (block = take()) != nullptr; });
    if (block == nullptr) return;
    process(*block, lock);
  }
}

void RowBlocks::submit(std::size_t most) {
  Lock lock(mutex_);
  if (!filling_->numbers.empty()) {
    ++pending_;
    blocks_.push_back(std::move(filling_));
    filled_.notify_one();
    if (empty_.empty()) {
      filling_ = std::make_unique<Block>();
    } else {
      filling_ = std::move(empty_.back());
      empty_.pop_back();
    }
    filling_->first = rows_;
  }
  while (pending_ > most) {
    Block* block = nullptr;
    written_.wait(lock, [&] { return pending_ <= most || (block = take()) != nullptr; });
    if (block != nullptr) process(*block, lock);
  }
  if (error_) std::rethrow_exception(error_);
}

double* RowBlocks::begin_row() {
  std::unique_ptr<double[]>& room = filling_->room;
  if (room == nullptr) room = std::make_unique_for_overwrite<double[]>(block_numbers_);
  return room.get() + filling_->numbers.size();
}

void RowBlocks::end_row() {
  std::span<double>& numbers = filling_->numbers;
  numbers = {filling_->room.get(), numbers.size() + columns_};
  ++rows_;
  if (numbers.size() < block_numbers_) return;
  while (threads_.size() < thread_count_) threads_.emplace_back([this] { work(); });
  submit(waiting_each * threads_.size());
}

void RowBlocks::finish() { submit(0); }

}  // namespace espalier::cli
