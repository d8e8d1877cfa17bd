#include "espalier/kernel/model/inertia/inertia_groups.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/inertia/inertia_terms.hpp"

namespace espalier::detail {

namespace {

using Matrix = Eigen::MatrixXd;

/// Inertias that are smaller than this beside what they carry are looked at together with it. What
/// the first link of a long chain carries grows with the cube of its length, and is no harm.
double light_beside(int bodies) { return 1e-9 / std::pow(std::max(1.0, bodies / 500.0), 3); }

/// Settles bodies, from the ground outwards, and gathers what cannot be.
class GroupFinder {
 public:
  GroupFinder(const Model& model, RatesOf rates)
      : model_(model),
        spanning_(rates == RatesOf::spanning_tree),
        joints_(model),
        light_(light_beside(model.active_body_count())) {
    q_.resize(model.nq());
    model.neutral(q_.data());
    joints_.update(model, q_.data(), nullptr);
    still_.assign(model.spanning_nv(), 0.0);
    armature_.assign(model.spanning_nv(), 0.0);
    for (const auto& [rate, inertia] : model.armature()) armature_[rate] = inertia;
    independent_.assign(model.spanning_nv(), false);
    for (const int rate : model.independent_rates()) independent_[rate] = true;
    find_locked();
    list_units();
  }

  std::vector<InertiaGroup> find(bool everything) {
    rests_.assign(model_.active_body_count() + 1, false);
    group_of_.assign(rests_.size(), -1);
    rests_[0] = true;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      const bool carried = std::any_of(unit.supports.begin(), unit.supports.end(),
                                       [&](int b) { return !rests_[b]; });
      if (everything || carried || !settles(unit)) {
        gather(static_cast<int>(u), everything ? 0 : -1);
      } else {
        for (const int b : unit.bodies) rests_[b] = true;
      }
    }
    std::vector<InertiaGroup> all;
    for (const std::vector<int>& units : gathered_) {
      if (!units.empty()) all.push_back(build(units));
    }
    if (spanning_) add_loose_rotors(all);
    return all;
  }

 private:
  /// What is settled at once: a cluster or, in the open spanning tree, a body.
  struct Unit {
    std::vector<int> bodies, supports;
    const Cluster* tied = nullptr;
  };

  void list_units() {
    for (const Cluster& c : model_.clusters()) {
      Unit unit;
      for (int b = c.first; b < c.first + c.count; ++b) {
        if (spanning_) {
          units_.push_back({{b}, {model_.body(b).parent}, nullptr});
        } else {
          unit.bodies.push_back(b);
        }
      }
      if (spanning_) continue;
      unit.supports = c.supports;
      if (c.constrained) unit.tied = &c;
      units_.push_back(std::move(unit));
    }
  }

  /// Inertia of each body with all that hangs on it, and along each rate, joints beyond being
  /// locked.
  void find_locked() {
    const int n = model_.active_body_count();
    for (int i = 0; i <= n; ++i) carried_.push_back(model_.folded_inertia(i));
    for (int i = n; i >= 1; --i) {
      const int p = model_.body(i).parent;
      if (p != 0) carried_[p] += congruence(joints_.X[i], carried_[i]);
    }
    locked_.assign(model_.spanning_nv(), 0.0);
    for (int i = 1; i <= n; ++i) {
      const Matrix D = inertia_along(i, carried_[i]);
      for (int k = 0; k < model_.body(i).nv; ++k) locked_[model_.body(i).v + k] = D(k, k);
    }
    for (const Rotor& rotor : model_.rotors()) locked_[rotor.v] = rotor.inertia;
    for (const double inertia : locked_) largest_ = std::max(largest_, inertia);
  }

  /// S^T I S with armature, and with what a joint brings of its own.
  Matrix inertia_along(int body, const RigidInertia<double>& I) {
    const Body& b = model_.body(body);
    Matrix D(b.nv, b.nv);
    for (int k = 0; k < b.nv; ++k) {
      const Force<double> F = I * unit_motion(model_, body, k, joints_.S.data());
      for (int l = 0; l < b.nv; ++l)
        D(l, k) = dot(unit_motion(model_, body, l, joints_.S.data()), F);
      D(k, k) += armature_[b.v + k];
    }
    if (has_equations(model_, body)) {
      std::vector<double> M, h;
      own_inertia(model_, body, q_.data(), still_.data(), M, h);
      for (int k = 0; k < b.nv; ++k) {
        for (int l = 0; l <= k; ++l) {
          D(k, l) += M[(6 + k) * (6 + b.nv) + 6 + l];
          if (l < k) D(l, k) += M[(6 + k) * (6 + b.nv) + 6 + l];
        }
      }
    }
    return D;
  }

  /// A dependent rate of the open tree that moves nothing: whoever works on that tree holds it.
  bool is_held(int rate) const {
    return spanning_ && !independent_[rate] && locked_[rate] <= 1e-14 * largest_;
  }

