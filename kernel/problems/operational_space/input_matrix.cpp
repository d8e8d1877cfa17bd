#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

#include <algorithm>
#include <map>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

/// How messages call input number k.
std::string who(std::size_t k, const Input& input) {
  const std::string& thing = input.joint.empty() ? input.contact.link : input.joint;
  return "inputs[" + std::to_string(k) + "] on " + (input.joint.empty() ? "link " : "joint ") +
         text::quoted(thing);
}

/// "name[k]", or the name alone where there is one.
void add_names(std::vector<std::string>& names, const std::string& name, int count, bool indexed) {
  for (int k = 0; k < count; ++k) {
    names.push_back(indexed ? name + "[" + std::to_string(k) + "]" : name);
  }
}

}  // namespace

std::vector<Input> motors(const Model& model) {
  std::vector<Input> all;
  std::vector<bool> driven(model.joints().size(), false);
  for (const int rate : model.independent_rates()) {
    const Joint& joint = model.joint_of_rate(rate);
    const auto index = static_cast<std::size_t>(&joint - model.joints().data());
    const SubspaceKind kind = model.runs()[model.body(joint.body).run].subspace;
    if (kind == SubspaceKind::free || driven[index]) continue;
    driven[index] = true;
    all.push_back({.joint = joint.name});
  }
  return all;
}

std::vector<Input> default_inputs(const Model& model) {
  std::vector<Input> all = motors(model);
  for (const EndEffector& tip : tips(model)) {
    // A link may have the name of a joint that drives.
    const bool taken = std::any_of(all.begin(), all.end(), [&](const Input& input) {
      return input.joint == tip.link || input.name == tip.link;
    });
    all.push_back({.name = taken ? "contact of " + tip.link : std::string(),
                   .contact = EndEffector::contact(tip.link)});
  }
  if (all.empty()) all.push_back({.contact = EndEffector::contact(model.links().front().name)});
  return all;
}

InputColumns::InputColumns(const Model& model, const std::vector<Input>& inputs) {
  if (inputs.empty()) {
    throw SizeMismatch(
        "input matrix of '" + model.name() +
        "': number of inputs is 0, expected at least one (a motor on a joint, or a link with rows; "
        "in a state file \"inputs\": [{\"joint\": ...}, {\"link\": ..., \"rows\": \"3d\"}])");
  }
  std::map<std::string, std::size_t> origin;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Input& input = inputs[k];
    const bool has_contact = !input.contact.link.empty() || !input.contact.rows.empty();
    if (input.joint.empty() && !has_contact) {
      throw InvalidModel("inputs[" + std::to_string(k) +
                         "]: joint and link are empty, expected one of them");
    }
    if (!input.joint.empty() && has_contact) {
      throw InvalidModel(who(k, input) + ": link is " + text::quoted(input.contact.link) +
                         ", expected none (an input is either a motor or a contact)");
    }
    const std::size_t first = names_.size();
    if (input.joint.empty()) {
      if (input.contact.rows.empty()) {
        throw SizeMismatch(who(k, input) +
                           ": number of rows is 0, expected at least one row of six numbers");
      }
      add_contact(model, input);
    } else {
      add_motors(model, input);
    }
    for (std::size_t i = first; i < names_.size(); ++i) {
      const auto [known, is_new] = origin.emplace(names_[i], k);
      if (is_new) continue;
      throw DuplicateName(who(k, input) + ": column " + text::quoted(names_[i]) +
                          " has the name of one of " + who(known->second, inputs[known->second]) +
                          ", expected names that differ (give one of them a \"name\")");
    }
  }
}

void InputColumns::add_motors(const Model& model, const Input& input) {
  const Joint& joint = model.joint(input.joint);
  const int first = size();
  const std::string& name = input.name.empty() ? input.joint : input.name;
  const JointType& type = *model.runs()[model.body(joint.body).run].type;
  if (const auto inputs = type.inputs(); !inputs.empty()) {
    const int count = static_cast<int>(inputs.size());
    for (int k = 0; k < count; ++k) {
      names_.push_back(name + "." + std::string(inputs[k]));
      for (int r = 0; r < joint.nv; ++r) {
        const double gain = type.B()[r * count + k];
        if (gain != 0.0) motors_.push_back({joint.v + r, first + k, gain});
      }
    }
    return;
  }
  add_names(names_, name, joint.nv, joint.nv > 1);
  for (int k = 0; k < joint.nv; ++k) motors_.push_back({joint.v + k, first + k});
}

void InputColumns::add_contact(const Model& model, const Input& input) {
  contacts_.push_back(Task(model, {input.contact}).parts().front());
  Task::Part& part = contacts_.back();
  part.first = size();
  add_names(names_, input.name.empty() ? input.contact.link : input.name, part.size(), true);
}

template <class T>
void InputMatrix<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  using Axis = ResultAxis;
  const Answer& a = evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v),
                             detail::lifted<T>(in.tau), detail::lifted<T>(in.wrenches));
  const int nv = model().nv(), m = inputs_.size(), t = task_size();
  std::size_t k = 0;
  const auto put = [&](const char* name, const std::vector<T>& x, Axis r, int nr, Axis c, int nc) {
    BasicResult<Value>& result = detail::result(out, k++, name);
    result.shape(r, nr, c, nc);
    for (std::size_t i = 0; i < x.size(); ++i) result.values[i] = detail::lowered<Value>(x[i]);
  };
  put("input_matrix", a.input_matrix, Axis::rates, nv, Axis::inputs, m);
  put("free_acceleration", a.free_acceleration, Axis::rates, nv, Axis::one, 1);
  if (!task_) return;
  put("task_input_matrix", a.task_input_matrix, Axis::task, t, Axis::inputs, m);
  put("task_free_acceleration", a.task_free_acceleration, Axis::task, t, Axis::one, 1);
}

#define ESPALIER_INSTANTIATE(T) template class InputMatrix<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
