#include "espalier/kernel/model/cluster_compiler.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/loop_peeling.hpp"
#include "espalier/kernel/model/recognise.hpp"
#include "espalier/kernel/model/sparse_rank.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

using text::quoted;

/// Rank of K with its rows measured by their largest entries: what is a zero row at all poses is
/// redundant, not small.
int rank_of(const Matrix& K) {
  if (K.size() == 0) return 0;
  const Vector sigma = Eigen::JacobiSVD<Matrix>(K).singularValues();
  int rank = 0;
  for (int i = 0; i < sigma.size(); ++i) rank += sigma(i) > 1e-8 * sigma(0) && sigma(i) > 1e-10;
  return rank;
}
double smallest_of(const Matrix& K, int rank) {
  if (rank == 0) return 1.0;
  const Vector sigma = Eigen::JacobiSVD<Matrix>(K).singularValues();
  return sigma(rank - 1) / sigma(0);
}

/// K at a position, rows x columns.
Matrix jacobian(const Model& model, const Cluster& c, const ClusterConstraint& constraint,
                const std::vector<double>& q, TreeKinematics<double>& joints) {
  joints.update(model, q.data(), nullptr);
  ConstraintWorkspace<double> work;
  constraint.allocate(c, work);
  constraint.jacobian(model, c,
                      SpanningView<double>{q.data(), nullptr, joints.X.data(), joints.S.data(), nullptr},
                      work);
  Matrix K = Matrix::Zero(constraint.rows(), constraint.columns);
  for (int i = 0; i < K.rows(); ++i) {
    constraint.each_in_row(work, i, [&](int column, double x) { K(i, column) = x; });
  }
  return K;
}

/// Ranks of K at some positions, dense for few joints, sparse for many. Both measure pivots by the
/// largest.
int rank_at(const Matrix& K, bool sparse) {
  return sparse ? detail::row_rank(K.sparseView()).rank : rank_of(K);
}
double least_at(const Matrix& K, int rank, bool sparse) {
  if (!sparse) return smallest_of(K, rank);
  const detail::RowRank found = detail::row_rank(K.sparseView());
  return rank == 0 ? 1.0 : found.rank < rank ? 0.0 : found.least;
}
/// Rows that say something at some of the positions that are side by side, and how many.
int rows_that_count(const Matrix& all, bool sparse, std::vector<bool>& kept) {
  if (sparse) {
    detail::RowRank found = detail::row_rank(all.sparseView());
    kept = std::move(found.kept);
    return found.rank;
  }
  const int rank = rank_of(all);
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> rows(all.transpose());
  kept.assign(all.rows(), false);
  for (int i = 0; i < rank; ++i) kept[rows.colsPermutation().indices()(i)] = true;
  return rank;
}

}  // namespace

void ClusterCompiler::run() {
  for (std::size_t i = 0; i < model_.clusters_.size(); ++i) {
    const graph::Cluster& from = source_.clusters.cluster(i);
    Cluster& c = model_.clusters_[i];
    independent_.emplace_back(c.rows(), true);
    constraints_.push_back(nullptr);
    where_.push_back(source_.where);
    c.nv = c.rows();
    if (!c.constrained) {
      const JointDescription& joint = *source_.joints[c.first];
      if (joint.independent == false) {
        findings_.warning(joint.where, "joint '" + joint.name +
                                           "': is declared dependent, but no coupling or loop "
                                           "ties it, expected independent=\"true\" (it is free)");
      }
      continue;
    }
    if (c.implicit) {
      build_constraint(from, c);
    } else {
      tie_constant(from, c);
    }
    if (findings_.failed()) return;
  }
  number_independent();
  model_.neutral_.resize(model_.nq_);
  for (const BodyRun& run : model_.runs_) run.joints->neutral(model_.neutral_.data() + run.q);
  model_.apply_couplings(model_.neutral_.data());
  if (model_.has_variable_constraints()) {
    assemble_variable();
    if (findings_.failed()) return;
    number_independent();
  }
  recognise();
}

