#include <fcntl.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "viewer/server/scene/export.hpp"

extern char** environ;

namespace espalier::viewer {

namespace fs = std::filesystem;

namespace {

std::string chromium() {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/bin" : path;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    for (std::size_t at = 0; at <= folders.size();) {
      const std::size_t end = std::min(folders.find(':', at), folders.size());
      const fs::path program = fs::path(folders.substr(at, end - at)) / name;
      if (::access(program.c_str(), X_OK) == 0) return program;
      at = end + 1;
    }
  }
  throw InvalidModel(
      "viewer: Chromium is missing, expected it for pictures (Debian: apt-get install chromium)");
}

/// Ends a browser and all that it started.
struct Process {
  pid_t id = -1;
  ~Process() {
    if (id <= 0) return;
    ::kill(-id, SIGKILL);
    ::waitpid(id, nullptr, 0);
  }
};

}  // namespace

void picture(const std::string& html, const std::string& png, const std::string& profile, int width,
             int height, const std::string& view) {
  std::error_code error;
  fs::remove(png, error);
  const std::string target = fs::absolute(png).string();
  std::vector<std::string> words{chromium(),
                                 "--headless=new",
                                 "--hide-scrollbars",
                                 "--no-first-run",
                                 "--mute-audio",
                                 "--use-gl=angle",
                                 "--use-angle=swiftshader",
                                 "--enable-unsafe-swiftshader",
                                 "--disable-dev-shm-usage",
                                 "--user-data-dir=" + profile,
                                 fmt::format("--window-size={},{}", width, height),
                                 "--screenshot=" + target,
                                 "--virtual-time-budget=4000"};
  // Chromium's sandbox does not run as root; the page is our own and has no network.
  if (::geteuid() == 0) words.push_back("--no-sandbox");
  words.push_back("file://" + fs::absolute(html).string() + "#picture" +
                  (view.empty() ? "" : "," + view));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  Process process;
  const int failed =
      ::posix_spawn(&process.id, words[0].c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    process.id = -1;
    throw InvalidModel("viewer: '" + words[0] + "' does not start, expected a Chromium that does");
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (std::chrono::steady_clock::now() < until) {
    int status = 0;
    if (::waitpid(process.id, &status, WNOHANG) == process.id) {
      ::kill(-process.id, SIGKILL);  // helpers that outlive it
      process.id = -1;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (fs::file_size(png, error) == 0 || error) {
    throw InvalidModel("viewer: picture '" + png + "' was not drawn by '" + words[0] +
                       "', expected a Chromium with WebGL and a writable folder");
  }
}

}  // namespace espalier::viewer
