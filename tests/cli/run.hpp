#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::test {
/// A key that is missing fails one test, not the whole binary.
inline void assert_json(bool holds, const char* text) {
  if (!holds) throw std::out_of_range(std::string("JSON: ") + text);
}
}  // namespace espalier::test
#define JSON_ASSERT(condition) ::espalier::test::assert_json(condition, #condition)
#include <nlohmann/json.hpp>

#include "tests/support/contents.hpp"
#include "tests/support/temporary_folder.hpp"

/// Runs the command line as a shell does.

namespace espalier::test {

using Json = nlohmann::ordered_json;

struct Answer {
  int code = -1;
  std::string out, err;

  Json json() const { return Json::parse(out); }
};

/// A file that is removed with the object; without text there is none yet. All stand in one folder.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& ending, const std::string& text = "") {
    static const TemporaryFolder folder;
    static int count = 0;
    const std::string name = "file" + std::to_string(count++) + ending;
    path_ = text.empty() ? folder / name : folder.write(name, text);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// `espalier <arguments>`, words separated and quoted as in a shell.
inline Answer run(const std::string& arguments, const std::string& input = "") {
  const TemporaryFile err(".err"), in(".in", input);
  const std::string command = "'" ESPALIER_CLI "' " + arguments + " 2>'" + err.path() + "' <" +
                              (input.empty() ? "/dev/null" : "'" + in.path() + "'");
  Answer answer;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return answer;
  char buffer[4096];
  std::size_t n = 0;
  while ((n = fread(buffer, 1, sizeof buffer, pipe)) > 0) answer.out.append(buffer, n);
  const int status = pclose(pipe);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  answer.err = contents(err.path());
  return answer;
}

/// Path of a robot of these tests, quoted for the shell.
inline std::string data(const std::string& file) { return "'" ESPALIER_CLI_DATA "/" + file + "'"; }

/// Expects that a command is refused: its exit code, and words of its one line on standard error.
inline void expect_refused(const std::string& arguments, int code,
                           const std::vector<std::string>& words, const std::string& input = "") {
  const Answer a = run(arguments, input);
  EXPECT_EQ(a.code, code) << arguments << "\n" << a.out << a.err;
  EXPECT_TRUE(a.err.starts_with("espalier: ")) << a.err;
  EXPECT_EQ(std::count(a.err.begin(), a.err.end(), '\n'), 1) << a.err;
  EXPECT_EQ(a.out, "") << arguments;
  for (const std::string& word : words) {
    EXPECT_NE(a.err.find(word), std::string::npos) << "no '" << word << "' in: " << a.err;
  }
}

}  // namespace espalier::test
