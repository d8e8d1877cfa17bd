#include "cli/files/sensors.hpp"

#include <algorithm>

namespace espalier::cli {

namespace {

std::string who_of(std::size_t k) { return "sensors[" + std::to_string(k) + "]"; }

std::string name(const Json& item, const char* key, const std::string& who, const JsonForm& form) {
  if (!item.contains(key)) return "";
  const Json& value = item[key];
  if (!value.is_string() || value == "") form.refuse(key + (" of " + who), value, "a name");
  return value;
}

/// A number, one for each row, or a matrix: its rows one after the other or a list of them.
std::vector<double> covariance(const Json& value, const std::string& what, const JsonForm& form) {
  if (!value.is_array() || value.empty() || !value.front().is_array()) {
    return form.list(value, what);
  }
  std::vector<double> out;
  for (const Json& row : value) {
    if (!row.is_array() || row.size() != value.size()) {
      form.refuse(what, value, "a number, one for each row, or a square matrix");
    }
    const std::vector<double> values = form.list(row, "row of " + what);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

Vec3<double> vector(const Json& item, const char* key, const std::string& who,
                    const JsonForm& form) {
  if (!item.contains(key)) return {0, 0, 0};
  double x[3];
  form.numbers(item[key], key + (" of " + who), 3, x);
  return {x[0], x[1], x[2]};
}

std::vector<Sensor::Row> rows(const Json& list, const std::string& who, const JsonForm& form) {
  if (!list.is_array()) {
    form.refuse("rows of " + who, list, R"(a list of components ("fz") or of six numbers each)");
  }
  std::vector<Sensor::Row> out;
  for (const Json& item : list) {
    if (item.is_string()) {
      out.push_back(Sensor::row_of(item.get<std::string>()));
    } else {
      form.numbers(item, "a row of " + who, 6, out.emplace_back().data());
    }
  }
  return out;
}

Sensor read_sensor(const Json& item, const std::string& who, const JsonForm& form,
                   const Model& model) {
  form.object(item, who);
  form.expect_keys(item, " of " + who,
                   {"kind", "name", "joint", "link", "xyz", "rpy", "rows", "covariance", "value"});
  const std::string kind = name(item, "kind", who, form);
  if (kind.empty()) {
    std::string known;
    for (const Sensor::Kind k : sensor_kinds()) {
      known += (known.empty() ? "" : ", ") + std::string(to_string(k));
    }
    throw usage_error(form.file + ": 'kind' of " + who + " is missing, expected one of " + known);
  }
  Sensor s;
  s.kind = Sensor::kind_of(kind);
  s.name = name(item, "name", who, form);
  s.joint = name(item, "joint", who, form);
  s.link = name(item, "link", who, form);
  if (!s.joint.empty()) form.joint(model, who, s.joint.substr(0, s.joint.find('[')));
  if (!s.link.empty()) form.link(model, who, s.link);
  s.frame = {vector(item, "xyz", who, form), vector(item, "rpy", who, form)};
  if (item.contains("rows")) s.rows = rows(item["rows"], who, form);
  if (item.contains("covariance")) {
    s.covariance = covariance(item["covariance"], "covariance of " + who, form);
  }
  return s;
}

/// Numbers that a sensor measures.
std::size_t row_count(const Sensor& s, const Model& model) {
  switch (s.kind) {
    case Sensor::Kind::motor:
    case Sensor::Kind::contact:
      return 0;
    case Sensor::Kind::acceleration:
    case Sensor::Kind::torque:
      return s.joint.ends_with(']') ? 1 : static_cast<std::size_t>(model.joint(s.joint).nv);
    default:
      break;
  }
  if (!s.rows.empty()) return s.rows.size();
  return s.kind == Sensor::Kind::wrench || s.kind == Sensor::Kind::joint_wrench ? 6 : 3;
}

}  // namespace

bool SensorFile::measured() const {
  return std::any_of(values.begin(), values.end(), [](const auto& v) { return !v.empty(); });
}

std::vector<double> SensorFile::measurements(const Model& model) const {
  std::vector<double> all;
  for (std::size_t k = 0; k < sensors.size(); ++k) {
    const std::size_t rows = row_count(sensors[k], model);
    if (values[k].size() != rows) {
      throw SizeMismatch(file + ": size of 'value' of " + who_of(k) + " ('" + sensors[k].label() +
                         "') is " + std::to_string(values[k].size()) + ", expected " +
                         std::to_string(rows) +
                         " (a number for each of its rows; values of all sensors or of none)");
    }
    all.insert(all.end(), values[k].begin(), values[k].end());
  }
  return all;
}

SensorFile read_sensors(const std::string& file, const Model& model) {
  const JsonForm form{file == "-" ? "sensors on standard input" : file};
  const Json document = parse_json(file, "sensor");
  form.object(document, "the sensor file");
  form.expect_keys(document, " of the sensor file", {"sensors"});
  if (!document.contains("sensors") || !document["sensors"].is_array()) {
    form.refuse("'sensors'", document.contains("sensors") ? document["sensors"] : Json(),
                "a list of objects");
  }
  SensorFile out;
  out.file = form.file;
  const Json& list = document["sensors"];
  for (std::size_t k = 0; k < list.size(); ++k) {
    out.sensors.push_back(read_sensor(list[k], who_of(k), form, model));
    out.values.push_back(list[k].contains("value")
                             ? form.list(list[k]["value"], "value of " + who_of(k))
                             : std::vector<double>{});
  }
  return out;
}

Json sensor_json(const Sensor& s) {
  Json item{{"kind", to_string(s.kind)}};
  if (!s.name.empty()) item["name"] = s.name;
  if (!s.joint.empty()) item["joint"] = s.joint;
  if (!s.link.empty()) item["link"] = s.link;
  const auto put = [&](const char* key, const Vec3<double>& x) {
    if (dot(x, x) > 0.0) item[key] = {x.x, x.y, x.z};
  };
  put("xyz", s.frame.xyz);
  put("rpy", s.frame.rpy);
  for (const Sensor::Row& row : s.rows) item["rows"].push_back(row);
  if (!s.covariance.empty()) item["covariance"] = s.covariance;
  return item;
}

}  // namespace espalier::cli
