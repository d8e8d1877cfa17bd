#include "espalier/kernel/model/loops/couplings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

namespace {

/// A sum and the largest of its summands, beside which rounding is known.
struct Sum {
  double value = 0.0, largest = 0.0;
  void add(double x) {
    value += x;
    largest = std::max(largest, std::abs(x));
  }
  /// Whether the summands cancelled: products of ratios that close to rounding.
  bool is_zero() const { return std::abs(value) <= 1e-9 * largest; }
};

/// sum of coefficient * q(rate) = constant; rates ascending.
struct Row {
  std::map<int, Sum> terms;
  Sum constant;
};

/// Solves equations one after the other for a rate of each, rates and not sizes deciding which.
/// Solved ones stay as they were found, and are expressed by free rates when they are next read: so
/// a chain of couplings costs as much as it is long.
class CouplingSolver {
 public:
  CouplingSolver(const std::vector<CoupledJoint>& joints, int rates)
      : joints_(joints), joint_of_(rates, -1), solved_(rates), is_solved_(rates, false) {
    for (std::size_t k = 0; k < joints.size(); ++k) {
      of_body_[joints[k].body] = static_cast<int>(k);
      for (int i = 0; i < joints[k].nv; ++i) joint_of_[joints[k].v + i] = static_cast<int>(k);
    }
  }

  /// @throws InvalidModel if it contradicts the others, or nothing may be dependent
  void take(const Equation& equation) {
    Row row = read(equation);
    std::erase_if(row.terms, [](const auto& term) { return term.second.is_zero(); });
    if (row.terms.empty()) {  // nothing new
      if (std::abs(row.constant.value) > 1e-9 * std::max(1.0, row.constant.largest)) {
        throw InvalidModel("coupling '" + equation.name +
                           "': contradicts the other couplings of its joints, expected a "
                           "consistent set (remove one or correct its offset)");
      }
      return;
    }
    const int rate = dependent_of(row, equation);
    const double pivot = row.terms.at(rate).value;
    Solution& solution = solved_[rate];
    solution.constant = row.constant.value / pivot + 0.0;  // no negative zero
    for (const auto& [other, coefficient] : row.terms) {
      if (other != rate) solution.terms.emplace_back(other, -coefficient.value / pivot);
    }
    is_solved_[rate] = true;
  }

  bool is_solved(int rate) const { return is_solved_[rate]; }
  /// q(rate) = sum of coefficient * q(free rate) + constant.
  struct Solution {
    std::vector<std::pair<int, double>> terms;
    double constant = 0.0;
  };
  const Solution& solution(int rate) {
    express(rate);
    return solved_[rate];
  }

 private:
  Row read(const Equation& equation) {
    Row row;
    row.constant.add(equation.constant);
    const auto add = [&](int rate, double coefficient) {
      if (!is_solved_[rate]) return row.terms[rate].add(coefficient);
      const Solution& by = solution(rate);
      for (const auto& [free, share] : by.terms) row.terms[free].add(coefficient * share);
      row.constant.add(-coefficient * by.constant);
    };
    for (const Equation::Term& term : equation.terms) {
      const auto joint = of_body_.find(term.body);
      if (joint != of_body_.end()) add(joints_[joint->second].v, term.coefficient);
    }
    return row;
  }

  /// Expresses a solved rate by free ones, and all that are met on the way.
  void express(int rate) {
    std::vector<int> waiting{rate};
    while (!waiting.empty()) {
      Solution& now = solved_[waiting.back()];
      const std::size_t before = waiting.size();
      for (const auto& [other, coefficient] : now.terms) {
        if (is_solved_[other] && !is_expressed(other)) waiting.push_back(other);
      }
      if (waiting.size() > before) continue;
      waiting.pop_back();
      std::map<int, Sum> terms;
      Solution expressed{{}, now.constant};
      for (const auto& [other, coefficient] : now.terms) {
        if (!is_solved_[other]) {
          terms[other].add(coefficient);
          continue;
        }
        for (const auto& [free, share] : solved_[other].terms) terms[free].add(coefficient * share);
        expressed.constant += coefficient * solved_[other].constant;
      }
      for (const auto& [free, sum] : terms) {
        if (!sum.is_zero()) expressed.terms.emplace_back(free, sum.value);
      }
      now = std::move(expressed);
    }
  }
  bool is_expressed(int rate) const {
    return std::none_of(solved_[rate].terms.begin(), solved_[rate].terms.end(),
                        [&](const auto& term) { return is_solved_[term.first]; });
  }