/// Couplings alone: G is constant.
void ClusterCompiler::tie_constant(const graph::Cluster& from, Cluster& c) {
  std::vector<detail::CoupledJoint> members;
  for (int i = 0; i < c.count + c.rotors; ++i) {
    const Body& body = model_.bodies_[i < c.count ? c.first + i : model_.rotors_[c.rotor + i - c.count].body];
    const int number = static_cast<int>(&body - model_.bodies_.data());
    const JointDescription& joint = *source_.joints[number];
    members.push_back({number, joint.name, c.row(body.v), body.nv, joint.independent});
  }
  std::vector<detail::Equation> equations;
  for (const int k : from.couplings) {
    equations.push_back(*source_.ties[k].equation);
    for (auto& term : equations.back().terms) term.body = source_.body[term.body];
  }
  std::vector<const detail::Equation*> pointers;
  for (const auto& equation : equations) pointers.push_back(&equation);
  detail::Coupled coupled;
  try {
    coupled = detail::solve_couplings(members, c.rows(), pointers);
  } catch (const InvalidModel& error) {
    findings_.error(equations.front().where, error.what());
    return;
  }
  c.nv = coupled.nv;
  c.G = std::move(coupled.G);
  c.offset = std::move(coupled.offset);
  std::vector<bool>& independent = independent_[&c - model_.clusters_.data()];
  for (std::size_t k = 0; k < members.size(); ++k) {
    for (int i = 0; i < members[k].nv; ++i) independent[members[k].v + i] = coupled.independent[k];
  }
}

