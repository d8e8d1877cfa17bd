#pragma once

#include <string>
#include <utility>

#include "espalier/kernel/export.hpp"

/// Code of plugins is run by everybody and may throw anything. Outside of an algorithm's evaluate()
/// it is called by guarded(), so that what it throws names whose it is.

namespace espalier::detail {

/// To be called where something was caught: throws it on where it is an Error, which names what it
/// is about, or the end of a thread; of all else makes a PluginError.
/// @param who    whose code it is: "law 'knee' of type 'screw_knee'"
/// @param doing  what it was asked for: "its phi"
[[noreturn]] ESPALIER_API void blame(const std::string& who, const std::string& doing);

/// What f() returns. Costs nothing where nothing is thrown.
/// @param who  who() is the first argument of blame(), asked for only then
/// @throws Error of f itself; PluginError naming who, what it did and what it threw
template <class Who, class F>
decltype(auto) guarded(Who&& who, const char* doing, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    blame(who(), doing);
  }
}

}  // namespace espalier::detail
