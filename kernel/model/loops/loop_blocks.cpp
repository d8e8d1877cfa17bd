#include "espalier/kernel/model/loops/loop_blocks.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>
#include <boost/graph/strong_components.hpp>
#include <numeric>
#include <utility>

#include "espalier/kernel/model/loops/constraint.hpp"

namespace espalier {

namespace {

/// For each row a dependent column of its own that it has an entry in; empty if there is no such
/// choice.
std::vector<int> match(const ClusterConstraint& constraint, const std::vector<int>& dependent) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
  const int m = constraint.rows();
  Graph graph(2 * m);  // rows, then dependent columns by number
  for (int i = 0; i < m; ++i) {
    for (const int column : constraint.entries(i)) {
      if (dependent[column] >= 0) boost::add_edge(i, m + dependent[column], graph);
    }
  }
  std::vector<Graph::vertex_descriptor> mate(2 * m);
  boost::edmonds_maximum_cardinality_matching(graph, mate.data());
  std::vector<int> matched(m);
  for (int i = 0; i < m; ++i) {
    if (mate[i] == boost::graph_traits<Graph>::null_vertex()) return {};
    matched[i] = static_cast<int>(mate[i]) - m;
  }
  return matched;
}

/// Orders rows and columns of a block so that reflections of its columns, one after the other, meet
/// few rows: next is a column of the fewest rows that are left, which all come to have entries
/// wherever one of them has, and the row among them that has the fewest.
/// @param entries  of each row: columns, by their number in the block
/// @return numbers of rows, and of columns
std::pair<std::vector<int>, std::vector<int>> order(const std::vector<std::vector<int>>& entries) {
  const int n = static_cast<int>(entries.size());
  using Bits = boost::dynamic_bitset<>;
  std::vector<Bits> row(n, Bits(n));
  std::vector<int> count(n, 0);  // of rows that are left, for each column
  const auto each = [](const Bits& bits, auto&& f) {
    for (std::size_t j = bits.find_first(); j != Bits::npos; j = bits.find_next(j)) f(j);
  };
  for (int i = 0; i < n; ++i) {
    for (const int j : entries[i]) row[i].set(j), ++count[j];
  }
  std::vector<int> rows(n), columns(n), left_rows(n), left_columns(n);
  std::iota(left_rows.begin(), left_rows.end(), 0);
  std::iota(left_columns.begin(), left_columns.end(), 0);
  for (int k = 0; k < n; ++k) {
    const auto column = std::min_element(left_columns.begin(), left_columns.end(),
                                         [&](int a, int b) { return count[a] < count[b]; });
    const int j = *column;
    left_columns.erase(column);
    Bits met(n);
    int pivot = left_rows.front();
    for (const int i : left_rows) {
      if (!row[i][j]) continue;
      met |= row[i];
      if (!row[pivot][j] || row[i].count() < row[pivot].count()) pivot = i;
    }
    for (const int i : left_rows) {
      if (!row[i][j]) continue;
      each(met - row[i], [&](std::size_t other) { ++count[other]; });
      row[i] = met;
    }
    each(row[pivot], [&](std::size_t other) { --count[other]; });
    std::erase(left_rows, pivot);
    rows[k] = pivot, columns[k] = j;
  }
  return {rows, columns};
}

}  // namespace

std::optional<LoopBlocks> LoopBlocks::find(const ClusterConstraint& constraint) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  if (!constraint.is_sparse() || m != r || m == 0) return std::nullopt;
  std::vector<int> dependent(constraint.columns, -1);  // number of each column among these
  for (int j = 0; j < r; ++j) dependent[constraint.dependent[j]] = j;
  const std::vector<int> matched = match(constraint, dependent);
  if (matched.empty()) return std::nullopt;

  // A row reads the rows that determine its other dependent columns; rows that read one another are
  // a block. Components are numbered as they are completed: what is read comes first.
  std::vector<int> row_of(r);
  for (int i = 0; i < m; ++i) row_of[matched[i]] = i;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> reads(m);
  for (int i = 0; i < m; ++i) {
    for (const int column : constraint.entries(i)) {
      const int j = dependent[column];
      if (j >= 0 && row_of[j] != i) boost::add_edge(i, row_of[j], reads);
    }
  }
  std::vector<int> block_of(m);
  const int count = boost::strong_components(
      reads,
      boost::make_iterator_property_map(block_of.begin(), boost::get(boost::vertex_index, reads)));

  LoopBlocks out;
  std::vector<std::vector<int>> members(count);
  for (int i = 0; i < m; ++i) members[block_of[i]].push_back(i);
  std::vector<int> place(r);  // of each dependent column in its block
  for (std::vector<int>& rows : members) {
    Block block;
    block.size = static_cast<int>(rows.size());
    block.first = static_cast<int>(out.rows.size());
    block.factor = out.factor_size;
    std::vector<int> columns;
    for (const int i : rows) columns.push_back(constraint.dependent[matched[i]]);
    std::sort(columns.begin(), columns.end());
    const auto number = [&] {
      for (int j = 0; j < block.size; ++j) place[dependent[columns[j]]] = j;
    };
    number();
    if (block.size > 2) {
      std::vector<std::vector<int>> entries(block.size);
      for (int row = 0; row < block.size; ++row) {
        for (const int column : constraint.entries(rows[row])) {
          const int j = dependent[column];
          if (j >= 0 && block_of[row_of[j]] == block_of[rows[row]]) {
            entries[row].push_back(place[j]);
          }
        }
      }
      const auto [row_order, column_order] = order(entries);
      const std::vector<int> old_rows = rows, old_columns = columns;
      for (int k = 0; k < block.size; ++k) {
        rows[k] = old_rows[row_order[k]], columns[k] = old_columns[column_order[k]];
      }
      number();
    }
    block.inside = static_cast<int>(out.inside.size());
    block.outside = static_cast<int>(out.outside.size());
    for (int row = 0; row < block.size; ++row) {
      const int i = rows[row];
      int value = constraint.first_entry(i);
      for (const int column : constraint.entries(i)) {
        const int j = dependent[column];
        if (j >= 0 && block_of[row_of[j]] == block_of[i]) {
          out.inside.push_back({value, row * block.size + place[j]});
        } else {
          out.outside.push_back({value, row, column});
        }
        ++value;
      }
    }
    block.inside_end = static_cast<int>(out.inside.size());
    block.outside_end = static_cast<int>(out.outside.size());
    out.rows.insert(out.rows.end(), rows.begin(), rows.end());
    out.columns.insert(out.columns.end(), columns.begin(), columns.end());
    out.factor_size += block.size * block.size;
    out.largest = std::max(out.largest, block.size);
    out.blocks.push_back(block);
  }
  return out;
}

}  // namespace espalier
