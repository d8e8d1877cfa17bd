#include "cli/files/subsystems.hpp"

#include <algorithm>

#include "cli/output/results.hpp"
#include "cli/output/table.hpp"

namespace espalier::cli {

namespace {

using Subsystem = SubsystemMatrices<double>::Subsystem;

std::string parent_of(const SubsystemMatrices<double>& matrices, const Subsystem& s) {
  return s.parent < 0 ? "ground" : matrices.subsystems()[s.parent].name;
}
std::vector<std::string> rates_of(const SubsystemMatrices<double>& matrices, const Subsystem& s) {
  std::vector<std::string> labels;
  for (const int rate : s.rates) labels.push_back(rate_label(matrices.model(), rate));
  return labels;
}

Json rows_of(const std::vector<double>& x, std::size_t rows) {
  Json out = Json::array();
  const long columns = static_cast<long>(x.size() / rows);
  for (auto at = x.begin(); out.size() < rows; at += columns) {
    out.push_back(std::vector<double>(at, at + columns));
  }
  return out;
}

}  // namespace

std::vector<SubsystemGroup> read_groups(const Json& value, const JsonForm& form) {
  std::vector<SubsystemGroup> groups;
  for (const auto& [name, joints] : form.object(value, "'groups'").items()) {
    const std::string who = "group '" + name + "'";
    if (!joints.is_array()) form.refuse(who, joints, "a list of joints");
    groups.push_back({name, {}});
    for (const Json& joint : joints) {
      if (!joint.is_string()) form.refuse("a joint of " + who, joint, "a name");
      groups.back().joints.push_back(joint);
    }
  }
  return groups;
}

Json to_json(const std::vector<SubsystemGroup>& groups) {
  Json out = Json::object();
  for (const SubsystemGroup& group : groups) out[group.name] = group.joints;
  return out;
}

std::vector<SubsystemGroup> groups_by_name(const Model& model) {
  std::vector<SubsystemGroup> groups;
  for (const Joint& joint : model.joints()) {
    const std::size_t dot = joint.name.find('.');
    if (dot == std::string::npos) continue;
    const std::string name = joint.name.substr(0, dot);
    const auto is_it = [&](const SubsystemGroup& group) { return group.name == name; };
    auto group = std::find_if(groups.begin(), groups.end(), is_it);
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->joints.push_back(joint.name);
  }
  return groups;
}

Json to_json(const SubsystemMatrices<double>& matrices) {
  Json out = Json::object();
  for (const Subsystem& s : matrices.subsystems()) {
    const std::size_t size = s.size();
    out[s.name] = {{"parent", parent_of(matrices, s)},
                   {"outputs", s.outputs},
                   {"rates", rates_of(matrices, s)},
                   {"inputs", s.inputs},
                   {"y", s.y},
                   {"M", rows_of(s.M, size)},
                   {"h", s.h},
                   {"B", rows_of(s.B, size)},
                   {"T", rows_of(s.T, size)},
                   {"dT", rows_of(s.dT, size)},
                   {"F", rows_of(s.F, size)},
                   {"c", s.c}};
  }
  return out;
}

std::string describe(const SubsystemMatrices<double>& matrices) {
  Table table({"subsystem", "parent", "y: twist of", "y: rates", "columns of B"});
  for (const Subsystem& s : matrices.subsystems()) {
    table.row({s.name, parent_of(matrices, s), joined(s.outputs), joined(rates_of(matrices, s)),
               joined(s.inputs)});
  }
  return table.text();
}

}  // namespace espalier::cli
