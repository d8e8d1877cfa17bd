// The time from a slider's message to the pose that comes back: closing the loops and writing the
// answer, and the same through the server's websocket.
//
//   espalier_bench_viewer [ROBOT] [--count N]
//
// Exits with 1 where the median through the websocket is above 2 ms.

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>

#include "benchmarks/machine.hpp"
#include "benchmarks/statistics.hpp"
#include "viewer/server/server.hpp"

namespace espalier::bench {

namespace {

namespace beast = boost::beast;
using tcp = boost::asio::ip::tcp;
using viewer::Client;
using viewer::Json;
using viewer::Server;
using viewer::Stage;

constexpr double wanted = 2.0;  // [ms]

/// The k-th message of a hand that moves all sliders in turn, to and fro.
std::string message(const Json& scene, int k) {
  const Json& sliders = scene["sliders"];
  const int which = k % static_cast<int>(sliders.size());
  const double reach = std::min(0.4, sliders[which]["upper"].get<double>());
  return Json{{"do", "set"}, {"slider", which}, {"value", reach * std::sin(0.02 * k)}, {"id", k}}
      .dump();
}

/// Times answers; each has to be a pose that is closed. @return milliseconds
std::vector<double> times(const Json& scene, int count,
                          const std::function<std::string(const std::string&)>& ask) {
  std::vector<double> out;
  for (int k = 0; k < count; ++k) {
    const std::string question = message(scene, k);
    const auto begin = std::chrono::steady_clock::now();
    const std::string answer = ask(question);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    out.push_back(spent.count());
    const Json pose = Json::parse(answer).at("pose");
    if (!(pose["residual"].get<double>() < 1e-10)) {
      std::fprintf(stderr, "bench viewer: residual is %g, expected below 1e-10\n",
                   pose["residual"].get<double>());
      std::exit(1);
    }
  }
  return out;
}

double tell(const char* what, const std::vector<double>& t) {
  const double median = quantile(t, 0.5);
  std::printf("%-44s median %.3f ms, 99 %% %.3f ms, longest %.3f ms\n", what, median,
              quantile(t, 0.99), quantile(t, 1.0));
  return median;
}

double through_the_server(const Stage& stage, int count) {
  Server server(stage, {.page = "page"});
  std::thread thread([&] { server.run(false); });
  boost::asio::io_context context;
  beast::websocket::stream<tcp::socket> socket(context);
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  socket.next_layer().connect({boost::asio::ip::address_v4::loopback(), server.port()});
  socket.next_layer().set_option(tcp::no_delay(true));
  socket.handshake(host, "/" + server.token() + "/socket");
  const auto ask = [&](const std::string& question) {
    socket.write(boost::asio::buffer(question));
    beast::flat_buffer buffer;
    socket.read(buffer);
    return beast::buffers_to_string(buffer.data());
  };
  ask(R"({"do": "neutral"})");
  const double median =
      tell("through the server and its websocket", times(stage.scene, count, ask));
  beast::error_code ignored;
  socket.close(beast::websocket::close_code::normal, ignored);
  server.stop();
  thread.join();
  return median;
}

int run(const std::string& robot, int count) {
  const Host host;
  const Stage stage(host, robot, {});
  std::printf("%s on %s, %d slider messages\n", stage.model->name().c_str(), processor().c_str(),
              count);
  Client client(stage);
  const auto ask = [&](const std::string& question) { return client.receive(question); };
  tell("closing and writing a pose", times(stage.scene, count, ask));
  client.receive(R"({"do": "show", "reactions": true})");
  tell("the same with joint reactions", times(stage.scene, count, ask));
  const double median = through_the_server(stage, count);
  return median < wanted ? 0 : 1;
}

}  // namespace

}  // namespace espalier::bench

int main(int argc, char** argv) {
  CLI::App app("Time from a slider's message to its pose.");
  std::string robot = ESPALIER_SOURCE_DIR "/robots/tello.yaml";
  int count = 3000;
  app.add_option("ROBOT", robot);
  app.add_option("--count", count)->check(CLI::Range(10, 1000000));
  CLI11_PARSE(app, argc, argv);
  return espalier::bench::run(robot, count);
}
