#include "espalier/simulation/contact/placed_bodies.hpp"

#include <algorithm>

namespace espalier::contact {

PlacedBodies::PlacedBodies(const Model& model, const std::set<int>& bodies)
    : bodies_(bodies.begin(), bodies.end()),  // parents have lower numbers
      first_column_(model.body_count() + 1, -1),
      root_of_(model.body_count() + 1, 0) {
  for (const int i : bodies_) {
    const Body& body = model.body(i);
    const Cluster& c = model.clusters()[body.cluster];
    root_of_[i] = body.parent == 0 ? i : root_of_[body.parent];
    first_column_[i] = static_cast<int>(columns_.size());
    columns_.resize(columns_.size() + c.nv);
    if (c.constrained) continue;
    // Unit axes through the origin turn about it; slides turn nothing.
    const SubspaceKind kind = model.runs()[body.run].subspace;
    for (int k = 0; k < c.nv; ++k) {
      Column& column = columns_[first_column_[i] + k];
      const bool free = kind == SubspaceKind::free;
      column.turns = !(kind == SubspaceKind::prismatic_z || (free && k >= 3));
      const bool about_origin =
          kind == SubspaceKind::revolute_z || kind == SubspaceKind::spherical || (free && k < 3);
      column.shifts = !(root_of_[i] == i && about_origin);
    }
  }
}

void BodyWay::find_columns(const Model& model, const PlacedBodies& placed) {
  columns.assign(support.size(), -1);
  for (auto i = way.rbegin(); i != way.rend(); ++i) {  // the lowest of a cluster stays
    const Cluster& c = model.clusters()[model.body(*i).cluster];
    for (int k = 0; k < c.nv; ++k) {
      const auto at = std::lower_bound(support.begin(), support.end(), c.v + k);
      columns[at - support.begin()] = placed.first_column(*i) + k;
    }
  }
}

}  // namespace espalier::contact
