#include "cli/output/csv_rows.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "cli/output/shortest_text.hpp"

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
    : columns_(columns),
      thread_count_(threads < 0 ? free_cores() : threads),
      filling_(std::make_unique<Block>()) {}

CsvRows::~CsvRows() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  filled_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CsvRows::format(Block& block) const {
  if (block.text == nullptr) {
    block.text = std::make_unique_for_overwrite<char[]>((block_numbers + columns_) * longest_text);
  }
  char* end = block.text.get();
  std::size_t column = 0;
  for (const double x : block.numbers) {
    end = write_shortest(x, end);
    *end++ = ++column == columns_ ? '\n' : ',';
    if (column == columns_) column = 0;
  }
  block.size = end - block.text.get();
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

std::unique_ptr<CsvRows::Block> CsvRows::empty_block() {
  if (given_.empty()) return std::make_unique<Block>();
  std::unique_ptr<Block> block = std::move(given_.back());
  given_.pop_back();
  block->numbers.clear();
  block->state = Block::filled;
  return block;
}

std::string_view CsvRows::submit(std::size_t most) {
  std::unique_ptr<Block> next = std::exchange(filling_, empty_block());
  given_.clear();
  std::unique_lock lock(mutex_);
  if (!next->numbers.empty()) blocks_.push_back(std::move(next));
  lock.unlock();
  filled_.notify_one();
  lock.lock();
  for (;;) {
    while (!blocks_.empty() && blocks_.front()->state == Block::ready) {
      given_.push_back(std::move(blocks_.front()));
      blocks_.pop_front();
    }
    if (blocks_.size() <= most) break;
    if (Block* block = take()) {
      lock.unlock();
      format(*block);
      lock.lock();
      block->state = Block::ready;
    } else {
      ready_.wait(lock, [&] { return blocks_.front()->state == Block::ready; });
    }
  }
  lock.unlock();
  if (given_.empty()) return {};
  if (given_.size() == 1) return {given_.front()->text.get(), given_.front()->size};
  several_.clear();
  for (const auto& block : given_) several_.append(block->text.get(), block->size);
  return several_;
}

std::string_view CsvRows::add(const std::vector<double>& row) {
  std::vector<double>& numbers = filling_->numbers;
  numbers.insert(numbers.end(), row.begin(), row.end());
  if (numbers.size() < block_numbers) return {};
  while (threads_.size() < static_cast<std::size_t>(thread_count_)) {
    threads_.emplace_back([this] { work(); });
  }
  return submit(waiting_each * threads_.size());
}

std::string_view CsvRows::finish() { return submit(0); }

}  // namespace espalier::cli
