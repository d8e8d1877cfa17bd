#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "espalier/kernel/model/inertia/inertia_groups.hpp"
#include "espalier/kernel/model/inertia/inertia_terms.hpp"

/// The mass matrix of a group, its rank, and the guard before algorithms.

namespace espalier::detail {

namespace {
using Matrix = Eigen::MatrixXd;
}  // namespace

template <class T>
GroupInertia<T>::GroupInertia(const Model& model, const InertiaGroup& group)
    : model_(model), group_(group), still_(model.spanning_nv(), T(0.0)) {
  const std::size_t n = group.rates.size();
  std::size_t most = 0;
  for (const InertiaGroup::Member& m : group.members) {
    J_.emplace_back(m.columns.size());
    most = std::max(most, m.columns.size());
  }
  F_.resize(most);
  M_.resize(n * n), diagonal_.resize(n);
}

namespace {

/// Of each column of a G that depends on the position, the largest entry.
template <class T>
void find_largest(const InertiaGroup& group, const SpanningMotion<T>& at, std::vector<T>& largest) {
  const Cluster* last = nullptr;
  for (const InertiaGroup::Member& m : group.members) {
    for (const InertiaGroup::Row& row : m.rows) {
      if (row.tied == nullptr || row.tied == last || row.tied->constraint == nullptr) continue;
      last = row.tied;
      const T* G = at.G(*last);
      for (int k = 0; k < row.count; ++k) {
        T& most = largest[row.first + k];
        most = T(0.0);
        for (int i = 0; i < last->rows(); ++i) {
          const T size = abs(G[i * row.count + k]);
          most = select_less(most, size, size, most);
        }
      }
    }
  }
}

}  // namespace

/// While M is composed, diagonal_ holds what find_largest() found.
template <class T>
T GroupInertia<T>::coefficient(const InertiaGroup::Row& row, int k) const {
  if (row.tied == nullptr) return T(1.0);
  const T x = at_->G(*row.tied)[row.row * row.count + k];
  if (row.tied->constraint == nullptr) return x;
  // Elimination leaves roundings where a rate has no share, and their squares would pass for
  // inertia that no body has.
  constexpr double nothing = is_single<T> ? 1e-5 : 1e-12;
  return select_less(abs(x), T(nothing) * diagonal_[row.first + k], T(0.0), x);
}

/// M += J^T F.
template <class T>
void GroupInertia<T>::add(const Motion<T>* J, const std::vector<int>& columns) {
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      M_[columns[a] * size() + columns[b]] += dot(J[a], F_[b]);
    }
  }
}
template <class T>
void GroupInertia<T>::add_square(const InertiaGroup::Row& row, const T& inertia) {
  for (int j = 0; j < row.count; ++j) {
    for (int l = 0; l <= j; ++l) {
      M_[(row.first + j) * size() + row.first + l] +=
          inertia * coefficient(row, j) * coefficient(row, l);
    }
  }
}

