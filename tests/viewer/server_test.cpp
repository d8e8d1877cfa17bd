#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viewer/server/server.hpp"

namespace espalier::test::server_test {
namespace {

namespace fs = std::filesystem;
using viewer::Json;
using viewer::Server;
using viewer::Stage;

/// A folder with a robot whose meshes lie inside, outside, and behind links that lead outside.
class Folder : public TemporaryFolder {
 public:
  Folder() {
    write("package/urdf/meshes/inside.stl", "inside");
    write("package/meshes/beside.obj", "beside");
    write("package/urdf/notes.txt", "secret");
    write("outside.stl", "secret");
    fs::create_symlink(*this / "outside.stl", *this / "package/urdf/meshes/link.stl");
    fs::create_symlink(*this / "package/urdf/notes.txt", *this / "package/urdf/meshes/notes.stl");
    write("package/urdf/robot.yaml", R"(espalier: 1
name: meshes
links:
  base: {visual: [{mesh: meshes/inside.stl}, {mesh: ../../outside.stl}, {mesh: meshes/link.stl}, {mesh: meshes/missing.stl}, {mesh: notes.txt}, {mesh: package://package/meshes/beside.obj}, {mesh: /etc/passwd}, {mesh: meshes/notes.stl}]}
  arm: {mass: 1, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
joints: {hinge: {type: revolute, parent: base, child: arm, axis: [0, 0, 1]}}
)");
  }
  std::string robot() const { return *this / "package/urdf/robot.yaml"; }
};

/// A server in a thread of its own.
class Running {
 public:
  explicit Running(const Stage& stage, viewer::ServerOptions options = {})
      : server_(stage, with_page(std::move(options))), thread_([this] { server_.run(false); }) {}
  ~Running() {
    server_.stop();
    thread_.join();
  }
  const Server& operator*() const { return server_; }
  const Server* operator->() const { return &server_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(server_.port()); }

 private:
  static viewer::ServerOptions with_page(viewer::ServerOptions options) {
    options.page = "the page";
    return options;
  }
  Server server_;
  std::thread thread_;
};

/// Bytes to the server and back.
class Wire {
 public:
  explicit Wire(unsigned short port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~Wire() { ::close(socket_); }
  Wire(const Wire&) = delete;

  bool send(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// Reads until `count` bytes are there; what came before the end otherwise.
  std::string receive(std::size_t count) {
    while (buffer_.size() < count && more()) {
    }
    const std::string out = buffer_.substr(0, count);
    buffer_.erase(0, out.size());
    return out;
  }
  std::string until(const std::string& mark) {
    std::size_t at = std::string::npos;
    while ((at = buffer_.find(mark)) == std::string::npos && more()) {
    }
    return receive(at == std::string::npos ? buffer_.size() : at + mark.size());
  }
  std::string rest() {
    while (more()) {
    }
    return receive(buffer_.size());
  }

 private:
  bool more() {
    char bytes[65536];
    const ssize_t n = open_ ? ::recv(socket_, bytes, sizeof bytes, 0) : 0;
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }
  int socket_;
  bool open_ = false;
  std::string buffer_;
};

struct Reply {
  int status = 0;
  std::string head, body;
};
Reply request(const Running& server, const std::string& target, const std::string& host,
              const std::string& more = "", const std::string& method = "GET") {
  Wire wire(server->port());
  wire.send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" +
            more + "\r\n");
  Reply out;
  out.head = wire.until("\r\n\r\n");
  out.body = wire.rest();
  if (out.head.size() > 12) out.status = std::atoi(out.head.c_str() + 9);
  return out;
}
std::string base(const Running& server) { return "/" + server->token() + "/"; }

/// A websocket by hand: frames whose mask is zero.
class Page {
 public:
  explicit Page(const Running& server, const std::string& more = "") : wire_(server->port()) {
    wire_.send("GET " + base(server) + "socket HTTP/1.1\r\nHost: " + server.host() +
               "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
               more + "\r\n");
    head_ = wire_.until("\r\n\r\n");
  }
  bool accepted() const { return head_.starts_with("HTTP/1.1 101"); }
  bool send(const std::string& text, char opcode = '\x81') {
    std::string frame(1, opcode);
    if (text.size() < 126) {
      frame += static_cast<char>(0x80 | text.size());
    } else if (text.size() < 65536) {
      frame += '\xfe';
      frame += static_cast<char>(text.size() >> 8), frame += static_cast<char>(text.size());
    } else {
      frame += '\xff';
      for (int k = 7; k >= 0; --k) frame += static_cast<char>(text.size() >> (8 * k));
    }
    return wire_.send(frame + std::string(4, '\0') + text);
  }
  /// The next text, of one frame or several; empty at the end.
  std::string receive() {
    std::string text;
    for (bool last = false; !last;) {
      const std::string head = wire_.receive(2);
      const int opcode = text.empty() ? 1 : 0;  // then it goes on
      if (head.size() < 2 || (head[0] & 15) != opcode) return "";
      last = (head[0] & 0x80) != 0;
      std::size_t size = static_cast<unsigned char>(head[1]) & 127;
      for (int bytes = size == 126 ? 2 : size == 127 ? 8 : 0; bytes > 0; bytes = 0) {
        size = 0;
        for (const char c : wire_.receive(bytes)) size = size << 8 | static_cast<unsigned char>(c);
      }
      text += wire_.receive(size);
    }
    return text;
  }
  Json ask(const Json& message) {
    send(message.dump());
    const std::string text = receive();
    return text.empty() ? Json() : Json::parse(text);
  }
  Wire& wire() { return wire_; }

 private:
  Wire wire_;
  std::string head_;
};

class ViewerServerTest : public testing::Test {
 protected:
  Folder folder;
  Stage stage{host(), folder.robot(), {}};
  Running server{stage};
};

TEST_F(ViewerServerTest, AddressIsLoopbackWithASecretOf128Bits) {
  EXPECT_EQ(server->url().rfind("http://127.0.0.1:", 0), 0u);
  EXPECT_EQ(server->token().size(), 32u);
  EXPECT_NE(server->token(), Running(stage)->token());
  // Nothing listens on other addresses of the machine: 127.0.0.2 is one of Linux.
  const int other = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET, to.sin_port = htons(server->port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  EXPECT_NE(::connect(other, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  ::close(other);
}

TEST_F(ViewerServerTest, PageNeedsTheToken) {
  const Reply page = request(server, base(server), server.host());
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "the page");
  EXPECT_NE(page.head.find("default-src 'none'"), std::string::npos);
  std::string wrong = server->token();
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& target :
       {std::string("/"), "/" + wrong + "/", "/" + server->token(), "/" + wrong + "/socket",
        std::string("/socket"), "/" + server->token().substr(1) + "/", std::string("*"),
        "http://127.0.0.1/" + server->token() + "/"}) {
    const Reply reply = request(server, target, server.host());
    EXPECT_EQ(reply.status, 403) << target;
    EXPECT_EQ(reply.body.find("the page"), std::string::npos);
  }
}

TEST_F(ViewerServerTest, OtherHostsAndOriginsAreRefused) {
  const std::string port = ":" + std::to_string(server->port());
  EXPECT_EQ(request(server, base(server), "localhost" + port).status, 200);
  for (const std::string& host :
       std::vector<std::string>{"evil.example", "evil.example" + port, "127.0.0.1", "127.0.0.1:1",
                                "127.0.0.1.evil.example" + port, ""}) {
    EXPECT_EQ(request(server, base(server), host).status, 403) << host;
  }
  EXPECT_EQ(request(server, base(server), server.host(), "Origin: http://" + server.host() + "\r\n")
                .status,
            200);
  for (const char* origin :
       {"http://evil.example", "null", "https://127.0.0.1", "http://localhost"}) {
    EXPECT_EQ(
        request(server, base(server), server.host(), std::string("Origin: ") + origin + "\r\n")
            .status,
        403)
        << origin;
    EXPECT_FALSE(Page(server, std::string("Origin: ") + origin + "\r\n").accepted()) << origin;
  }
  EXPECT_TRUE(Page(server, "Origin: http://" + server.host() + "\r\n").accepted());
}

TEST_F(ViewerServerTest, OnlyMeshesInsideTheRobotsFoldersAreServed) {
  const auto mesh = [&](int k) {
    return request(server, base(server) + "mesh/" + std::to_string(k), server.host());
  };
  EXPECT_EQ(mesh(0).body, "inside");
  EXPECT_EQ(mesh(5).body, "beside") << "package://";
  for (const int k : {1, 2, 3, 4, 6, 7, 8, 999}) {
    EXPECT_EQ(mesh(k).status, 404) << k;
    EXPECT_EQ(mesh(k).body.find("secret"), std::string::npos) << k;
  }
  EXPECT_NE(stage.meshes.files()[1].problem.find("out of the robot's folders"), std::string::npos);
  EXPECT_NE(stage.meshes.files()[2].problem.find("out of the robot's folders"), std::string::npos);
  EXPECT_NE(stage.meshes.files()[3].problem.find("missing"), std::string::npos);
  EXPECT_NE(stage.meshes.files()[4].problem.find("expected stl, obj or dae"), std::string::npos);
  for (const char* path : {"mesh/../../outside.stl", "mesh/..%2f..%2foutside.stl",
                           "../../../etc/passwd", "mesh/", "mesh/-1", "mesh/0/..", "mesh/0x0",
                           "mesh/00000000000000000000000000000001", "mesh/99999999999999999999",
                           "notes.txt", "mesh/meshes/inside.stl", "?x", "mesh/0?x", "%2e%2e/"}) {
    const Reply reply = request(server, base(server) + path, server.host());
    EXPECT_EQ(reply.body.find("secret"), std::string::npos) << path;
    EXPECT_TRUE(reply.status == 404 || reply.status == 400) << path << ": " << reply.status;
  }
}

TEST_F(ViewerServerTest, FilePutBehindALinkLaterIsNotServed) {
  const fs::path inside = folder / "package/urdf/meshes/inside.stl";
  fs::remove(inside);
  fs::create_symlink(folder / "outside.stl", inside);
  EXPECT_EQ(request(server, base(server) + "mesh/0", server.host()).status, 404);
}

TEST_F(ViewerServerTest, MethodsThatWriteAreRefused) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE"}) {
    EXPECT_EQ(request(server, base(server), server.host(), "", method).status, 405) << method;
  }
  const Reply head = request(server, base(server), server.host(), "", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST_F(ViewerServerTest, TwoPagesTalkAtOnce) {
  Page one(server), two(server);
  ASSERT_TRUE(one.accepted() && two.accepted());
  EXPECT_EQ(one.ask({{"do", "hello"}, {"id", 1}}).at("scene").at("name"), "meshes");
  EXPECT_EQ(one.ask({{"do", "set"}, {"slider", 0}, {"value", 0.5}})["pose"]["values"][0], 0.5);
  EXPECT_EQ(two.ask({{"do", "hello"}})["pose"]["values"][0], 0.0);
  EXPECT_EQ(one.ask({{"do", "pause"}})["pose"]["values"][0], 0.5);
}

TEST_F(ViewerServerTest, SimulationSendsFramesToAPageThatDrawsThem) {
  Page page(server);
  EXPECT_TRUE(page.ask({{"do", "play"}, {"id", 1}})["playing"].get<bool>());
  double t = -1.0;
  for (int k = 0; k < 5; ++k) {
    const Json frame = Json::parse(page.receive());
    EXPECT_FALSE(frame.contains("id"));
    EXPECT_GT(frame["sample"]["t"].get<double>(), t);
    t = frame["sample"]["t"].get<double>();
    page.send(Json{{"do", "seen"}, {"frame", frame["frame"]}}.dump());
  }
}

TEST_F(ViewerServerTest, MessagesOverTheLimitEndTheirConnectionAlone) {
  Page other(server), large(server);
  large.send(R"({"do": ")" + std::string(100 << 10, 'x') + "\"}");
  EXPECT_EQ(large.receive(), "");
  EXPECT_EQ(other.ask({{"do", "hello"}})["pose"]["verdict"], "closed");
  // Heads and bodies of HTTP are limited, too.
  EXPECT_NE(
      request(server, base(server), server.host(), "X: " + std::string(20 << 10, 'x') + "\r\n")
          .status,
      200);
  EXPECT_NE(
      request(server, base(server), server.host(), "Content-Length: 5000000000\r\n", "POST").status,
      200);
  EXPECT_EQ(request(server, base(server), server.host()).status, 200);
}

TEST_F(ViewerServerTest, RubbishOnTheWireLeavesTheServerServing) {
  std::mt19937 random(2);
  const auto noise = [&](std::size_t size) {
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(random());
    return out;
  };
  for (int k = 0; k < 60; ++k) {
    {
      Wire wire(server->port());
      wire.send(noise(1 + random() % 3000));
    }
    {
      Wire wire(server->port());
      wire.send("GET " + base(server) + noise(20) + " HTTP/1.1\r\n" + noise(200) + "\r\n\r\n");
    }
    Page page(server);
    ASSERT_TRUE(page.accepted()) << k;
    switch (k % 4) {
      case 0:
        page.wire().send(noise(1 + random() % 500));
        break;  // frames that are none
      case 1:
        page.send(noise(1 + random() % 500));
        break;  // text that is no UTF-8
      case 2:
        page.send(noise(1 + random() % 500), '\x82');
        break;  // binary
      default:
        page.wire().send(std::string("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10));
        break;
    }
  }
  EXPECT_EQ(request(server, base(server), server.host()).status, 200);
  EXPECT_EQ(Page(server).ask({{"do", "hello"}})["scene"]["name"], "meshes");
}

TEST_F(ViewerServerTest, ClientThatNeverListensIsDropped) {
  Page deaf(server);
  const std::string message = R"({"do": "hello"})";
  bool open = true;
  // The server drops it where its answers pile up, be it late on a busy machine.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (open && std::chrono::steady_clock::now() < end) open = deaf.send(message);
  EXPECT_FALSE(open);
  EXPECT_EQ(request(server, base(server), server.host()).status, 200);
}

TEST_F(ViewerServerTest, ConnectionsAboveTheMostAreTurnedAway) {
  Running small(stage, {.most_connections = 2});
  {
    Page one(small), two(small);
    ASSERT_TRUE(one.accepted() && two.accepted());
    EXPECT_FALSE(Page(small).accepted());
  }
  // The ends of both have to arrive first.
  bool again = false;
  for (int k = 0; k < 100 && !again; ++k) {
    again = Page(small).accepted();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(again);
}

TEST_F(ViewerServerTest, PortThatIsTakenIsNamed) {
  try {
    Server second(stage, {.port = server->port()});
    FAIL() << "no error";
  } catch (const InvalidModel& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(server->port())), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace espalier::test::server_test
