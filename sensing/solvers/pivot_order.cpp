#include "sensing/solvers/pivot_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/sensing/sensor_structure.hpp"

namespace espalier {

namespace {

constexpr int sample_count = 4;
using Values = std::array<double, sample_count>;

/// Gaussian elimination of one diagonal block in all samples at once.
class Elimination {
 public:
  struct Entry {
    int column;
    Values values;
  };

  explicit Elimination(int n) : rows(n), columns(n), where_(n, 0) {}

  std::vector<std::vector<Entry>> rows;   ///< active entries by row
  std::vector<std::vector<int>> columns;  ///< active rows by column

  void add(int row, int column, const Values& values) {
    rows[row].push_back({column, values});
    columns[column].push_back(row);
  }
  const Values* find(int row, int column) const {
    for (const Entry& e : rows[row]) {
      if (e.column == column) return &e.values;
    }
    return nullptr;
  }
  /// Largest entry of a column in each sample.
  Values largest(int column) const {
    Values most{};
    for (const int i : columns[column]) {
      const Values& x = *find(i, column);
      for (int s = 0; s < sample_count; ++s) most[s] = std::max(most[s], std::abs(x[s]));
    }
    return most;
  }
  /// Size beside the largest of the column, in the worst sample.
  static double relative(const Values& x, const Values& largest) {
    double least = std::numeric_limits<double>::infinity();
    for (int s = 0; s < sample_count; ++s) {
      least = std::min(least, largest[s] > 0.0 ? std::abs(x[s]) / largest[s] : 0.0);
    }
    return least;
  }
  long cost(int row, int column) const {
    return static_cast<long>(rows[row].size() - 1) * static_cast<long>(columns[column].size() - 1);
  }

  void eliminate(int row, int column) {
    const std::vector<Entry> pivot_row = std::move(rows[row]);
    rows[row].clear();
    const Values pivot = std::find_if(pivot_row.begin(), pivot_row.end(), [&](const Entry& e) {
                           return e.column == column;
                         })->values;
    for (const Entry& e : pivot_row) std::erase(columns[e.column], row);
    for (const int i : columns[column]) {
      std::vector<Entry>& to = rows[i];
      Values factor{};
      for (std::size_t k = 0; k < to.size(); ++k) {
        where_[to[k].column] = static_cast<int>(k) + 1;
        if (to[k].column == column) factor = to[k].values;
      }
      for (int s = 0; s < sample_count; ++s) factor[s] /= pivot[s];
      for (const Entry& e : pivot_row) {
        if (e.column == column) continue;
        if (where_[e.column] == 0) {
          to.push_back({e.column, Values{}});
          where_[e.column] = static_cast<int>(to.size());
          columns[e.column].push_back(i);
        }
        Values& x = to[where_[e.column] - 1].values;
        for (int s = 0; s < sample_count; ++s) x[s] -= factor[s] * e.values[s];
      }
      for (const Entry& e : to) where_[e.column] = 0;
      to.erase(
          std::find_if(to.begin(), to.end(), [&](const Entry& e) { return e.column == column; }));
    }
    columns[column].clear();
  }

 private:
  std::vector<int> where_;
};

/// The order inside of blocks.
class PivotSearch {
 public:
  PivotSearch(const SparsePattern& pattern, const std::vector<Values>& values, BlockForm form)
      : n_(pattern.size()), elimination_(n_), form_(std::move(form)), done_(n_, false) {
    block_.resize(n_);
    row_block_.resize(n_);
    for (std::size_t b = 0; b + 1 < form_.block_start.size(); ++b) {
      for (int k = form_.block_start[b]; k < form_.block_start[b + 1]; ++k) {
        block_[form_.column_order[k]] = row_block_[form_.row_order[k]] = static_cast<int>(b);
      }
    }
    pivots_.resize(form_.block_start.size() - 1);
    for (int j = 0; j < n_; ++j) {
      for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
        if (row_block_[pattern.row_index[k]] == block_[j]) {
          elimination_.add(pattern.row_index[k], j, values[k]);
        }
      }
    }
  }

