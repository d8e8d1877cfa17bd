#include "cli/files/inputs.hpp"

#include "cli/files/end_effectors.hpp"

namespace espalier::cli {

namespace {

Input read_one(const Json& item, const std::string& who, const JsonForm& form, const Model& model) {
  form.object(item, who);
  const bool motor = item.contains("joint");
  if (!motor && !item.contains("link")) {
    throw usage_error(form.file + ": 'joint' or 'link' of " + who +
                      " is missing, expected one of them");
  }
  if (motor) {
    form.expect_keys(item, " of " + who + ", which is on a joint,", {"joint", "name"});
  } else {
    form.expect_keys(item, " of " + who + ", which is on a link,",
                     {"link", "offset", "rows", "axes", "name"});
  }
  Input out;
  if (item.contains("name")) {
    const Json& name = item["name"];
    if (!name.is_string() || name == "") form.refuse("name of " + who, name, "a name");
    out.name = name;
  }
  if (motor) {
    const Json& joint = item["joint"];
    if (!joint.is_string()) form.refuse("joint of " + who, joint, "a name");
    out.joint = form.joint(model, "inputs", joint).name;
  } else {
    out.contact = read_end_effector(item, "inputs", who, form, model);
  }
  return out;
}

}  // namespace

std::vector<Input> read_inputs(const Json& list, const JsonForm& form, const Model& model) {
  if (!list.is_array()) form.refuse("'inputs'", list, "a list of objects");
  std::vector<Input> out;
  for (std::size_t k = 0; k < list.size(); ++k) {
    out.push_back(read_one(list[k], "inputs[" + std::to_string(k) + "]", form, model));
  }
  return out;
}

Json inputs_json(const std::vector<Input>& inputs) {
  Json list = Json::array();
  for (const Input& input : inputs) {
    Json item =
        input.joint.empty() ? end_effector_json(input.contact) : Json{{"joint", input.joint}};
    if (!input.name.empty()) item["name"] = input.name;
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace espalier::cli
