#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "espalier/host/host.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/log.hpp"

namespace espalier {

namespace {

/// Larger files are not robots; reading them would only exhaust the memory.
constexpr std::uintmax_t largest_file = 256u << 20;

/// The contents of a file. @throws InvalidModel naming the path and what is wrong with it
std::string contents(const std::string& path) {
  const auto refuse = [&](const std::string& is, const std::string& expected) {
    throw InvalidModel(path + ": model file is " + is + ", expected " + expected);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) refuse("missing", "a robot file");
  if (error) refuse("unreadable (" + error.message() + ")", "a robot file");
  if (std::filesystem::is_directory(status)) refuse("a folder", "a robot file");
  if (!std::filesystem::is_regular_file(status)) refuse("not a regular file", "a robot file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > largest_file) {
    refuse("of " + std::to_string(size) + " bytes",
           "at most " + std::to_string(largest_file) + " (256 MB)");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(error ? 0 : size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (error || !file) {
    refuse("unreadable (" + std::generic_category().message(errno) + ")", "a robot file");
  }
  return text;
}

}  // namespace

Host::Host() : Host(Options()) {}
Host::~Host() = default;

Host::Host(const Options& options) : loader_(std::make_unique<Loader>(registry_)) {
  for (const std::string& folder : options.plugin_folders) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
      detail::log_warning(folder + ": plugin folder is missing, expected a folder");
    }
  }
  const std::vector<std::string> folders =
      options.search ? Loader::search_path(options.plugin_folders) : options.plugin_folders;
  for (const std::string& message : loader_->load_path(folders, true)) {
    detail::log_warning("plugin refused: " + message);
  }
}

Description Host::read(const std::string& path) const { return read(path, ReadOptions()); }

Description Host::read(const std::string& path, const ReadOptions& options) const {
  const std::string text = contents(path);
  const Format& format = registry_.format_for(path);
  Description robot = detail::guarded([&] { return path; }, "the reader of its format",
                                      [&] { return format.read(text, path, registry_, options); });
  if (robot.where.file.empty()) robot.where.file = path;  // for what is said of the whole robot
  return robot;
}

ModelPtr Host::load(const std::string& path, const CompileOptions& options) const {
  return compile(read(path), options);
}

std::unique_ptr<Batch> Host::batch(std::string_view problem, std::string_view name,
                                   const Setup& setup, const BatchOptions& options) const {
  return std::make_unique<Batch>(registry_, registry_.find_algorithm(problem, name), setup,
                                 options);
}

std::vector<BatchStatus> Host::evaluate_batch(std::string_view problem, std::string_view name,
                                              const Setup& setup, int N, const BatchInputs& in,
                                              std::initializer_list<BatchOutput> out,
                                              const BatchOptions& options) const {
  std::vector<BatchStatus> status(std::max(N, 0));
  batch(problem, name, setup, options)->evaluate(N, in, out, status);
  return status;
}

}  // namespace espalier
