#pragma once

#include <memory>
#include <string>

#include "viewer/server/client.hpp"

namespace espalier::viewer {

struct ServerOptions {
  unsigned short port = 0;  ///< 0: any that is free
  std::string page{};       ///< the page, HTML
  std::string token{};      ///< empty: a random one
  /// A browser opens a few connections for a page; more than this are turned away.
  int most_connections = 32;
  std::size_t largest_message = 64 << 10;  ///< that a client may send [bytes]
};

/// Serves a page and its websocket on 127.0.0.1. Every path begins with a secret token; requests of
/// another host or origin are refused, so that no other page in the browser gets in.
///
///   GET /<token>/            the page
///   GET /<token>/mesh/<n>    a mesh of the robot, by number; mesh/beside/<n>: of the one beside
///   GET /<token>/socket      websocket: Client's conversation; each connection has its own robot
class Server {
 public:
  /// Listens. @throws InvalidModel if the port cannot be had
  Server(const Stage& stage, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  unsigned short port() const;
  const std::string& token() const;
  std::string url() const;

  /// Serves until stop(), or a signal if asked for.
  void run(bool stop_on_signals);
  /// From any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::viewer
