#include "viewer/server/server.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <deque>
#include <optional>
#include <random>

namespace espalier::viewer {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

namespace {

constexpr auto patience = std::chrono::seconds(10);  // with a client that does not go on
constexpr auto frame = std::chrono::milliseconds(33);
// Poses that wait for a slow client; more of a running simulation are left out.
constexpr std::size_t most_waiting = 4;
// Answers that wait; a client that asks without listening is dropped.
constexpr std::size_t most_unread = 256;

std::string random_token() {
  std::random_device device;  // the system's, fit for secrets
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", device());
  return out;
}

/// Compares in a time that does not tell how much is right.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

std::string_view view(beast::string_view s) { return {s.data(), s.size()}; }

}  // namespace

struct Server::State {
  State(const Stage& s, ServerOptions o) : stage(s), options(std::move(o)), acceptor(context) {
    if (options.token.empty()) options.token = random_token();
    const tcp::endpoint here(asio::ip::address_v4::loopback(), options.port);
    beast::error_code error;
    acceptor.open(here.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(here, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw InvalidModel(
          fmt::format("viewer: port {} is not to be had ({}), expected a free one "
                      "(--port 0 takes any)",
                      options.port, error.message()));
    }
    port = acceptor.local_endpoint().port();
  }

  void accept();

  /// Host and Origin are this server's: a page of another site, or a name of another site that was
  /// turned to 127.0.0.1, gives others.
  bool from_here(const Request& request) const {
    const std::string ours[] = {fmt::format("127.0.0.1:{}", port),
                                fmt::format("localhost:{}", port)};
    const std::string_view host = view(request[http::field::host]);
    if (std::find(std::begin(ours), std::end(ours), host) == std::end(ours)) return false;
    const auto origin = request.find(http::field::origin);
    return origin == request.end() || view(origin->value()) == "http://" + std::string(host);
  }

  /// The path behind the token; nothing if the token is wrong.
  std::optional<std::string_view> behind_token(std::string_view target) const {
    const std::size_t n = options.token.size();
    if (target.size() < n + 2 || target[0] != '/' || target[n + 1] != '/') return std::nullopt;
    if (!same_secret(target.substr(1, n), options.token)) return std::nullopt;
    return target.substr(n + 2);
  }

  Response respond(const Request& request) const {
    const auto reply = [&](http::status status, const char* type, std::string body) {
      Response response(status, request.version());
      response.set(http::field::content_type, type);
      response.set(http::field::cache_control, "no-store");
      response.set("X-Content-Type-Options", "nosniff");
      response.set("Referrer-Policy", "no-referrer");
      response.set("X-Frame-Options", "DENY");
      // All that the page is, is inside it.
      response.set("Content-Security-Policy",
                   "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                   "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; img-src data: blob:; "
                   "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
      response.keep_alive(request.keep_alive());
      const std::size_t length = body.size();
      if (request.method() != http::verb::head) response.body() = std::move(body);
      response.content_length(length);
      return response;
    };
    const auto refuse = [&](http::status status, const char* text) {
      return reply(status, "text/plain; charset=utf-8", text);
    };
    if (!from_here(request)) {
      return refuse(http::status::forbidden,
                    "viewer: host or origin is another, expected this server's\n");
    }
    const auto path = behind_token(view(request.target()));
    if (!path) {
      return refuse(http::status::forbidden,
                    "viewer: token is missing or wrong, expected the address that was printed\n");
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return refuse(http::status::method_not_allowed, "viewer: method is another, expected GET\n");
    }
    if (path->empty()) return reply(http::status::ok, "text/html; charset=utf-8", options.page);
    constexpr std::string_view mesh = "mesh/", beside = "mesh/beside/";
    const bool of_other = stage.other != nullptr && path->starts_with(beside);
    if (path->starts_with(mesh)) {
      const MeshFiles& meshes = of_other ? stage.other->meshes : stage.meshes;
      const std::string_view digits = path->substr(of_other ? beside.size() : mesh.size());
      std::size_t number = 0;
      const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (bad == std::errc() && end == digits.data() + digits.size()) {
        if (auto bytes = meshes.read(number)) {
          return reply(http::status::ok, "application/octet-stream", std::move(*bytes));
        }
      }
    }
    return refuse(http::status::not_found, "viewer: there is nothing of this name\n");
  }

  const Stage& stage;
  ServerOptions options;
  int connections = 0;  // outlives those in the context
  asio::io_context context{1};
  tcp::acceptor acceptor;
  unsigned short port = 0;
};

namespace {

/// Counts a connection while it lives.
struct Counted {
  explicit Counted(int& c) : count(c) { ++count; }
  ~Counted() { --count; }
  Counted(const Counted&) = delete;
  int& count;
};

/// The conversation with one page.
class Socket : public std::enable_shared_from_this<Socket> {
 public:
  Socket(tcp::socket&& socket, const Stage& stage, std::size_t largest,
         std::shared_ptr<Counted> counted)
      : stream_(std::move(socket)),
        timer_(stream_.get_executor()),
        client_(stage),
        counted_(std::move(counted)) {
    stream_.read_message_max(largest);
    stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    stream_.text(true);
  }

  void accept(const Request& request) {
    stream_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
      if (error) return;
      self->read();
      self->wait();
    });
  }

 private:
  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (error) return self->end();
      const std::string text = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      self->send(self->client_.receive(text));
      if (self->waiting_.size() > most_unread) return self->end();
      self->read();
    });
  }

  /// Moves a running simulation, thirty times a second.
  void wait() {
    timer_.expires_after(frame);
    timer_.async_wait([self = shared_from_this()](beast::error_code error) {
      if (error || self->ended_) return;
      const auto now = std::chrono::steady_clock::now();
      const std::chrono::duration<double> passed = now - self->last_;
      self->last_ = now;
      if (self->client_.playing() && self->waiting_.size() < most_waiting) {
        if (auto text = self->client_.tick(passed.count())) self->send(std::move(*text));
      }
      self->wait();
    });
  }

  void send(std::string text) {
    if (text.empty()) return;
    waiting_.push_back(std::move(text));
    if (waiting_.size() == 1) write();
  }
  void write() {
    stream_.async_write(asio::buffer(waiting_.front()),
                        [self = shared_from_this()](beast::error_code error, std::size_t) {
                          if (error) return self->end();
                          self->waiting_.pop_front();
                          if (!self->waiting_.empty()) self->write();
                        });
  }
  void end() {
    if (ended_) return;
    ended_ = true;
    timer_.cancel();
    beast::error_code error;
    beast::get_lowest_layer(stream_).socket().close(error);
  }

  websocket::stream<beast::tcp_stream> stream_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  Client client_;
  std::shared_ptr<Counted> counted_;
  std::deque<std::string> waiting_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool ended_ = false;
};

}  // namespace