/// Laws and loop joints: rows of K.
void ClusterCompiler::build_constraint(const graph::Cluster& from, Cluster& c) {
  const auto constraint = std::make_shared<ClusterConstraint>();
  const auto index = &c - model_.clusters_.data();
  constraint->columns = c.rows();
  for (int i = 0; i < c.rows(); ++i) {
    const Joint& joint = model_.joint_of_rate(c.rate(i));
    constraint->rate.push_back(c.rate(i));
    constraint->position.push_back(joint.nq == 1 ? joint.q : -1);
  }
  for (const int k : from.couplings) {
    const detail::Tie& tie = source_.ties[k];
    if (tie.equation) {
      ClusterConstraint::Linear linear;
      linear.name = tie.equation->name;
      linear.constant = tie.equation->constant;
      for (const auto& term : tie.equation->terms) {
        linear.terms.emplace_back(c.row(model_.bodies_[source_.body[term.body]].v), term.coefficient);
      }
      where_[index] = tie.equation->where;
      constraint->linear.push_back(std::move(linear));
      continue;
    }
    const LawDescription& law = *tie.law->law;
    where_[index] = law.where;
    ClusterConstraint::LawUse use;
    use.name = law.name;
    PartSpec spec;
    spec.what = "law", spec.name = law.name, spec.parameters = law.parameters;
    spec.where = law.where.text();
    try {
      const LawType& type = source_.types.law(law.type);
      use.law = detail::guarded([&] { return "law '" + law.name + "' of type '" + law.type + "'"; },
                                "its constructor", [&] { return type.make(spec); });
    } catch (const Error& error) {
      findings_.error(law.where, error.what());
      return;
    }
    for (const int b : tie.law->bodies) {
      const Body& body = model_.bodies_[source_.body[b]];
      use.columns.push_back(c.row(body.v));
      use.positions.push_back(body.q);
    }
    use.kept.assign(use.law->equations(), true);
    constraint->laws.push_back(std::move(use));
  }
  for (const int e : from.cut_joints) {
    const detail::LoopSource& from_file = source_.loops[e];
    where_[index] = from_file.where;
    ClusterConstraint::Loop loop;
    loop.name = from_file.name;
    loop.predecessor = from_file.predecessor, loop.successor = from_file.successor;
    loop.at_predecessor = from_file.at_predecessor, loop.at_successor = from_file.at_successor;
    JointSpec spec;
    spec.what = "loop", spec.name = from_file.name, spec.parameters = from_file.parameters;
    spec.where = from_file.where.text();
    spec.axis = scale(1.0 / std::sqrt(dot(from_file.axis, from_file.axis)), from_file.axis);
    try {
      const LoopJoint& type = source_.types.loop_joint(from_file.type);
      loop.all_rows = detail::guarded(
          [&] { return "loop '" + from_file.name + "' of type '" + from_file.type + "'"; },
          "its loop_rows", [&] { return type.loop_rows(spec); });
    } catch (const Error& error) {
      findings_.error(from_file.where, error.what());
      return;
    }
    if (loop.all_rows.empty()) {
      findings_.error(from_file.where, "loop '" + loop.name + "': type is '" + from_file.type +
                                           "', expected a joint that can close a loop");
      return;
    }
    for (const LoopRow& row : loop.all_rows) {
      if (row.kind != LoopRow::Kind::facing) loop.rows.push_back(row);
    }
    // The path between the two bodies, without what supports both.
    std::vector<int> to_p, to_s;
    const auto inside = [&](int b) { return b >= c.first && b < c.first + c.count; };
    for (int b = loop.predecessor; inside(b); b = model_.bodies_[b].parent) to_p.push_back(b);
    for (int b = loop.successor; inside(b); b = model_.bodies_[b].parent) to_s.push_back(b);
    while (!to_p.empty() && !to_s.empty() && to_p.back() == to_s.back()) {
      to_p.pop_back(), to_s.pop_back();
    }
    for (const int b : to_p) loop.path.emplace_back(b, -1.0);
    for (const int b : to_s) loop.path.emplace_back(b, 1.0);
    for (const auto& member : loop.path) {
      const Body& body = model_.bodies_[member.first];
      for (int k = 0; k < body.nv; ++k) loop.columns.push_back(body.v - c.spanning_v + k);
    }
    constraint->loops.push_back(std::move(loop));
  }
  constraint->all_linear = constraint->linear;
  constraint->choose(std::vector<bool>(c.rows(), true));  // none dependent yet
  constraints_[index] = constraint;
  c.constraint = constraint;
}

/// Closes all loops near the neutral position, looks at some positions around, and settles ranks
/// and independent coordinates.
void ClusterCompiler::assemble_variable() {
  const Closure first = assemble(model_, model_.neutral_.data());
  if (first.verdict != Closure::Verdict::closed) {
    TreeKinematics<double> joints(model_);
    const std::vector<double>& q = model_.neutral_;
    joints.update(model_, q.data(), nullptr);
    for (const Cluster& c : model_.clusters_) {
      if (c.constraint == nullptr) continue;
      const auto [name, residual] = c.constraint->worst(
          model_, c, SpanningView<double>{q.data(), nullptr, joints.X.data(), joints.S.data(), nullptr});
      if (residual <= 1e-9) continue;
      findings_.error(where_[&c - model_.clusters_.data()],
                      "cluster " + quoted(c.name) + ": constraint " + quoted(name) +
                          " cannot be met, the best residual found is " + text::number(residual, 3) +
                          ", expected a mechanism that can be assembled (check the frames, lengths "
                          "and the type of joint that closes the loop of " +
                          names_of_joints(c) + ")");
    }
    return;
  }
  // Positions around the neutral one, assembled.
  std::vector<std::vector<double>> poses{model_.neutral_};
  unsigned long long state = 12345;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return 2.0 * (static_cast<double>(state >> 11) * 0x1.0p-53) - 1.0;
  };
  // Of many loops hardly ever all close from far away: these start nearer, and nearer still.
  bool large = false;
  for (const Cluster& c : model_.clusters_) {
    large = large || (c.constraint != nullptr && c.constraint->is_sparse());
  }
  CloseOptions once;
  once.attempts = 1;
  for (int k = 0; k < 4; ++k) {
    std::vector<double> step(model_.spanning_nv_, 0.0);
    for (const Cluster& c : model_.clusters_) {
      if (c.constraint == nullptr) continue;
      for (int i = 0; i < c.rows(); ++i) step[c.rate(i)] = 0.15 * (k + 1) * uniform();
    }
    for (int halved = 0; halved < (large ? 4 : 1); ++halved) {
      std::vector<double> q = model_.neutral_;
      model_.integrate(q.data(), step.data(), q.data());
      if (assemble(model_, q.data(), large ? once : CloseOptions{}).verdict ==
          Closure::Verdict::closed) {
        poses.push_back(std::move(q));
        break;
      }
      for (double& x : step) x *= 0.4;
    }
  }
  for (std::size_t i = 0; i < model_.clusters_.size() && !findings_.failed(); ++i) {
    if (model_.clusters_[i].constraint != nullptr) settle(i, poses);
  }
}

