// Messages of a page, one a line, to the viewer's side of the conversation. The first byte of the
// input chooses the robot.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "viewer/server/client.hpp"

namespace {

using espalier::viewer::Client;
using espalier::viewer::Json;
using espalier::viewer::Stage;

/// A robot, and how many lines a conversation with it has. A page says more, but what one line may
/// break, some lines break; where the rods of an ankle do not reach takes a thousand times as long
/// to find as a word that is none.
struct Talk {
  const Stage& stage;
  int lines;
};

Talk talk(char first) {
  static const espalier::Host host({{ESPALIER_PLUGIN_DIR}, false});
  static const std::string robots = ESPALIER_SOURCE_DIR "/robots/";
  static const Stage four_bar(host, ESPALIER_SOURCE_DIR "/tests/viewer/data/four_bar.yaml", {});
  static const Stage tello(host, robots + "tello.yaml",
                           {.root = espalier::CompileOptions::Root::floating});
  static const Stage ankle(host, robots + "rod_ankle.yaml", {});
  if (first == 'r') return {ankle, 2};
  return {first == 't' ? tello : four_bar, 16};
}

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

void expect_json(const std::string& text) {
  if (!Json::accept(text)) fail("answer is no JSON", text);
}

}  // namespace

/// Every message has an answer that is JSON, or none where none is due; whatever was said, the
/// robot's loops stay closed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto [stage, lines] = talk(text.empty() ? ' ' : text.front());
  text.remove_prefix(text.empty() ? 0 : 1);
  Client client(stage);
  for (int line = 0; line < lines && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string answer = client.receive(text.substr(0, end));
    if (!answer.empty()) expect_json(answer);
    if (const auto frame = client.tick(0.004)) expect_json(*frame);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const Json last = Json::parse(client.receive(R"({"do": "pause"})"));
  if (!last.contains("pose")) fail("answer to 'pause' is without a pose", last.dump());
  // A dead point is approached to where closing still works to 1e-9 (mechanism.cpp).
  if (!(last["pose"]["residual"].get<double>() < 1e-8)) fail("loops are open", last.dump());
  return 0;
}