template <class T>
void GroupInertia<T>::compose(const SpanningMotion<T>& at, const T* q) {
  at_ = &at;
  find_largest(group_, at, diagonal_);
  std::fill(M_.begin(), M_.end(), T(0.0));
  const auto place = [](const std::vector<int>& columns, int j) {
    return std::lower_bound(columns.begin(), columns.end(), j) - columns.begin();
  };
  for (std::size_t i = 0; i < group_.members.size(); ++i) {
    const InertiaGroup::Member& m = group_.members[i];
    std::vector<Motion<T>>& J = J_[i];
    std::fill(J.begin(), J.end(), Motion<T>::zero());
    const auto* parent = m.parent < 0 ? nullptr : &group_.members[m.parent];
    for (std::size_t k = 0; parent != nullptr && k < parent->columns.size(); ++k) {
      J[place(m.columns, parent->columns[k])] = at.joints.X[m.body] * J_[m.parent][k];
    }
    for (std::size_t k = 0; k < m.rows.size(); ++k) {
      const InertiaGroup::Row& row = m.rows[k];
      if (row.count == 0) continue;
      const Motion<T> S = unit_motion(model_, m.body, static_cast<int>(k), at.joints.S.data());
      const auto first = place(m.columns, row.first);
      for (int j = 0; j < row.count; ++j) J[first + j] += scale(coefficient(row, j), S);
      if (row.armature > 0.0) add_square(row, T(row.armature));
    }
    for (std::size_t b = 0; b < J.size(); ++b) F_[b] = m.inertia * J[b];
    add(J.data(), m.columns);
    if (!has_equations(model_, m.body)) continue;
    // [Jp; 1]^T M [Jp; 1] with the parent's motion Jp, of which the joint's equations speak.
    own_inertia(model_, m.body, q, still_.data(), own_, bias_);
    const int size6 = 6 + static_cast<int>(m.rows.size());
    const auto entry = [&](int r, int c) { return own_[std::max(r, c) * size6 + std::min(r, c)]; };
    const auto component = [&](int r, int column) {
      if (r >= 6) {
        const InertiaGroup::Row& row = m.rows[r - 6];
        const bool inside = column >= row.first && column < row.first + row.count;
        return inside ? coefficient(row, column - row.first) : T(0.0);
      }
      if (parent == nullptr) return T(0.0);
      const auto k = place(parent->columns, column);
      const bool moved =
          k < static_cast<long>(parent->columns.size()) && parent->columns[k] == column;
      return moved ? J_[m.parent][k][r] : T(0.0);
    };
    for (const int a : m.columns) {
      for (const int b : m.columns) {
        for (int r = 0; b <= a && r < size6; ++r) {
          for (int c = 0; c < size6; ++c)
            M_[a * size() + b] += component(r, a) * entry(r, c) * component(c, b);
        }
      }
    }
  }
  for (const InertiaGroup::FoldedRotor& rotor : group_.rotors) {
    add_square(rotor.row, T(rotor.inertia));
    if (rotor.parent < 0) continue;
    const std::vector<int>& columns = group_.members[rotor.parent].columns;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const T spin = dot(rotor.momentum, J_[rotor.parent][k].w);
      for (int j = 0; j < rotor.row.count; ++j) {
        const int a = columns[k], b = rotor.row.first + j;
        const T x = spin * coefficient(rotor.row, j);
        M_[std::max(a, b) * size() + std::min(a, b)] += a == b ? T(2.0) * x : x;
      }
    }
  }
}

/// From the tips, whose pivots are large where bodies of full inertia end the group.
template <class T>
T GroupInertia<T>::least_pivot() {
  const int n = size();
  T least = T(1.0);
  for (int k = 0; k < n; ++k) diagonal_[k] = M_[k * n + k];
  for (int k = n - 1; k >= 0; --k) {
    const T pivot = M_[k * n + k], share = pivot / diagonal_[k];
    // NaN where the diagonal is zero counts as none; that of NaN positions is left to the answer.
    const T known =
        select_less(T(0.0), diagonal_[k], share, select_less(diagonal_[k], T(1.0), T(0.0), least));
    least = select_less(known, least, known, least);
    const T inverse = T(1.0) / pivot;
    for (int i = 0; i < k; ++i) {
      const T a = M_[k * n + i] * inverse;
      for (int j = 0; j <= i; ++j) M_[i * n + j] -= a * M_[k * n + j];
    }
  }
  return least;
}

// --- naming

WeightlessMotion find_weightless_motion(const InertiaGroup& group, const GroupInertia<double>& M) {
  WeightlessMotion out;
  const int n = M.size();
  if (n == 0) return out;
  Matrix dense(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) dense(i, j) = M(i, j);
  }
  if (!dense.allFinite()) return out;
  const Eigen::VectorXd diagonal = dense.diagonal();
  for (int i = n - 1; i >= 0; --i) {
    if (!(diagonal(i) > 0.0)) out.rates.emplace_back(group.rates[i], 1.0);
  }
  out.alone = !out.rates.empty();
  if (out.alone) return out;
  constexpr int largest = 300;  // eigenvectors of more take too long: the first rate speaks for all
  if (n > largest) {
    GroupInertia<double> factor = M;
    if (factor.least_pivot() < smallest_pivot<double>) out.rates.emplace_back(group.rates[0], 1.0);
    return out;
  }
  Eigen::VectorXd y;
  if (least_eigenvalue(dense, diagonal, &y) > smallest_pivot<double>) return out;
  y /= y.cwiseAbs().maxCoeff();
  for (int i = 0; i < n; ++i) {
    if (std::abs(y(i)) > 1e-6) out.rates.emplace_back(group.rates[i], y(i));
  }
  if (out.rates.front().second < 0.0) {
    for (auto& [rate, x] : out.rates) x = -x;
  }
  return out;
}

