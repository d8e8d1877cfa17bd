#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/contents.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/torture/sandbox.hpp"

namespace espalier::torture {

namespace {

namespace fs = std::filesystem;
using test::contents;

constexpr const char* program = ESPALIER_CLI;
constexpr double patience = 5.0;  ///< seconds; long work is no defect, and is interrupted
/// Seconds that the end may take after that, of the processor and by the clock: a busy machine is
/// no defect.
constexpr double to_end = 3.0, at_most = 30.0;

struct Finished {
  int code = -1;  ///< 128 + signal where it did not exit
  bool interrupted = false;
  std::string out, err;
};

/// Runs the program in a folder, with nothing on its standard input.
Finished execute(const std::vector<std::string>& words, const fs::path& folder) {
  std::vector<char*> arguments{const_cast<char*>(program)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const fs::path out = folder.parent_path() / "out", err = folder.parent_path() / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int in = ::open("/dev/null", O_RDONLY);
    const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int told = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(in, 0), ::dup2(to, 1), ::dup2(told, 2);
    const rlimit disk{20'000'000, 20'000'000}, core{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &disk), ::setrlimit(RLIMIT_CORE, &core);
    ::signal(SIGXFSZ, SIG_IGN);
    ::signal(SIGINT, SIG_DFL);  // jobs of scripts, such as torture itself may be, ignore it
    if (::chdir(folder.c_str()) != 0) _exit(97);
    ::execv(program, arguments.data());
    _exit(97);
  }
  Finished done;
  int status = 0;
  const auto start = std::chrono::steady_clock::now();
  double worked = 0.0;  // when it was asked to end
  while (::waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds < patience) continue;
    if (!done.interrupted) {
      worked = processor_time(child), done.interrupted = true;
      ::kill(child, SIGINT);
    } else if (processor_time(child) - worked > to_end || seconds > patience + at_most) {
      ::kill(child, SIGKILL);
    }
  }
  done.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  done.out = contents(out), done.err = contents(err);
  return done;
}

/// A subcommand and its options, from its own help.
struct Command {
  std::string name;
  std::vector<std::pair<std::string, bool>> options;  ///< and whether they take a word
};

/// A folder with robots and files that options may name.
struct Scene {
  test::TemporaryFolder root;
  fs::path folder = root / "files";
  std::vector<std::string> robots, files;
  std::vector<Command> commands;

  Scene() {
    fs::create_directories(folder);
    fill();
    for (const char* name :
         {"info", "check", "eval", "compare", "count", "graph", "list", "simulate", "convert",
          "sense", "sweep", "bench", "close", "assemble"}) {
      const Finished help = execute({name, "--help"}, folder);
      if (help.code == 0) commands.push_back({name, options_in(help.out)});
    }
  }

  /// Puts the files there anew.
  void fill() {
    for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
    robots.clear();
    for (const char* robot : {"ur5.urdf", "four_bar_leg.yaml", "tello.yaml", "rod_ankle.yaml"}) {
      const fs::path from = fs::path(ESPALIER_SOURCE_DIR) / "robots" / robot;
      if (!fs::exists(from)) continue;
      fs::copy_file(from, folder / robot);
      robots.push_back(robot);
    }
    const std::vector<std::pair<std::string, std::string>> texts{
        {"empty.json", ""},
        {"state.json", R"({"q": {}, "v": {}})"},
        {"bad_state.json", R"({"q": {"elbow": "x"}})"},
        {"deep.json", std::string(5000, '[')},
        {"controller.json", R"({"type": "constant", "tau": {}})"},
        {"sensors.json", R"({"sensors": [{"kind": "torque", "joint": "elbow", "value": 1}]})"},
        {"plan.yaml", "robot: ur5.urdf\nproblem: inverse-dynamics\nalgorithm: rnea\n"},
        {"broken.urdf", "<robot name='r'><link name='a'>"},
        {"binary.yaml", std::string("\0\xff\xfe\x01", 4)}};
    files = {"nowhere", ".", "/dev/null", "/dev/full"};
    for (const auto& [name, text] : texts) {
      std::ofstream(folder / name, std::ios::binary) << text;
      files.push_back(name);
    }
  }

 private:
  /// Words that begin with "--" at the beginning of a line, with whether a word follows in
  /// capitals.
  static std::vector<std::pair<std::string, bool>> options_in(const std::string& help) {
    std::vector<std::pair<std::string, bool>> all;
    std::stringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t start = line.find_first_not_of(' ');
      if (start == line.npos || start > 6 || line[start] != '-') continue;
      std::stringstream words(line);
      std::string name, value;
      words >> name >> value;
      const std::size_t comma = name.find(',');
      if (comma != name.npos) name = name.substr(comma + 1);
      if (name.starts_with("--") && name != "--help" && name != "--help-all") {
        all.emplace_back(name, !value.empty() && line.find(name + " ") != line.npos &&
                                   (std::isupper(static_cast<unsigned char>(value[0])) != 0 ||
                                    value.find('|') != value.npos));
      }
    }
    return all;
  }
};

Scene& scene() {
  static Scene made;
  return made;
}

