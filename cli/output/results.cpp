#include "cli/output/results.hpp"

#include <algorithm>
#include <cmath>

#include "cli/files/end_effectors.hpp"
#include "cli/files/state.hpp"
#include "cli/output/table.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier::cli {

namespace {

using Axis = Result::Axis;

/// What the 19 components of a link stand for.
struct Part {
  const char* name;
  int start, size;
};
constexpr Part link_parts[] = {
    {"position", 0, 3}, {"quaternion", 3, 4}, {"velocity", 7, 6}, {"acceleration", 13, 6}};
constexpr int link_components = 19;

bool is_rates(const Result& r) { return r.rows == Axis::rates && r.columns == Axis::one; }
bool is_task(const Result& r) { return r.rows == Axis::task && r.columns == Axis::one; }
bool is_scalar(const Result& r) { return r.rows == Axis::one && r.columns == Axis::one; }
/// Moment and force that a joint transmits, and whether the motion determines them.
constexpr std::string_view reaction_prefix = "wrench of ";
bool is_reaction(const Result& r) {
  return r.row_count == 1 && r.column_count == 7 && r.name.starts_with(reaction_prefix);
}
bool is_jacobian(const Result& r) { return r.rows == Axis::components && r.columns == Axis::rates; }
bool is_links(const Result& r) {
  return r.rows == Axis::links && r.columns == Axis::components &&
         r.column_count == link_components;
}

std::vector<double> slice(const Result& r, int start, int size) {
  return {r.values.begin() + start, r.values.begin() + start + size};
}

Json rows_of(const Result& r) {
  Json rows = Json::array();
  for (int i = 0; i < r.row_count; ++i)
    rows.push_back(slice(r, i * r.column_count, r.column_count));
  return rows;
}

/// What rows and columns of results are called.
class Labels {
 public:
  explicit Labels(const Setup& setup)
      : model_(*setup.model), task_(row_labels(setup.end_effectors)) {
    if (!setup.inputs.empty()) inputs_ = InputColumns(model_, setup.inputs).names();
  }

