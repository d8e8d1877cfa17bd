#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

/// Options that are numbers, where CLI11 takes what nobody means: -1 or 2^64 for a seed, nan for a
/// number in a range.

namespace espalier::cli {

/// An option --name SEED: digits, 0 to 2^64 - 1. @throws Failure while parsing, for all else
CLI::Option* add_seed(CLI::App& app, const std::string& name, unsigned long long& seed,
                      const std::string& help);
CLI::Option* add_seed(CLI::App& app, const std::string& name,
                      std::optional<unsigned long long>& seed, const std::string& help);

/// Holds where a number is finite and above zero.
const CLI::Validator& above_zero();

}  // namespace espalier::cli
