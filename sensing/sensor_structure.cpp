#include "espalier/sensing/sensor_structure.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/max_cardinality_matching.hpp>
#include <boost/graph/strong_components.hpp>
#include <numeric>
#include <utility>

namespace espalier {

BlockForm block_form(int rows, const std::vector<int>& column_start,
                     const std::vector<int>& row_index) {
  const int columns = static_cast<int>(column_start.size()) - 1;
  BlockForm form;

  // Vertices: rows, then columns.
  using Bipartite = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
  Bipartite bipartite(rows + columns);
  for (int j = 0; j < columns; ++j) {
    for (int k = column_start[j]; k < column_start[j + 1]; ++k) {
      boost::add_edge(row_index[k], rows + j, bipartite);
    }
  }
  using Vertex = boost::graph_traits<Bipartite>::vertex_descriptor;
  std::vector<Vertex> mate(rows + columns);
  boost::edmonds_maximum_cardinality_matching(bipartite, mate.data());
  std::vector<int> matched_row(columns, -1);
  for (int j = 0; j < columns; ++j) {
    if (mate[rows + j] == boost::graph_traits<Bipartite>::null_vertex()) continue;
    matched_row[j] = static_cast<int>(mate[rows + j]);
    ++form.structural_rank;
  }
  if (rows != columns || form.structural_rank != columns) return form;

  // Column j needs column l solved before it if its matched row has an entry in l.
  std::vector<int> column_of(rows);
  for (int j = 0; j < columns; ++j) column_of[matched_row[j]] = j;
  std::vector<std::pair<int, int>> needs;
  for (int l = 0; l < columns; ++l) {
    for (int k = column_start[l]; k < column_start[l + 1]; ++k) {
      needs.emplace_back(column_of[row_index[k]], l);
    }
  }
  using Directed = boost::compressed_sparse_row_graph<boost::directedS>;
  const Directed graph(boost::edges_are_unsorted_multi_pass, needs.begin(), needs.end(), columns);
  std::vector<int> component(columns);
  const auto index = boost::get(boost::vertex_index, graph);
  const int count =
      boost::strong_components(graph, boost::make_iterator_property_map(component.begin(), index));

  // Components are numbered such that one comes after all that it needs; in an upper triangular
  // matrix these stand further down.
  form.block_start.assign(count + 1, 0);
  for (const int c : component) ++form.block_start[count - c];
  std::partial_sum(form.block_start.begin(), form.block_start.end(), form.block_start.begin());
  std::vector<int> next(form.block_start.begin(), form.block_start.end() - 1);
  form.row_order.resize(columns);
  form.column_order.resize(columns);
  for (int j = 0; j < columns; ++j) {
    const int at = next[count - 1 - component[j]]++;
    form.row_order[at] = matched_row[j];
    form.column_order[at] = j;
  }
  return form;
}

}  // namespace espalier