  /// The rate that the equation would rather have dependent: one declared so, the last of them; of
  /// those of which nothing is said the first that the equation names, else the last.
  int dependent_of(const Row& row, const Equation& equation) const {
    const auto joint = [&](int rate) -> const CoupledJoint& { return joints_[joint_of_[rate]]; };
    for (auto term = row.terms.rbegin(); term != row.terms.rend(); ++term) {
      if (joint(term->first).nv == 1 && joint(term->first).independent == false) return term->first;
    }
    for (const Equation::Term& term : equation.terms) {
      const auto named = of_body_.find(term.body);
      if (named == of_body_.end()) continue;
      const CoupledJoint& j = joints_[named->second];
      if (j.nv == 1 && !j.independent && row.terms.contains(j.v)) return j.v;
    }
    for (auto term = row.terms.rbegin(); term != row.terms.rend(); ++term) {
      if (joint(term->first).nv == 1 && !joint(term->first).independent) return term->first;
    }
    std::string names;
    for (const auto& [rate, coefficient] : row.terms) {
      if (joint(rate).nv == 1) names += " '" + joint(rate).name + "'";
    }
    throw InvalidModel("coupling '" + equation.name + "': all joints that it ties (" + names +
                       " ) are declared independent, expected one that is not (set "
                       "independent=\"false\" on it; with the other couplings of these joints, "
                       "this one may also leave them no motion)");
  }

  const std::vector<CoupledJoint>& joints_;
  std::unordered_map<int, int> of_body_;  ///< joint
  std::vector<int> joint_of_;             ///< of each rate
  std::vector<Solution> solved_;
  std::vector<bool> is_solved_;
};

[[noreturn]] void refuse_no_freedom(const std::vector<CoupledJoint>& joints,
                                    const std::vector<const Equation*>& equations) {
  std::string couplings, tied;
  for (const Equation* e : equations)
    couplings += (couplings.empty() ? "'" : ", '") + e->name + "'";
  for (const CoupledJoint& j : joints) tied += (tied.empty() ? "'" : ", '") + j.name + "'";
  throw InvalidModel("couplings " + couplings + ": leave the joints " + tied +
                     " no freedom, expected at least one degree (they contradict each "
                     "other: remove some or correct their ratios)");
}

}  // namespace

Coupled solve_couplings(const std::vector<CoupledJoint>& joints, int spanning_nv,
                        const std::vector<const Equation*>& equations) {
  CouplingSolver solver(joints, spanning_nv);
  for (const Equation* equation : equations) solver.take(*equation);

  Coupled out;
  std::vector<int> column(spanning_nv, -1);
  for (const CoupledJoint& joint : joints) {
    const bool independent = joint.nv != 1 || !solver.is_solved(joint.v);
    out.independent.push_back(independent);
    if (!independent) continue;
    if (joint.independent == false) {
      throw InvalidModel("joint '" + joint.name +
                         "': is declared dependent, but no coupling determines it, expected "
                         "independent=\"true\"");
    }
    for (int i = 0; i < joint.nv; ++i) column[joint.v + i] = out.nv++;
  }
  if (out.nv == 0) refuse_no_freedom(joints, equations);
  out.G.assign(static_cast<std::size_t>(spanning_nv) * out.nv, 0.0);
  out.offset.assign(spanning_nv, 0.0);
  for (int rate = 0; rate < spanning_nv; ++rate) {
    double* row = out.G.data() + static_cast<std::ptrdiff_t>(rate) * out.nv;
    if (column[rate] >= 0) {
      row[column[rate]] = 1.0;
      continue;
    }
    const auto& solution = solver.solution(rate);
    for (const auto& [free, coefficient] : solution.terms) row[column[free]] = coefficient;
    out.offset[rate] = solution.constant;
  }
  return out;
}

}  // namespace espalier::detail
