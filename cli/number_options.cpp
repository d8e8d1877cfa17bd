#include "cli/number_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "cli/session.hpp"

namespace espalier::cli {

namespace {

template <class Seed>
CLI::Option* add(CLI::App& app, const std::string& name, Seed& seed, const std::string& help) {
  const std::string who = app.get_name() + ": " + name;
  return app
      .add_option_function<std::string>(
          name,
          [&seed, who](const std::string& word) {
            unsigned long long value = 0;
            const char* end = word.data() + word.size();
            const auto [stop, error] = std::from_chars(word.data(), end, value);
            if (error != std::errc() || stop != end) {
              throw usage_error(who + " is '" + word +
                                "', expected a whole number from 0 to 18446744073709551615");
            }
            seed = value;
          },
          help)
      ->type_name("SEED");
}

}  // namespace

CLI::Option* add_seed(CLI::App& app, const std::string& name, unsigned long long& seed,
                      const std::string& help) {
  return add(app, name, seed, help)->default_str(std::to_string(seed));
}

CLI::Option* add_seed(CLI::App& app, const std::string& name,
                      std::optional<unsigned long long>& seed, const std::string& help) {
  return add(app, name, seed, help);
}

const CLI::Validator& above_zero() {
  static const CLI::Validator validator(
      [](std::string& word) -> std::string {
        char* end = nullptr;
        const double x = std::strtod(word.c_str(), &end);
        if (!word.empty() && *end == '\0' && x > 0.0 && std::isfinite(x)) return "";
        return "number is " + word + ", expected a finite one above 0";
      },
      "POSITIVE");
  return validator;
}

}  // namespace espalier::cli