std::string WeightlessMotion::text(const Model& model) const {
  constexpr std::size_t most = 6;
  std::string names, numbers;
  for (std::size_t i = 0; i < rates.size() && i < most; ++i) {
    const Joint& joint = model.joint_of_rate(rates[i].first);
    names += (i == 0 ? "'" : ", '") + joint.name +
             (joint.nv == 1 ? "'" : "[" + std::to_string(rates[i].first - joint.v) + "]'");
    char number[32];
    std::snprintf(number, sizeof number, "%.3g", rates[i].second);
    numbers += (i == 0 ? "" : " : ") + std::string(number);
  }
  if (rates.size() > most) names += " and others", numbers += " : ...";
  return rates.size() == 1 ? names : names + " (rates " + numbers + ")";
}

/// The joint of a body with a negative moment of inertia: whatever the mechanism's mass matrix,
/// that of the tree is indefinite at some position.
std::string negative_in_tree(const Model& model) {
  for (int i = 1; i <= model.body_count(); ++i) {
    const RigidInertia<double>& I = model.body(i).inertia;
    const Eigen::Vector3d moments = principal_moments(I);
    // What validation bears of rounded figures, and what is lost about the body's origin.
    const double rounding = 1e-6 * moments.cwiseAbs().maxCoeff() + 1e-12 * I.m +
                            1e-13 * (I.I.xx + I.I.yy + I.I.zz) + 1e-18;
    if (moments(0) >= -rounding) continue;
    return "'" + model.joints()[model.body(i).joint].name +
           "', beyond which a moment of inertia is negative";
  }
  return "";
}

std::string weightless_in_tree(const Model& model) {
  if (model.is_tree()) return "";
  const std::string negative = negative_in_tree(model);
  if (!negative.empty()) return negative;
  const std::vector<InertiaGroup> groups = find_inertia_groups(model, RatesOf::spanning_tree);
  if (groups.empty()) return "";
  std::vector<double> q(model.nq());
  model.random(1, q.data());
  SpanningMotion<double> motion(model);
  motion.update(q.data(), nullptr);
  for (const InertiaGroup& group : groups) {
    WeightlessMotion found{{{group.rates.front(), 1.0}}, true};
    if (!group.hopeless) {
      GroupInertia<double> M(model, group);
      M.compose(motion, q.data());
      found = find_weightless_motion(group, M);
    }
    if (found.rates.empty()) continue;
    if (found.alone) found.rates.resize(1);
    return found.text(model);
  }
  return "";
}

// --- before algorithms divide

template <class T>
InertiaGuard<T>::InertiaGuard(const Model& model, const std::vector<InertiaGroup>& groups)
    : all_(groups), motion_(model, SpanningMotion<T>::Rotors::skip) {
  std::vector<bool> left_out(model.runs().size(), true);
  for (const Cluster& c : model.clusters()) {  // whose joints their constraints read
    if (c.constraint == nullptr) continue;
    for (int b = c.first; b < c.first + c.count; ++b) left_out[model.body(b).run] = false;
  }
  for (const InertiaGroup& group : groups) {
    if (!group.guarded) continue;
    groups_.emplace_back(model, group);
    for (const InertiaGroup::Member& m : group.members) left_out[model.body(m.body).run] = false;
  }
  motion_.leave_out(std::move(left_out), std::vector<bool>(model.clusters().size(), false));
}

template <class T>
T InertiaGuard<T>::least_pivot(const T* q) {
  motion_.update(q, nullptr);
  T least = T(1.0);
  for (GroupInertia<T>& group : groups_) {
    group.compose(motion_, q);
    const T pivot = group.least_pivot();
    least = select_less(pivot, least, pivot, least);
  }
  return least;
}

template <class T>
WeightlessMotion InertiaGuard<T>::weightless_motion(const T* q) {
  WeightlessMotion found;
  if constexpr (std::is_same_v<T, double>) {
    motion_.update(q, nullptr);
    std::size_t next = 0;
    for (const InertiaGroup& group : all_) {
      if (!group.guarded) continue;
      GroupInertia<T>& M = groups_[next++];
      M.compose(motion_, q);
      if (found.rates.empty()) found = find_weightless_motion(group, M);
    }
  }
  return found;
}

#define ESPALIER_INSTANTIATE(T)   \
  template class GroupInertia<T>; \
  template class InertiaGuard<T>;
ESPALIER_INSTANTIATE(double)
ESPALIER_INSTANTIATE(Pack)
ESPALIER_INSTANTIATE(FloatPack)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier::detail