  /// Whether its bodies have inertia in every motion of their own, wherever they are, what carries
  /// them being at rest. Leaves in rests_ which of them rest then.
  bool settles(const Unit& unit) {
    std::vector<int> still;  // spanning rates
    for (const int i : unit.bodies) {
      const Body& body = model_.body(i);
      bool all = true;
      for (int k = 0; k < body.nv; ++k) all = all && is_held(body.v + k);
      if (!all && rests_[body.parent]) {
        const Eigen::Map<const Eigen::VectorXd> size(locked_.data() + body.v, body.nv);
        all = least_eigenvalue(inertia_along(i, model_.body(i).inertia), size) > light_;
      }
      for (int k = 0; k < body.nv; ++k) {
        const int rate = body.v + k;
        if (all || armature_[rate] > light_ * locked_[rate]) still.push_back(rate);
      }
      rests_[i] = all && rests_[body.parent];
    }
    if (unit.tied == nullptr) return still.size() == rates_of(unit);
    for (int k = 0; k < unit.tied->rotors; ++k) {
      const Rotor& rotor = model_.rotors()[unit.tied->rotor + k];
      if (rests_[rotor.parent] && rotor.inertia > 0.0) still.push_back(rotor.v);
    }
    return determines(*unit.tied, still) && !drowns(*unit.tied);
  }
  /// Whether beside huge constant ratios some motion of a cluster has inertia below rounding: that
  /// of its bodies by themselves, G^T diag(locked) G.
  bool drowns(const Cluster& c) const {
    if (c.G.empty() || c.nv < 2) return false;
    double most = 0.0, least = HUGE_VAL;
    for (int i = 0; i < c.rows(); ++i) {
      const double inertia = locked_[c.rate(i)];
      for (int j = 0; j < c.nv; ++j) {
        const double g = c.G[i * c.nv + j];
        most = std::max(most, inertia * g * g);
      }
      if (independent_[c.rate(i)]) least = std::min(least, inertia);
    }
    if (most < 1e9 * least) return false;
    Matrix D = Matrix::Zero(c.nv, c.nv);
    for (int i = 0; i < c.rows(); ++i) {
      const Eigen::Map<const Eigen::VectorXd> row(c.G.data() + i * c.nv, c.nv);
      D += locked_[c.rate(i)] * row * row.transpose();
    }
    return least_eigenvalue(D, D.diagonal()) < light_ * 1e-3;
  }
  std::size_t rates_of(const Unit& unit) const {
    std::size_t n = 0;
    for (const int b : unit.bodies) n += model_.body(b).nv;
    return n;
  }
  /// Whether no motion of a cluster leaves these rates still: of those that G copies from the
  /// independent ones, and of all where G is constant.
  bool determines(const Cluster& c, const std::vector<int>& rates) const {
    if (static_cast<int>(rates.size()) < c.nv) return false;
    const auto independent = model_.independent_rates().subspan(c.v, c.nv);
    const bool copies = std::all_of(independent.begin(), independent.end(), [&](int rate) {
      return std::find(rates.begin(), rates.end(), rate) != rates.end();
    });
    if (copies || c.G.empty()) return copies;
    Matrix rows(rates.size(), c.nv);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      for (int j = 0; j < c.nv; ++j) rows(i, j) = c.G[c.row(rates[i]) * c.nv + j];
    }
    return rank(rows) == c.nv;
  }

  /// Whether a body has so much inertia of its own that it takes part in no motion without any.
  bool is_solid(int i) const {
    const RigidInertia<double>&own = model_.body(i).inertia, &all = carried_[i];
    return own.m > light_ * all.m && own.m > 0.0 &&
           principal_moments(own)(0) > light_ * (all.I.xx + all.I.yy + all.I.zz);
  }

  void gather(int unit, int into) {
    for (const int support : units_[unit].supports) {
      const int other = rests_[support] ? -1 : group_of_[support];
      if (other < 0 || other == into) continue;
      if (into < 0) {
        into = other;
        continue;
      }
      for (const int u : gathered_[other]) {
        for (const int b : units_[u].bodies) group_of_[b] = into;
      }
      gathered_[into].insert(gathered_[into].end(), gathered_[other].begin(),
                             gathered_[other].end());
      gathered_[other].clear();
    }
    if (into < 0) into = static_cast<int>(gathered_.size());
    if (into >= static_cast<int>(gathered_.size())) gathered_.resize(into + 1);
    gathered_[into].push_back(unit);
    for (const int b : units_[unit].bodies) {
      group_of_[b] = into;
      rests_[b] = is_solid(b);
    }
  }

