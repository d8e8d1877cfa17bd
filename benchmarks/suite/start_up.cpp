#include "benchmarks/suite/start_up.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "benchmarks/statistics.hpp"

namespace espalier::bench {

namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Runs a program to its end, its output thrown away.
/// @return processor time [ms]; nothing where it failed
std::optional<double> run(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t process = 0;
  const int refused =
      posix_spawn(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused != 0) return std::nullopt;
  int status = 0;
  rusage used{};
  if (wait4(process, &status, 0, &used) != process || status != 0) return std::nullopt;
  const auto ms = [](const timeval& t) {
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

/// Most memory [MB] of a program that prints its own in kB as its last line; 0 where it fails.
double memory_of(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += "'" + word + "' ";
  std::FILE* output = popen((command + "memory 2>/dev/null").c_str(), "r");
  if (output == nullptr) return 0.0;
  char line[64];
  double last = 0.0;
  while (std::fgets(line, sizeof line, output) != nullptr) last = std::atof(line);
  return pclose(output) == 0 ? last / 1024 : 0.0;
}

}  // namespace

std::vector<StartUp> start_ups_of(const std::string& file, const Robot& robot,
                                  const std::vector<std::string>& peers) {
  const std::string root = robot.floating ? "floating" : "fixed";
  std::vector<StartUp> all{{.robot = robot.name, .library = "Espalier"}};
  std::vector<std::vector<std::string>> programs{{ESPALIER_BENCH_START, file, root}};
  for (const std::string& peer : peers) {
    all.push_back({.robot = robot.name, .library = peer});
    programs.push_back({ESPALIER_BENCH_START_PEER, file, root,
                        ESPALIER_PEER_FOLDER "/peer_" + peer + ".so", robot.root,
                        joined(robot.joints), joined(robot.links)});
  }
  std::vector<std::vector<double>> times(programs.size());
  for (int k = 0; k < start_ups; ++k) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (const std::optional<double> ms = run(programs[i])) times[i].push_back(*ms);
    }
  }
  std::vector<StartUp> measured;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (times[i].size() < static_cast<std::size_t>(start_ups)) continue;
    all[i].ms = quantile(times[i], 0.0), all[i].median_ms = quantile(times[i], 0.5);
    all[i].megabytes = memory_of(programs[i]);
    measured.push_back(all[i]);
  }
  return measured;
}

}  // namespace espalier::bench
