#include "formats/yaml/yaml_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

namespace {

using Kind = YamlValue::Kind;

std::string key_is(std::string_view key) { return "key " + in_quotes(key) + " is "; }

/// What stands there, for messages.
std::string shown(const YamlValue& value) {
  return value.kind == Kind::scalar ? in_quotes(value.text) : value.kind_name();
}

}  // namespace

Fields::Fields(YamlContext context, std::string who, const YamlValue& value,
               std::vector<std::string> known)
    : context_(context), who_(std::move(who)), value_(value) {
  if (value.kind != Kind::mapping && value.kind != Kind::null) {
    fail(value.line, "content is " + shown(value) + ", expected a mapping");
  }
  for (const YamlEntry& entry : value.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      const bool digits = entry.key.find_first_not_of("0123456789") == std::string::npos;
      fail(entry.line, "key " + in_quotes(entry.key) + " is unknown" + suggest(entry.key, known) +
                           (digits ? " (a comma separates keys: 1.5 has a point)" : ""));
    }
  }
}

const YamlValue& Fields::required(std::string_view key) const {
  const YamlEntry* entry = value_.find(key);
  if (entry == nullptr) {
    fail(value_.line, key_is(key) + "missing, expected " +
                          (key == "espalier" ? "'espalier: 1', the format's version" : "it here"));
  }
  return *entry->value;
}

double Fields::number(std::string_view key, std::optional<double> fallback) const {
  if (fallback && !has(key)) return *fallback;
  return number_of(required(key), key_is(key));
}

std::optional<double> Fields::optional_number(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return number(key);
}

Vec3<double> Fields::vector(std::string_view key, const Vec3<double>& fallback) const {
  if (!has(key)) return fallback;
  const auto v = numbers(key, 3);
  return {v[0], v[1], v[2]};
}

std::vector<double> Fields::numbers(std::string_view key, std::size_t count) const {
  const YamlValue& value = required(key);
  if (value.kind != Kind::sequence || value.items.size() != count) {
    fail(value.line,
         key_is(key) + shown(value) +
             (value.kind == Kind::sequence ? " of " + std::to_string(value.items.size()) : "") +
             ", expected a list of " + std::to_string(count) + " numbers");
  }
  return numbers_of(value, key_is(key));
}

std::string Fields::text(std::string_view key) const { return text_of(required(key), key_is(key)); }

std::optional<bool> Fields::optional_bool(std::string_view key) const {
  const YamlEntry* entry = value_.find(key);
  if (entry == nullptr) return std::nullopt;
  const auto value = parse_bool(entry->value->kind == Kind::scalar ? entry->value->text : "");
  if (!value) fail(entry->line, key_is(key) + shown(*entry->value) + ", expected true or false");
  return value;
}

Pose Fields::pose() const { return {vector("xyz", {0, 0, 0}), vector("rpy", {0, 0, 0})}; }

Fields shape_fields(const Fields& link, const YamlValue& value) {
  return {
      link.context(),
      link.who(),
      value,
      {"box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh", "height_field", "name",
       "xyz", "rpy", "color", "material", "friction", "torsional_friction", "rolling_friction"}};
}

