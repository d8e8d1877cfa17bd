#include "cli/files/end_effectors.hpp"

#include <map>

namespace espalier::cli {

namespace {

using Axes = EndEffector::Axes;

/// An end-effector whose rows have a name; no rows for other names.
EndEffector named_rows(const std::string& name, const std::string& link) {
  if (name == "6d") return EndEffector::weld(link);
  if (name == "3d") return EndEffector::contact(link);
  return {};
}

}  // namespace

EndEffector read_end_effector(const Json& item, const std::string& list, const std::string& who,
                              const JsonForm& form, const Model& model) {
  const Json& link = form.member(item, who, "link");
  if (!link.is_string()) form.refuse("link of " + who, link, "a name");
  const std::string name = form.link(model, list, link).name;

  const Json& rows = form.member(item, who, "rows");
  const std::string wanted = "\"6d\", \"3d\" or a list of rows of six numbers";
  EndEffector out;
  if (rows.is_string()) {
    out = named_rows(rows, name);
    if (out.rows.empty()) {
      throw usage_error(form.file + ": rows of " + who + " is '" + rows.get<std::string>() +
                        "', expected " + wanted);
    }
  } else if (rows.is_array()) {
    if (rows.empty()) {
      throw SizeMismatch(form.file + ": number of rows of " + who +
                         " is 0, expected at least one row of six numbers");
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      form.numbers(rows[k], "row " + std::to_string(k) + " of " + who, 6,
                   out.rows.emplace_back().data());
    }
  } else {
    form.refuse("rows of " + who, rows, wanted);
  }
  out.link = name;
  if (item.contains("offset")) {
    double offset[3];
    form.numbers(item["offset"], "offset of " + who, 3, offset);
    out.offset = {offset[0], offset[1], offset[2]};
  }
  if (item.contains("axes")) {
    const Json& axes = item["axes"];
    if (axes != "link" && axes != "world") {
      throw usage_error(form.file + ": axes of " + who + " is " + axes.dump() +
                        ", expected \"link\" or \"world\"");
    }
    out.axes = axes == "link" ? Axes::link : Axes::world;
  }
  return out;
}

Json end_effector_json(const EndEffector& e) {
  Json item{{"link", e.link}, {"offset", {e.offset.x, e.offset.y, e.offset.z}}};
  item["rows"] = e.rows;
  for (const char* name : {"6d", "3d"}) {
    if (e.rows == named_rows(name, e.link).rows) item["rows"] = name;
  }
  item["axes"] = e.axes == Axes::link ? "link" : "world";
  return item;
}

std::vector<EndEffector> default_end_effectors(const Model& model) {
  std::vector<EndEffector> all = tips(model);
  if (all.empty()) all.push_back(EndEffector::weld(model.links().front().name));
  return all;
}

EndEffectorList EndEffectorList::read(const Json& list, const JsonForm& form, const Model& model) {
  if (!list.is_array()) form.refuse("'end_effectors'", list, "a list of objects");
  EndEffectorList out;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::string who = "end_effectors[" + std::to_string(k) + "]";
    form.expect_keys(form.object(list[k], who), " of " + who,
                     {"link", "offset", "rows", "axes", "acceleration"});
    out.end_effectors.push_back(read_end_effector(list[k], "end_effectors", who, form, model));
    const std::size_t first = out.acceleration.size(), rows = out.end_effectors.back().rows.size();
    out.acceleration.resize(first + rows, 0.0);
    if (list[k].contains("acceleration")) {
      form.numbers(list[k]["acceleration"], "acceleration of " + who, static_cast<int>(rows),
                   out.acceleration.data() + first);
    }
  }
  return out;
}

Json EndEffectorList::json() const {
  Json list = Json::array();
  auto a = acceleration.begin();
  for (const EndEffector& e : end_effectors) {
    Json item = end_effector_json(e);
    if (!acceleration.empty()) {
      item["acceleration"] = std::vector<double>(a, a + static_cast<long>(e.rows.size()));
      a += static_cast<long>(e.rows.size());
    }
    list.push_back(std::move(item));
  }
  return list;
}

std::vector<std::string> row_labels(const std::vector<EndEffector>& end_effectors) {
  std::vector<std::string> labels;
  std::map<std::string, int> seen;
  for (const EndEffector& e : end_effectors) {
    const int count = ++seen[e.link];
    const std::string who = e.link + (count > 1 ? "(" + std::to_string(count) + ")" : "");
    for (std::size_t k = 0; k < e.rows.size(); ++k) {
      labels.push_back(who + "[" + std::to_string(k) + "]");
    }
  }
  return labels;
}

void EndEffectorOption::add_to(CLI::App& app, const std::string& otherwise) {
  app.add_option("--end-effector", words_,
                 "link that is an end-effector: its twist in link axes (6d), or its origin's "
                 "velocity in world axes (3d); may be repeated; " +
                     otherwise)
      ->type_name("LINK[:6d|:3d]")
      ->allow_extra_args(false);
}

std::vector<EndEffector> EndEffectorOption::read(const Model& model) const {
  if (!given()) return default_end_effectors(model);
  std::vector<EndEffector> all;
  for (const std::string& word : words_) {
    std::string link = word, rows = "6d";
    // A link's name may hold a colon, too.
    if (const std::size_t colon = word.rfind(':');
        colon != std::string::npos && model.find_link(word) == nullptr) {
      link = word.substr(0, colon), rows = word.substr(colon + 1);
    }
    all.push_back(named_rows(rows, link));
    if (all.back().rows.empty()) {
      throw usage_error("--end-effector: rows of '" + word + "' are '" + rows +
                        "', expected '6d' or '3d'");
    }
    JsonForm{"--end-effector"}.link(model, word, link);
  }
  return all;
}

}  // namespace espalier::cli
