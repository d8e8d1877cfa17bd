#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "espalier/host/host.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/log.hpp"

namespace espalier {

namespace {

/// Larger files are not robots; reading them would only exhaust the memory.
constexpr off_t largest_file = off_t{256} << 20;

/// The contents of a file, without streams: the first of a program costs as much as a robot's file.
/// @throws InvalidModel naming the path and what is wrong with it
std::string contents(const std::string& path) {
  const auto refuse = [&](const std::string& is, const std::string& expected = "a robot file") {
    throw InvalidModel(path + ": model file is " + is + ", expected " + expected);
  };
  const auto refuse_unreadable = [&](int error) {
    refuse("unreadable (" + std::generic_category().message(error) + ")");
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) refuse("missing");
    refuse_unreadable(errno);
  }
  if (S_ISDIR(status.st_mode)) refuse("a folder");
  if (!S_ISREG(status.st_mode)) refuse("not a regular file");
  if (status.st_size > largest_file) {
    refuse("of " + std::to_string(status.st_size) + " bytes",
           "at most " + std::to_string(largest_file) + " (256 MB)");
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) refuse_unreadable(errno);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t length = 0;
  ssize_t got = 0;
  do {
    got = ::read(file, text.data() + length, text.size() - length);
    if (got > 0) length += static_cast<std::size_t>(got);
  } while (got > 0 || (got < 0 && errno == EINTR));
  const int error = got < 0 ? errno : 0;
  ::close(file);
  if (error != 0 || length < text.size()) refuse_unreadable(error);
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