  InertiaGroup build(std::vector<int> units) const {
    std::sort(units.begin(), units.end());
    InertiaGroup group;
    std::vector<int> member(model_.active_body_count() + 1, -1);
    int inertias = 0;
    for (const int u : units) {
      const Unit& unit = units_[u];
      const int first = static_cast<int>(group.rates.size());
      if (unit.tied != nullptr) {
        const auto rates = model_.independent_rates().subspan(unit.tied->v, unit.tied->nv);
        group.rates.insert(group.rates.end(), rates.begin(), rates.end());
      }
      for (const int i : unit.bodies) {
        const Body& body = model_.body(i);
        InertiaGroup::Member next;
        next.body = i, next.parent = member[body.parent];
        next.inertia = model_.folded_inertia(i);
        inertias += (next.inertia.m > 0.0 ||
                     next.inertia.I.xx + next.inertia.I.yy + next.inertia.I.zz > 0.0)
                        ? 6
                        : 0;
        if (has_equations(model_, i)) inertias += 6 + body.nv;
        for (int k = 0; k < body.nv; ++k) {
          const int rate = body.v + k;
          InertiaGroup::Row row;
          row.armature = armature_[rate];
          inertias += row.armature > 0.0;
          if (unit.tied != nullptr) {
            row.tied = unit.tied, row.row = unit.tied->row(rate);
            row.first = first, row.count = unit.tied->nv;
          } else if (!is_held(rate)) {
            row.first = static_cast<int>(group.rates.size()), row.count = 1;
            group.rates.push_back(rate);
          }
          next.rows.push_back(row);
        }
        member[i] = static_cast<int>(group.members.size());
        group.members.push_back(std::move(next));
      }
      if (unit.tied != nullptr) inertias += add_rotors(*unit.tied, first, member, group);
    }
    if (spanning_) inertias += add_turning_rotors(member, group);
    group.hopeless = inertias < static_cast<int>(group.rates.size());
    group.guarded = true;
    if (!group.hopeless) list_columns(group);
    return group;
  }
  /// Rotors of the open tree turn by themselves: beside what carries them.
  int add_turning_rotors(const std::vector<int>& member, InertiaGroup& group) const {
    int count = 0;
    for (const Rotor& rotor : model_.rotors()) {
      if (member[rotor.parent] < 0 || is_held(rotor.v)) continue;
      group.rotors.push_back(turning(rotor, member[rotor.parent], group));
      ++count;
    }
    return count;
  }
  static InertiaGroup::FoldedRotor turning(const Rotor& rotor, int parent, InertiaGroup& group) {
    InertiaGroup::FoldedRotor out{parent, rotor.momentum, rotor.inertia, {}};
    out.row.first = static_cast<int>(group.rates.size()), out.row.count = 1;
    group.rates.push_back(rotor.v);
    return out;
  }
  /// Those that rest on what rests, and have no inertia although they are independent.
  void add_loose_rotors(std::vector<InertiaGroup>& all) const {
    for (const Rotor& rotor : model_.rotors()) {
      if (rotor.inertia > 0.0 || is_held(rotor.v) || !rests_[rotor.parent]) continue;
      InertiaGroup group;
      group.rotors.push_back(turning(rotor, -1, group));
      all.push_back(std::move(group));
    }
  }
  int add_rotors(const Cluster& c, int first, const std::vector<int>& member,
                 InertiaGroup& group) const {
    for (int k = 0; k < c.rotors; ++k) {
      const Rotor& rotor = model_.rotors()[c.rotor + k];
      InertiaGroup::FoldedRotor out;
      out.parent = member[rotor.parent];
      out.momentum = rotor.momentum, out.inertia = rotor.inertia;
      out.row.tied = &c, out.row.row = c.spanning_nv + k;
      out.row.first = first, out.row.count = c.nv;
      group.rotors.push_back(out);
    }
    return c.rotors;
  }
  static void list_columns(InertiaGroup& group) {
    for (InertiaGroup::Member& m : group.members) {
      if (m.parent >= 0) m.columns = group.members[m.parent].columns;
      for (const InertiaGroup::Row& row : m.rows) {
        for (int j = row.first; j < row.first + row.count; ++j) {
          if (m.columns.empty() || m.columns.back() < j) m.columns.push_back(j);
        }
      }
    }
  }

  const Model& model_;
  bool spanning_;
  TreeKinematics<double> joints_;
  double light_;
  std::vector<double> q_, still_, armature_, locked_;
  double largest_ = 0.0;  ///< of locked_
  std::vector<bool> independent_;
  std::vector<RigidInertia<double>> carried_;
  std::vector<Unit> units_;
  std::vector<bool> rests_;
  std::vector<int> group_of_;
  std::vector<std::vector<int>> gathered_;  ///< units
};

}  // namespace

std::vector<InertiaGroup> find_inertia_groups(const Model& model, RatesOf rates, bool everything) {
  return GroupFinder(model, rates).find(everything);
}

}  // namespace espalier::detail