void ClusterCompiler::settle(std::size_t index, const std::vector<std::vector<double>>& poses) {
  Cluster& c = model_.clusters_[index];
  ClusterConstraint& constraint = *constraints_[index];
  TreeKinematics<double> joints(model_);
  const bool sparse = constraint.is_sparse();
  if (sparse) keep_rows_of_loops(c, constraint, poses);
  std::vector<Matrix> K;
  int rank = 0;
  for (const auto& q : poses) {
    K.push_back(jacobian(model_, c, constraint, q, joints));
    if (!K.back().allFinite()) {
      findings_.error(where_[index], "cluster " + quoted(c.name) +
                                         ": derivatives of its constraints are not finite near the "
                                         "neutral position, expected numbers (move the joints' "
                                         "zeros away from where a law is undefined)");
      return;
    }
    rank = std::max(rank, rank_at(K.back(), sparse));
  }
  const int n = constraint.columns;
  if (rank >= n) {
    findings_.error(where_[index],
                    "cluster " + quoted(c.name) + ": its " + std::to_string(rank) +
                        " independent constraints leave the joints " + names_of_joints(c) +
                        " no motion, expected at least one degree of freedom (remove constraints, "
                        "or close the loop by a joint that is freer)");
    return;
  }
  // Rows that say something at some position.
  const int m = constraint.rows();
  if (rank == 0) {
    findings_.warning(where_[index], "cluster " + quoted(c.name) +
                                         ": its constraints are met whatever its joints " +
                                         names_of_joints(c) +
                                         " do, expected constraints that tie them (remove them)");
  }
  Matrix all(m, static_cast<Eigen::Index>(K.size()) * n);
  for (std::size_t k = 0; k < K.size(); ++k) all.middleCols(k * n, n) = K[k];
  std::vector<bool> kept;
  const int row_rank = rows_that_count(all, sparse, kept);
  constraint.keep(kept);
  for (Matrix& one : K) {
    Matrix some(row_rank, n);
    for (int i = 0, next = 0; i < m; ++i) {
      if (kept[i]) some.row(next++) = one.row(i);
    }
    one = some;
  }
  // The neutral position decides, unless it is a dead point of the declared joints or of all.
  std::vector<int> candidates, declared;  // columns that may, and that have to be dependent
  for (int i = 0; i < n; ++i) {
    const auto& flag = source_.joints[model_.joint_of_rate(c.rate(i)).body]->independent;
    if (flag != true) candidates.push_back(i);
    if (flag == false) declared.push_back(i);
  }
  const auto fitness = [&](const Matrix& one) {
    const int least = static_cast<int>(candidates.size()), most = static_cast<int>(declared.size());
    if (rank_at(one, sparse) < rank || least < rank || most > rank) return 0.0;
    const Matrix may = one(Eigen::all, candidates), must = one(Eigen::all, declared);
    // Of the declared ones the columns have to be independent, not the rows.
    return std::min(least_at(may, rank, sparse), least_at(must.transpose(), most, sparse));
  };
  std::size_t at = 0;
  if (fitness(K[0]) < 1e-6) {
    for (std::size_t k = 1; k < K.size(); ++k) {
      if (fitness(K[k]) > fitness(K[at])) at = k;
    }
  }
  if (at != 0) {
    findings_.warning(where_[index],
                      "cluster " + quoted(c.name) +
                          ": is at a dead point at the neutral position, expected a regular one "
                          "(there its independent joints do not determine the others; Espalier "
                          "starts from a position beside it)");
    for (int i = 0; i < c.rows(); ++i) {
      const Joint& joint = model_.joint_of_rate(c.rate(i));
      std::copy_n(poses[at].begin() + joint.q, joint.nq, model_.neutral_.begin() + joint.q);
    }
  }
  std::swap(K.front(), K[at]);
  choose_independent(c, constraint, rank, K);
  if (findings_.failed()) return;
  c.nv = n - rank;
  constraint.planar = PlanarLoops::find(model_, c, constraint);
  constraint.choose_blocks();
}

