#pragma once

#include <string>

namespace espalier::graph {

/// What an action says when it throws an Exception; other exceptions pass through.
template <class Exception, class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const Exception& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace espalier::graph