Shape Fields::shape() const {
  static constexpr std::array<std::string_view, 8> kinds{
      "box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh", "height_field"};
  std::string_view kind;
  for (const std::string_view k : kinds) {
    if (!has(k)) continue;
    if (!kind.empty()) {
      fail(where(k).line, key_is(k) + "given beside " + in_quotes(kind) + ", expected one shape");
    }
    kind = k;
  }
  if (kind.empty())
    fail(value_.line,
         "shape is missing, expected one of box, sphere, cylinder, "
         "capsule, ellipsoid, plane, mesh, height_field");
  const auto inside = [&](std::vector<std::string> keys) {
    return Fields(context_, who_, required(kind), std::move(keys));
  };
  if (kind == "box") return Box{vector("box", {})};
  if (kind == "sphere") return Sphere{number("sphere")};
  if (kind == "ellipsoid") return Ellipsoid{vector("ellipsoid", {})};
  if (kind == "plane") {
    const auto size = numbers("plane", 2);
    return Plane{size[0], size[1]};
  }
  if (kind == "cylinder" || kind == "capsule") {
    const Fields in = inside({"radius", "length"});
    const double radius = in.number("radius"), length = in.number("length");
    if (kind == "capsule") return Capsule{radius, length};
    return Cylinder{radius, length};
  }
  if (kind == "mesh") {
    if (required(kind).kind == Kind::scalar) return Mesh{text(kind)};
    const Fields in = inside({"file", "scale"});
    return Mesh{in.text("file"), in.vector("scale", {1, 1, 1})};
  }
  const Fields in = inside({"file", "size", "base", "rows", "columns", "heights"});
  HeightField field;
  if (in.has("file")) field.file = in.text("file");
  field.size = in.vector("size", {1, 1, 1});
  field.base = in.number("base", 0.0);
  if (!in.has("heights")) return field;
  const double rows = in.number("rows"), columns = in.number("columns");
  const std::size_t samples = in.items("heights").size();
  if (rows * columns != static_cast<double>(samples) || samples == 0 || rows != std::floor(rows) ||
      columns != std::floor(columns) || rows < 1.0) {
    in.fail(in.where("heights").line, "number of 'heights' is " + std::to_string(samples) +
                                          ", expected 'rows' times 'columns'");
  }
  field.rows = static_cast<int>(rows), field.columns = static_cast<int>(columns);
  field.heights = in.numbers("heights", samples);
  return field;
}

Parameters Fields::parameters() const {
  Parameters result;
  for (const YamlEntry& entry : entries("parameters")) {
    const std::string what = "parameter " + in_quotes(entry.key) + " is ";
    const YamlValue& value = *entry.value;
    if (value.kind != Kind::sequence) {
      result[entry.key] = {number_of(value, what)};
    } else if (value.items.empty()) {
      fail(entry.line, what + "an empty list, expected one or more numbers");
    } else {
      result[entry.key] = numbers_of(value, what);
    }
  }
  return result;
}

const std::vector<YamlEntry>& Fields::entries(std::string_view key) const {
  static const std::vector<YamlEntry> none;
  const YamlEntry* entry = value_.find(key);
  if (entry == nullptr || entry->value->kind == Kind::null) return none;
  if (entry->value->kind != Kind::mapping) {
    fail(entry->line, key_is(key) + shown(*entry->value) + ", expected a mapping");
  }
  return entry->value->entries;
}

const std::vector<YamlPtr>& Fields::items(std::string_view key) const {
  static const std::vector<YamlPtr> none;
  const YamlEntry* entry = value_.find(key);
  if (entry == nullptr || entry->value->kind == Kind::null) return none;
  if (entry->value->kind != Kind::sequence) {
    fail(entry->line, key_is(key) + shown(*entry->value) + ", expected a list");
  }
  return entry->value->items;
}

SourceLocation Fields::where(std::string_view key) const {
  const YamlEntry* entry = value_.find(key);
  return {context_.file, entry ? entry->line : value_.line};
}

void Fields::fail(int line, const std::string& what) const {
  throw InvalidModel(who_ + " (" + SourceLocation{context_.file, line}.text() + "): " + what);
}

double Fields::number_of(const YamlValue& value, const std::string& what) const {
  if (value.kind == Kind::scalar) {
    if (const auto number = parse_number(value.text)) return *number;
    if (const auto expression = Expressions::inner(value.text)) {
      return context_.expressions.evaluate(
          *expression, who_ + " (" + SourceLocation{context_.file, value.line}.text() + ")");
    }
  }
  fail(value.line,
       what + shown(value) + ", expected a finite number or an expression such as $(side * 0.5)");
}

std::string Fields::text_of(const YamlValue& value, const std::string& what) const {
  if (value.kind != Kind::scalar || !is_name(value.text)) {
    fail(value.line, what + shown(value) + ", expected a name without control characters");
  }
  return value.text;
}

std::vector<double> Fields::numbers_of(const YamlValue& value, const std::string& what) const {
  std::vector<double> result;
  for (const YamlPtr& item : value.items) result.push_back(number_of(*item, what));
  return result;
}

}  // namespace espalier::formats