/// Of each loop by itself, the rows that say something: of many loops together that is found faster
/// once the rows that a planar loop has too many are gone.
void ClusterCompiler::keep_rows_of_loops(const Cluster& c, ClusterConstraint& constraint,
                                         const std::vector<std::vector<double>>& poses) {
  TreeKinematics<double> joints(model_);
  std::vector<Matrix> K;
  for (const auto& q : poses) K.push_back(jacobian(model_, c, constraint, q, joints));
  std::vector<bool> kept(constraint.rows(), true);
  int row = constraint.rows();
  for (std::size_t l = constraint.loops.size(); l-- > 0;) {
    const ClusterConstraint::Loop& loop = constraint.loops[l];
    const int count = static_cast<int>(loop.rows.size()), n = static_cast<int>(loop.columns.size());
    row -= count;
    Matrix of_loop(count, static_cast<Eigen::Index>(K.size()) * n);
    for (std::size_t k = 0; k < K.size(); ++k) {
      of_loop.middleCols(k * n, n) = K[k].middleRows(row, count)(Eigen::all, loop.columns);
    }
    if (!of_loop.allFinite()) return;  // refused by whoever asks next
    std::vector<bool> some;
    rows_that_count(of_loop, false, some);
    std::copy(some.begin(), some.end(), kept.begin() + row);
  }
  constraint.keep(kept);
}

