#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/spatial/vec3.hpp"
#include "viewer/server/json.hpp"

/// Members of messages, of which nothing is sure but that they are JSON objects.

namespace espalier::viewer {

// Each throws InvalidModel that names the key, what is there and what was expected.
std::string member(const Json& message, const char* key, const std::string& fallback);
double number(const Json& message, const char* key, std::optional<double> fallback = {});
int index(const Json& message, const char* key);
Vec3<double> vector(const Json& message, const char* key);
std::vector<double> numbers(const Json& message, const char* key);
bool flag(const Json& message, const char* key, bool fallback);
double between(const Json& message, const char* key, double fallback, double lower, double upper);

}  // namespace espalier::viewer
