#include "espalier/host/named.hpp"

#include <string>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/state.hpp"

namespace espalier {

Named::Named(ModelPtr model)
    : model_(detail::expect_model("named", model)), values_(model_->nv(), 0.0) {}

Named::Named(ModelPtr model, In<double> values) : Named(std::move(model)) {
  expect_size("named", "values", values.size(), model_->nv());
  std::copy_n(values.data(), values.size(), values_.begin());
}

namespace {
/// The independent joints of a joint's cluster: "'a', 'b'".
std::string independent_beside(const Model& model, const Joint& joint) {
  const Cluster& cluster = model.clusters()[model.body(joint.body).cluster];
  std::string names;
  for (const Coordinate& c : model.coordinates()) {
    if (c.start < cluster.v || c.start >= cluster.v + cluster.nv) continue;
    names += (names.empty() ? "'" : ", '") + c.name + "'";
  }
  return names;
}
}  // namespace

const Joint& Named::joint(std::string_view name) const {
  const Joint& joint = model_->joint(name);
  if (joint.independent >= 0) return joint;
  throw Unsupported(
      "named: joint '" + joint.name +
      "' is dependent, expected an independent one: " + independent_beside(*model_, joint) +
      " (rates of dependent joints are G times these; what loads a dependent joint "
      "is a controller's ControlStep::force(), or an Input of the input matrix)");
}

int Named::index(std::string_view name) const {
  if (const auto part = detail::independent_part(*model_, name)) return part->start;
  const Joint& found = joint(name);
  if (found.nv == 1) return found.independent;
  throw SizeMismatch("named: number of rates of joint '" + found.name + "' is " +
                     std::to_string(found.nv) + ", expected 1 (use of(\"" + found.name + "\"))");
}

std::span<double> Named::of(std::string_view name) {
  if (const auto part = detail::independent_part(*model_, name)) {
    return std::span(values_).subspan(part->start, part->size);
  }
  const Joint& found = joint(name);
  return std::span(values_).subspan(found.independent, found.nv);
}
std::span<const double> Named::of(std::string_view name) const {
  if (const auto part = detail::independent_part(*model_, name)) {
    return std::span(values_).subspan(part->start, part->size);
  }
  const Joint& found = joint(name);
  return std::span(values_).subspan(found.independent, found.nv);
}

}  // namespace espalier