  void take(const PivotStep& step) {
    for (;;) {
      Choice best;
      for (const int j : step.columns) consider(j, step.threshold, &step.rows, best);
      if (best.row < 0) return;
      take(best);
    }
  }
  /// All that is left. @returns whether every pivot was found
  bool finish() {
    for (std::size_t b = 0; b + 1 < form_.block_start.size(); ++b) {
      std::vector<int> left;
      for (int k = form_.block_start[b]; k < form_.block_start[b + 1]; ++k) {
        if (!done_[form_.column_order[k]]) left.push_back(form_.column_order[k]);
      }
      while (!left.empty()) {
        const Choice best = cheapest(left);
        if (best.row < 0) return false;
        take(best);
        std::erase(left, best.column);
      }
    }
    return true;
  }
  void write(PivotOrder& order) const {
    for (const auto& block : pivots_) {
      for (const auto& [row, column] : block) {
        order.rows.push_back(row);
        order.columns.push_back(column);
      }
    }
    order.block_start = form_.block_start;
  }

 private:
  struct Choice {
    int row = -1, column = -1;
    long cost = std::numeric_limits<long>::max();
    double size = 0.0;
  };

  /// Looks for the cheapest good pivot of a column; of equals the larger.
  void consider(int column, double threshold, const std::vector<int>* allowed, Choice& best) const {
    if (done_[column]) return;
    const Values largest = elimination_.largest(column);
    for (const int i : elimination_.columns[column]) {
      if (allowed != nullptr && std::find(allowed->begin(), allowed->end(), i) == allowed->end()) {
        continue;
      }
      const double size = Elimination::relative(*elimination_.find(i, column), largest);
      if (!(size >= threshold)) continue;
      const long cost = elimination_.cost(i, column);
      if (cost > best.cost || (cost == best.cost && size <= best.size)) continue;
      best = {i, column, cost, size};
    }
  }
  /// Markowitz' search: columns of few entries first, and not all of them.
  Choice cheapest(std::vector<int>& left) const {
    constexpr std::size_t enough = 8;
    const auto fewer = [&](int a, int b) {
      return elimination_.columns[a].size() < elimination_.columns[b].size();
    };
    const std::size_t first = std::min(enough, left.size());
    std::partial_sort(left.begin(), left.begin() + static_cast<long>(first), left.end(), fewer);
    Choice best;
    // Below 1e-6 there is no order that is good for all samples.
    for (double threshold = 0.1; threshold > 5e-7; threshold *= 0.1) {
      for (std::size_t k = 0; k < left.size() && (k < first || best.row < 0); ++k) {
        consider(left[k], threshold, nullptr, best);
      }
      if (best.row >= 0) break;
    }
    return best;
  }
  void take(const Choice& choice) {
    done_[choice.column] = true;
    pivots_[block_[choice.column]].emplace_back(choice.row, choice.column);
    elimination_.eliminate(choice.row, choice.column);
  }

  int n_;
  Elimination elimination_;
  BlockForm form_;
  std::vector<bool> done_;
  std::vector<int> block_, row_block_;
  std::vector<std::vector<std::pair<int, int>>> pivots_;  ///< by block
};

/// Powers of two that bring the largest entries of rows and columns near to 1.
void equilibrate(const SparsePattern& pattern, const std::vector<Values>& values,
                 PivotOrder& order) {
  const int n = pattern.size();
  std::vector<double> row(n, 0.0), column(n, 0.0);  // logarithms
  for (int pass = 0; pass < 6; ++pass) {
    const double none = -std::numeric_limits<double>::infinity();
    std::vector<double> row_most(n, none), column_most(n, none);
    for (int j = 0; j < n; ++j) {
      for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
        const int i = pattern.row_index[k];
        double most = 0.0;
        for (const double x : values[k]) most = std::max(most, std::abs(x));
        const double size = std::log2(most) + row[i] + column[j];
        row_most[i] = std::max(row_most[i], size);
        column_most[j] = std::max(column_most[j], size);
      }
    }
    for (int i = 0; i < n; ++i) {
      if (std::isfinite(row_most[i])) row[i] -= 0.5 * row_most[i];
      if (std::isfinite(column_most[i])) column[i] -= 0.5 * column_most[i];
    }
  }
  const auto rounded = [](const std::vector<double>& x) {
    std::vector<int> exponents;
    for (const double e : x)
      exponents.push_back(static_cast<int>(std::lround(std::clamp(e, -200.0, 200.0))));
    return exponents;
  };
  order.row_exponent = rounded(row);
  order.column_exponent = rounded(column);
}

std::string numbers(const std::vector<int>& list) {
  std::string words;
  for (const int x : list) words += " " + std::to_string(x);
  return words + "\n";
}

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidModel("symbolic result: " + what);
}