/// Dependent columns are those declared so; then those that a law or coupling writes as following
/// others; then, in large clusters of which nothing is declared, those that let loops be solved one
/// after the other; then those with the largest pivots.
/// @param K_at  at some positions, the first of which decides
void ClusterCompiler::choose_independent(Cluster& c, ClusterConstraint& constraint, int dependents,
                                         const std::vector<detail::RowMajorMatrix>& K_at) {
  const int n = constraint.columns;
  const auto index = &c - model_.clusters_.data();
  const Matrix& K = K_at.front();
  const double size = K.size() > 0 ? K.cwiseAbs().maxCoeff() : 0.0;
  enum { declared = 0, written = 1, silent = 2, never = 3 };
  std::vector<int> priority(n, silent);
  for (const auto& linear : constraint.all_linear) {
    if (!linear.terms.empty()) priority[linear.terms.front().first] = written;
  }
  for (const auto& use : constraint.laws) {
    const int first = use.law->positions() - use.law->equations();
    for (int e = 0; use.law->is_explicit() && e < use.law->equations(); ++e) {
      priority[use.columns[first + e]] = written;
    }
  }
  const auto description = [&](int column) -> const JointDescription& {
    return *source_.joints[model_.joint_of_rate(c.rate(column)).body];
  };
  for (int i = 0; i < n; ++i) {
    if (const auto& flag = description(i).independent) priority[i] = *flag ? never : declared;
  }
  std::vector<bool> independent(n, true), allowed(n);
  int chosen = 0;
  Matrix rest = K;
  const bool any_declared = std::any_of(priority.begin(), priority.end(), [](int level) {
    return level == declared || level == never;
  });
  if (constraint.is_sparse() && !any_declared) {
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) order[i] = priority[i] - written;
    const detail::Peeling peeled = detail::peel_loops(constraint, K_at, order);
    for (const int column : peeled.dependent) independent[column] = false;
    chosen = static_cast<int>(peeled.dependent.size());
    rest = K(peeled.rest, Eigen::all);
  }
  detail::ColumnPivots pivots(rest.sparseView());
  for (int level = declared; level < never; ++level) {
    for (int i = 0; i < n; ++i) allowed[i] = priority[i] == level && independent[i];
    while (chosen < dependents) {
      const int best = pivots.best(allowed, 1e-7 * size);
      if (best < 0) break;
      pivots.take(best);
      independent[best] = false;
      ++chosen;
    }
  }
  for (int i = 0; i < n; ++i) {
    if (priority[i] != declared || !independent[i]) continue;
    findings_.error(where_[index], "joint '" + description(i).name +
                                       "': is declared dependent, but the constraints of cluster " +
                                       quoted(c.name) + " leave " + std::to_string(n - dependents) +
                                       " degrees of freedom and do not determine it beside the "
                                       "other dependent joints, expected independent=\"true\" on it "
                                       "or on another");
    return;
  }
  if (chosen < dependents) {
    std::vector<std::string> names;
    for (int i = 0; i < n; ++i) {
      if (priority[i] == never) names.push_back(description(i).name);
    }
    findings_.error(where_[index], "cluster " + quoted(c.name) + ": joints " + detail::list_of(names) +
                                       " are declared independent, expected at most " +
                                       std::to_string(n - dependents) +
                                       " that can be chosen freely (set independent=\"false\" on "
                                       "the others)");
    return;
  }
  constraint.choose(independent);
  independent_[index] = independent;
}

/// Independent rates in the order of clusters, inside them in the order of rows.
void ClusterCompiler::number_independent() {
  Model& m = model_;
  m.nv_ = 0;
  m.independent_rates_.clear();
  m.G_size_ = 0;
  for (std::size_t i = 0; i < m.clusters_.size(); ++i) {
    Cluster& c = m.clusters_[i];
    c.v = m.nv_;
    m.nv_ += c.nv;
    if (c.constrained) {
      c.G_start = m.G_size_;
      m.G_size_ += c.rows() * c.nv;
    }
    for (int row = 0; row < c.rows(); ++row) {
      if (independent_[i][row]) m.independent_rates_.push_back(c.rate(row));
    }
  }
  number_joints(m);
}

/// Where the rates of each joint start among the independent ones, if all of them are there.
void ClusterCompiler::number_joints(Model& m) {
  for (Joint& joint : m.joints_) joint.independent = -1;
  const auto& rates = m.independent_rates_;
  for (std::size_t v = 0; v < rates.size(); ++v) {
    Joint& joint = m.joints_[m.joint_of_rate_[rates[v]]];
    const bool whole = rates[v] == joint.v && v + joint.nv <= rates.size() &&
                       rates[v + joint.nv - 1] == joint.v + joint.nv - 1;
    if (whole) joint.independent = static_cast<int>(v);
  }
}

void ClusterCompiler::recognise() {
  for (Cluster& c : model_.clusters_) {
    if (c.constrained) c.recognised = detail::recognise(model_, c);
  }
}

std::string ClusterCompiler::names_of_joints(const Cluster& c) const {
  std::vector<std::string> names;
  for (int row = 0; row < c.rows(); ++row) {
    const std::string& name = model_.joint_of_rate(c.rate(row)).name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return detail::list_of(names);
}

}  // namespace espalier