  std::string row(const Result& r, int i) const {
    static const char* const spatial[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
    static const char* const cartesian[] = {"x", "y", "z"};
    if (r.rows == Axis::components || r.rows == Axis::one) {
      if (r.row_count == 6) return spatial[i];
      if (r.row_count == 3) return cartesian[i];
    }
    return r.rows == Axis::named ? r.names[i] : along(r.rows, i);
  }
  std::string column(const Result& r, int j) const { return along(r.columns, j); }

 private:
  std::string along(Axis axis, int i) const {
    switch (axis) {
      case Axis::rates:
        return rate_label(model_, i);
      case Axis::links:
        return model_.links()[i].name;
      case Axis::task:
        return task_[i];
      case Axis::inputs:
        return inputs_[i];
      case Axis::components:
      case Axis::named:
      case Axis::one:
        break;
    }
    return std::to_string(i);
  }

  const Model& model_;
  std::vector<std::string> task_, inputs_;
};

std::string numbers(const std::vector<double>& values) {
  std::vector<std::string> words;
  for (const double x : values) words.push_back(number(x));
  return joined(words, " ");
}

std::string table_of(const Labels& labels, const Result& r) {
  if (is_links(r)) {
    Table table({"link", "position", "quaternion x y z w", "velocity", "acceleration"});
    for (int i = 0; i < r.row_count; ++i) {
      std::vector<std::string> cells{labels.row(r, i)};
      for (const Part& p : link_parts) {
        cells.push_back(numbers(slice(r, i * link_components + p.start, p.size)));
      }
      table.row(std::move(cells));
    }
    return table.text(Table::screen);
  }
  std::vector<std::string> header{""};
  for (int j = 0; j < r.column_count; ++j) header.push_back(labels.column(r, j));
  Table table(std::move(header));
  for (int i = 0; i < r.row_count; ++i) {
    std::vector<std::string> cells{labels.row(r, i)};
    for (const double x : slice(r, i * r.column_count, r.column_count)) cells.push_back(number(x));
    table.row(std::move(cells));
  }
  return table.blocks(Table::screen);
}

/// What a result is measured in, turning | sliding joints, with a space before; "" where its rows
/// differ more.
std::string unit_of(const std::string& result) {
  if (result == "vdot") return " [rad/s²|m/s²]";
  if (result == "tau" || result == "bias") return " [N·m|N]";
  if (result.ends_with("energy")) return " [J]";
  return "";
}

/// All vectors of one kind side by side; "" if there is none.
std::string columns_of(const Labels& labels, const char* of, const Results& results,
                       bool (*is_one)(const Result&)) {
  std::vector<const Result*> vectors;
  std::vector<std::string> header{of};
  for (const Result& r : results) {
    if (!is_one(r)) continue;
    vectors.push_back(&r);
    header.push_back(r.name + unit_of(r.name));
  }
  if (vectors.empty()) return "";
  Table table(std::move(header));
  for (int i = 0; i < vectors[0]->row_count; ++i) {
    std::vector<std::string> cells{labels.row(*vectors[0], i)};
    for (const Result* r : vectors) cells.push_back(number(r->values[i]));
    table.row(std::move(cells));
  }
  return table.blocks(Table::screen);
}

}  // namespace

std::string rate_label(const Model& model, int rate) {
  const int spanning = model.independent_rates()[rate];
  const Joint& j = model.joint_of_rate(spanning);
  return j.nv == 1 ? j.name : j.name + "[" + std::to_string(spanning - j.v) + "]";
}

void add_results(const Model& model, const Results& results, Json& document) {
  for (const Result& r : results) {
    if (is_jacobian(r)) {
      document["jacobians"][r.name] = rows_of(r);
    } else if (is_rates(r)) {
      document[r.name] = rates_by_joint(model, r.values.data());
    } else if (is_scalar(r)) {
      document[r.name] = r.values[0];
    } else if (r.rows == Axis::links) {
      Json& by_link = document[r.name] = Json::object();
      for (int i = 0; i < r.row_count; ++i) {
        Json& link = by_link[model.links()[i].name];
        if (is_links(r)) {
          for (const Part& p : link_parts) {
            link[p.name] = slice(r, i * link_components + p.start, p.size);
          }
        } else {
          link = slice(r, i * r.column_count, r.column_count);
        }
      }
    } else if (r.rows == Axis::named) {
      Json& by_name = document[r.name] = Json::object();
      for (int i = 0; i < r.row_count; ++i) {
        if (r.columns == Axis::one) {
          by_name[r.names[i]] = r.values[i];
        } else {
          by_name[r.names[i]] = slice(r, i * r.column_count, r.column_count);
        }
      }
    } else if (r.columns == Axis::one) {
      document[r.name] = r.values;
    } else if (is_reaction(r)) {
      document["joint_wrenches"][r.name.substr(reaction_prefix.size())] = {
          {"wrench", slice(r, 0, 6)}, {"determined", r.values[6] != 0.0}};
    } else {
      document[r.name] = rows_of(r);
    }
  }
}

std::string describe(const Setup& setup, const Results& results) {
  const Labels labels(setup);
  std::string out = columns_of(labels, "joint", results, is_rates);
  const std::string task = columns_of(labels, "row", results, is_task);
  out += (out.empty() || task.empty() ? "" : "\n") + task;
  for (const Result& r : results) {
    if (is_rates(r) || is_task(r)) continue;
    if (r.columns == Axis::one && r.rows != Axis::links && r.rows != Axis::named) {
      out += r.name + unit_of(r.name) + ": " + numbers(r.values) + "\n";
    } else {
      out += (out.empty() ? "" : "\n") + r.name + "\n" + table_of(labels, r);
    }
  }
  return out;
}

void expect_finite(const std::string& algorithm, const Setup& setup, const Results& results) {
  for (const Result& r : results) {
    const auto bad =
        std::find_if(r.values.begin(), r.values.end(), [](double x) { return !std::isfinite(x); });
    if (bad == r.values.end()) continue;
    const int row = static_cast<int>(bad - r.values.begin()) / std::max(1, r.column_count);
    throw SingularMechanism(
        algorithm + ": " + r.name + " of " + Labels(setup).row(r, row) + " is " + number(*bad) +
        ", expected a finite number (bodies without inertia about their joints, a singular pose, "
        "or numbers too large in the state; 'espalier check' looks at the model)");
  }
}

}  // namespace espalier::cli
