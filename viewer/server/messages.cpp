#include "viewer/server/messages.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"

namespace espalier::viewer {

std::string member(const Json& message, const char* key, const std::string& fallback) {
  const auto it = message.find(key);
  if (it == message.end()) return fallback;
  if (it->is_string()) return it->get<std::string>();
  throw InvalidModel(fmt::format("viewer: '{}' is {}, expected a text", key, it->type_name()));
}
double number(const Json& message, const char* key, std::optional<double> fallback) {
  const auto it = message.find(key);
  if (it != message.end() && it->is_number()) return it->get<double>();
  if (it == message.end() && fallback) return *fallback;
  throw InvalidModel(fmt::format("viewer: '{}' is {}, expected a number", key,
                                 it == message.end() ? "missing" : it->type_name()));
}
int index(const Json& message, const char* key) {
  const double x = number(message, key);
  if (x >= 0.0 && x < 1e9 && x == std::floor(x)) return static_cast<int>(x);
  throw InvalidModel(fmt::format("viewer: '{}' is {}, expected a whole number from 0", key, x));
}
Vec3<double> vector(const Json& message, const char* key) {
  const auto it = message.find(key);
  if (it != message.end() && it->is_array() && it->size() == 3 &&
      std::all_of(it->begin(), it->end(), [](const Json& x) { return x.is_number(); })) {
    return {(*it)[0].get<double>(), (*it)[1].get<double>(), (*it)[2].get<double>()};
  }
  throw InvalidModel(fmt::format("viewer: '{}' is not a vector, expected three numbers", key));
}
std::vector<double> numbers(const Json& message, const char* key) {
  const auto it = message.find(key);
  if (it != message.end() && it->is_array() &&
      std::all_of(it->begin(), it->end(), [](const Json& x) { return x.is_number(); })) {
    return it->get<std::vector<double>>();
  }
  throw InvalidModel(fmt::format("viewer: '{}' is not a list, expected numbers", key));
}
bool flag(const Json& message, const char* key, bool fallback) {
  const auto it = message.find(key);
  if (it == message.end()) return fallback;
  if (it->is_boolean()) return it->get<bool>();
  throw InvalidModel(
      fmt::format("viewer: '{}' is {}, expected true or false", key, it->type_name()));
}
double between(const Json& message, const char* key, double fallback, double lower, double upper) {
  const double x = number(message, key, fallback);
  if (x >= lower && x <= upper) return x;
  throw InvalidModel(
      fmt::format("viewer: '{}' is {}, expected a number from {} to {}", key, x, lower, upper));
}

}  // namespace espalier::viewer
