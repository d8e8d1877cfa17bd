#include "cli/output/csv_rows.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace espalier::cli {

namespace {

/// Numbers of a block: a tenth of a millisecond of work, a hundred times what handing over costs.
constexpr std::size_t block_numbers = 4096;
/// Blocks that may wait for each thread.
constexpr std::size_t waiting_each = 4;

int free_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 0;
  return std::clamp(CPU_COUNT(&cores) - 1, 0, 3);
}

}  // namespace

CsvRows::CsvRows(std::size_t columns, int threads)
    : columns_(columns), thread_count_(threads < 0 ? free_cores() : threads) {}

CsvRows::~CsvRows() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  filled_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CsvRows::format(Block& block) const {
  block.text.clear();
  std::size_t column = 0;
  for (const double x : block.numbers) {  // shortest digits that read back as the same number
    std::array<char, 32> digits;          // the longest double has 24 characters
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
    *end++ = ++column == columns_ ? '\n' : ',';
    if (column == columns_) column = 0;
    block.text.append(digits.data(), end);
  }
}

CsvRows::Block* CsvRows::take() {
  for (const auto& block : blocks_) {
    if (block->state != Block::filled) continue;
    block->state = Block::taken;
    return block.get();
  }
  return nullptr;
}

void CsvRows::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    Block* block = nullptr;
    filled_.wait(lock, [&] { return ends_ || (block = take()) != nullptr; });
    if (block == nullptr) return;
    lock.unlock();
    format(*block);
    lock.lock();
    block->state = Block::ready;
    ready_.notify_one();
  }
}

void CsvRows::hand_over(std::size_t most) {
  out_.clear();
  auto next = std::make_unique<Block>();
  next->numbers.swap(filling_);
  std::unique_lock lock(mutex_);
  if (!next->numbers.empty()) blocks_.push_back(std::move(next));
  lock.unlock();
  filled_.notify_one();
  lock.lock();
  for (;;) {
    while (!blocks_.empty() && blocks_.front()->state == Block::ready) {
      out_ += blocks_.front()->text;
      blocks_.pop_front();
    }
    if (blocks_.size() <= most) return;
    if (Block* block = take()) {
      lock.unlock();
      format(*block);
      lock.lock();
      block->state = Block::ready;
    } else {
      ready_.wait(lock, [&] { return blocks_.front()->state == Block::ready; });
    }
  }
}

std::string_view CsvRows::add(const std::vector<double>& row) {
  filling_.insert(filling_.end(), row.begin(), row.end());
  if (filling_.size() < block_numbers) return {};
  while (threads_.size() < static_cast<std::size_t>(thread_count_)) {
    threads_.emplace_back([this] { work(); });
  }
  hand_over(waiting_each * threads_.size());
  return out_;
}

std::string_view CsvRows::finish() {
  hand_over(0);
  return out_;
}

}  // namespace espalier::cli