namespace {

/// One connection that speaks HTTP, until it becomes a websocket.
template <class State>
class Connection : public std::enable_shared_from_this<Connection<State>> {
 public:
  Connection(tcp::socket&& socket, State& state)
      : state_(state),
        stream_(std::move(socket)),
        counted_(std::make_shared<Counted>(state.connections)) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(8 << 10);
    parser_->body_limit(1 << 10);
    stream_.expires_after(patience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                       if (error) return;
                       self->handle(self->parser_->release());
                     });
  }

 private:
  void handle(Request request) {
    if (websocket::is_upgrade(request) && state_.from_here(request) &&
        state_.behind_token(view(request.target())) == "socket") {
      stream_.expires_never();
      std::make_shared<Socket>(stream_.release_socket(), state_.stage,
                               state_.options.largest_message, counted_)
          ->accept(request);
      return;
    }
    response_ = state_.respond(request);
    http::async_write(stream_, response_,
                      [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                        if (error || !self->response_.keep_alive()) {
                          beast::error_code ignored;
                          self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                          return;
                        }
                        self->read();
                      });
  }

  State& state_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{16 << 10};
  std::optional<http::request_parser<http::string_body>> parser_;
  Response response_;
  std::shared_ptr<Counted> counted_;
};

}  // namespace

void Server::State::accept() {
  acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (!error && connections < options.most_connections) {
      std::make_shared<Connection<State>>(std::move(socket), *this)->read();
    }
    accept();
  });
}

Server::Server(const Stage& stage, ServerOptions options)
    : state_(std::make_unique<State>(stage, std::move(options))) {
  const Client first(stage);  // what is missing is told now, not to a page
}
Server::~Server() = default;

unsigned short Server::port() const { return state_->port; }
const std::string& Server::token() const { return state_->options.token; }
std::string Server::url() const {
  return fmt::format("http://127.0.0.1:{}/{}/", state_->port, state_->options.token);
}

void Server::run(bool stop_on_signals) {
  std::optional<asio::signal_set> signals;
  if (stop_on_signals) {
    signals.emplace(state_->context, SIGINT, SIGTERM);
    signals->async_wait([this](beast::error_code error, int) {
      if (!error) state_->context.stop();
    });
  }
  state_->accept();
  state_->context.run();
}

void Server::stop() { state_->context.stop(); }

}  // namespace espalier::viewer