std::string any_word(Rng& rng) {
  static const std::vector<std::string> words{"",
                                              "-",
                                              "--",
                                              "-1",
                                              "0",
                                              "1",
                                              "2",
                                              "1e-3",
                                              "0.01",
                                              "1e12",
                                              "1e-300",
                                              "1e999",
                                              "nan",
                                              "inf",
                                              "-inf",
                                              "18446744073709551616",
                                              "0x10",
                                              "1,2",
                                              "aba",
                                              "c-aba",
                                              "rnea",
                                              "crba",
                                              "dense",
                                              "kkt",
                                              "rk4",
                                              "map",
                                              "forward-dynamics",
                                              "inverse-dynamics",
                                              "mass-matrix",
                                              "all",
                                              "fixed",
                                              "floating",
                                              "honour",
                                              "ignore",
                                              "elbow",
                                              "tool0",
                                              "plane",
                                              "dot",
                                              "json",
                                              "svg",
                                              "tree",
                                              "clusters",
                                              "no such thing",
                                              "relative_tolerance=1e-6",
                                              "relative_tolerance=nan",
                                              "x=y",
                                              "algorithms",
                                              "joints",
                                              "out.csv",
                                              "out.yaml",
                                              "out.urdf",
                                              "out.txt",
                                              "\xff\xfe",
                                              "%s%n",
                                              "../../etc/passwd",
                                              "'; true",
                                              std::string(2000, 'y')};
  return words[rng.below(static_cast<int>(words.size()))];
}

std::string value(Rng& rng) {
  const Scene& s = scene();
  if (rng.chance(0.15)) return s.files[rng.below(static_cast<int>(s.files.size()))];
  if (rng.chance(0.05)) return s.robots[rng.below(static_cast<int>(s.robots.size()))];
  return any_word(rng);
}

std::vector<std::string> words_of(Rng& rng) {
  const Scene& s = scene();
  const Command& command = s.commands[rng.below(static_cast<int>(s.commands.size()))];
  std::vector<std::string> words{rng.chance(0.02) ? any_word(rng) : command.name};
  if (rng.chance(0.93)) {
    words.push_back(rng.chance(0.9) ? s.robots[rng.below(static_cast<int>(s.robots.size()))]
                                    : value(rng));
  }
  // What long work takes at the least.
  const auto give = [&](const char* name, const std::vector<std::string>& more) {
    if (command.name != name || rng.chance(0.1)) return;
    words.insert(words.end(), more.begin(), more.end());
  };
  give("simulate", {"--duration", "0.02", "--dt", "0.002"});
  give("eval", {"--algorithm", "c-aba"});
  give("count", {"--algorithm", "c-aba"});
  give("bench", {"--algorithm", "c-aba", "--time", "0.01"});
  give("convert", {"--output", rng.chance(0.5) ? "out.yaml" : "out.urdf"});
  give("compare", {"--samples", "1"});
  give("sense", {"--sensors", "sensors.json"});
  for (int k = rng.below(4); k-- > 0 && !command.options.empty();) {
    const auto& [name, takes] =
        command.options[rng.below(static_cast<int>(command.options.size()))];
    words.push_back(name);
    if (takes != rng.chance(0.03)) words.push_back(value(rng));
  }
  if (rng.chance(0.3)) words.push_back("--json");
  if (rng.chance(0.05)) words.push_back(any_word(rng));
  if (rng.chance(0.03)) words.emplace_back("--overwrite");
  return words;
}

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " '" + word.substr(0, 60) + "'";
  return line;
}

Outcome judge(const std::vector<std::string>& words, const Finished& done) {
  const std::string line = line_of(words) + "\n    " + done.err.substr(0, 400);
  if (done.interrupted) {
    if (done.code == 128 + SIGKILL) return defect(words[0] + " cannot be interrupted", line);
    Outcome out;
    ++out.counts["interrupted"];
    return out;
  }
  if (done.code == 3) return defect(words[0] + ": an internal error", line);
  if (done.code > 3 || done.code < 0) {
    return defect(words[0] + ": code " + std::to_string(done.code), line);
  }
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  if (json && !done.out.empty() && !nlohmann::json::accept(done.out)) {
    return defect(words[0] + ": --json prints what is no JSON", line);
  }
  if (done.code != 0 && done.err.empty() && done.out.empty()) {
    return defect(words[0] + ": fails without a word", line);
  }
  Outcome out;
  if (done.code != 0) out.verdict = Outcome::Verdict::refused;
  return out;
}

Outcome run(std::uint64_t number) {
  Rng rng(number);
  Scene& s = scene();
  const std::vector<std::string> words = words_of(rng);
  std::map<std::string, std::string> before;
  for (const std::string& name : s.robots) before[name] = contents(s.folder / name);
  for (const std::string& name : s.files) {
    if (fs::is_regular_file(s.folder / name)) before[name] = contents(s.folder / name);
  }
  const Finished done = execute(words, s.folder);
  Outcome out = judge(words, done);
  ++out.counts["runs of " + (words[0].size() < 12 ? words[0] : "another word")];
  // An option may name one of these files as its output, where it is no input.
  std::string lost;
  for (const auto& [name, text] : before) {
    const bool named = std::find(words.begin() + std::min<std::size_t>(2, words.size()),
                                 words.end(), name) != words.end();
    if (!named && contents(s.folder / name) != text) lost = name;
  }
  const std::string robot = words.size() > 1 ? words[1] : "";
  const bool told = std::find(words.begin(), words.end(), "--overwrite") != words.end();
  if (before.contains(robot) && !told && contents(s.folder / robot) != before[robot]) lost = robot;
  s.fill();
  if (!lost.empty())
    return defect(words[0] + " changes a file that it reads or does not name",
                  lost + ":" + line_of(words));
  return out;
}

}  // namespace

Kind commands() {
  if (scene().commands.empty()) {  // made in this process, which removes it
    throw std::runtime_error(std::string(program) +
                             ": command line does not run, expected it to be built (espalier_cli)");
  }
  return {"commands",
          "random words for the command line: an answer, or an error that says what is wrong", 0.2,
          60.0, [](std::uint64_t number) { return run(number); }};
}

}  // namespace espalier::torture