bool is_permutation(const std::vector<int>& order, int n) {
  std::vector<bool> seen(n, false);
  for (const int x : order) {
    if (x < 0 || x >= n || seen[x]) return false;
    seen[x] = true;
  }
  return static_cast<int>(order.size()) == n;
}

constexpr const char* head = "espalier symbolic 1";

}  // namespace

PivotOrder find_pivots(const SparsePattern& pattern,
                       const std::vector<std::vector<double>>& samples,
                       const std::vector<PivotStep>& steps) {
  PivotOrder order;
  BlockForm form = block_form(pattern.size(), pattern.column_start, pattern.row_index);
  if (form.structural_rank < pattern.size()) return order;
  std::vector<Values> values(pattern.entries());
  for (int k = 0; k < pattern.entries(); ++k) {
    for (int s = 0; s < sample_count; ++s) values[k][s] = samples[s % samples.size()][k];
  }
  equilibrate(pattern, values, order);
  for (int j = 0; j < pattern.size(); ++j) {
    for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
      for (double& x : values[k]) {
        x = std::ldexp(x, order.row_exponent[pattern.row_index[k]] + order.column_exponent[j]);
      }
    }
  }
  PivotSearch search(pattern, values, std::move(form));
  for (const PivotStep& step : steps) search.take(step);
  if (search.finish()) search.write(order);
  return order;
}

std::string PivotOrder::text(const std::string& fingerprint) const {
  return std::string(head) + "\nfor " + fingerprint + "\nrows" + numbers(rows) + "columns" +
         numbers(columns) + "blocks" + numbers(block_start) + "row_exponents" +
         numbers(row_exponent) + "column_exponents" + numbers(column_exponent);
}

PivotOrder PivotOrder::parse(const std::string& text, const std::string& fingerprint,
                             const SparsePattern& pattern) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  if (line != head) {
    refuse("first line is " + text::quoted(line.substr(0, 40)) + ", expected " +
           text::quoted(head));
  }
  std::getline(in, line);
  if (line != "for " + fingerprint) {
    refuse("it is " + text::quoted(line.substr(0, 120)) + ", expected " +
           text::quoted("for " + fingerprint) +
           " (another robot, other sensors or another order "
           "of them: analyse again)");
  }
  PivotOrder order;
  const int n = pattern.size();
  const auto list = [&](const char* name, std::vector<int>& out) {
    std::getline(in, line);
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key != name) {
      refuse("a line begins with " + text::quoted(key.substr(0, 40)) + ", expected " +
             text::quoted(name));
    }
    for (int x = 0; words >> x;) out.push_back(x);
    if (!words.eof()) refuse("line " + text::quoted(name) + " holds what is no number");
  };
  list("rows", order.rows);
  list("columns", order.columns);
  list("blocks", order.block_start);
  list("row_exponents", order.row_exponent);
  list("column_exponents", order.column_exponent);
  for (const auto* permutation : {&order.rows, &order.columns}) {
    if (!is_permutation(*permutation, n)) {
      refuse("rows or columns are no permutation of the numbers up to " + std::to_string(n - 1));
    }
  }
  const std::vector<int>& blocks = order.block_start;
  const bool ascending =
      std::adjacent_find(blocks.begin(), blocks.end(), std::greater_equal<>()) == blocks.end();
  if (blocks.empty() || blocks.front() != 0 || blocks.back() != n || !ascending) {
    refuse("blocks do not ascend from 0 to " + std::to_string(n));
  }
  for (const auto* exponents : {&order.row_exponent, &order.column_exponent}) {
    const bool good =
        std::all_of(exponents->begin(), exponents->end(), [](int e) { return std::abs(e) <= 200; });
    if (static_cast<int>(exponents->size()) != n || !good) {
      refuse("exponents are not " + std::to_string(n) + " numbers from -200 to 200");
    }
  }
  std::vector<int> block_of_row(n), block_of_column(n);
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    for (int k = blocks[b]; k < blocks[b + 1]; ++k) {
      block_of_row[order.rows[k]] = block_of_column[order.columns[k]] = static_cast<int>(b);
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
      if (block_of_row[pattern.row_index[k]] <= block_of_column[j]) continue;
      refuse("its blocks leave out an entry of the matrix, expected block upper triangular form");
    }
  }
  return order;
}

}  // namespace espalier
