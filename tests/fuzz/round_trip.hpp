#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/format.hpp"

namespace espalier::fuzz {

/// Reads any bytes. What can be read can be written, except where the format says that it cannot,
/// and writing what was read back gives the same text.
template <class F>
void round_trip(const std::uint8_t* data, std::size_t size) {
  const F format;
  Description robot;
  try {
    robot = format.read({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const Error&) {
    return;
  }
  std::string first;
  try {
    first = format.write(robot);
  } catch (const Unsupported&) {
    return;
  }
  const std::string second = format.write(format.read(first, "written"));
  if (first != second) {
    std::fprintf(stderr, "written:\n%s\nread and written again:\n%s\n", first.c_str(),
                 second.c_str());
    std::abort();
  }
}

/// Neither reading nor writing crashes, leaks or hangs.
template <class F>
void read_then_write(const std::uint8_t* data, std::size_t size) {
  const F format;
  try {
    format.write(format.read({reinterpret_cast<const char*>(data), size}, "fuzz/fuzz"));
  } catch (const Error&) {
  }
}

/// The same for formats that change names or turn frames on their way: what was written can be
/// read.
template <class F>
void read_and_write(const std::uint8_t* data, std::size_t size) {
  const F format;
  std::string written;
  try {
    const Description robot = format.read({reinterpret_cast<const char*>(data), size}, "fuzz/fuzz");
    written = format.write(robot);
  } catch (const Error&) {
    return;
  }
  try {
    format.read(written, "written");
  } catch (const Error& error) {
    std::fprintf(stderr, "written:\n%s\nis refused: %s\n", written.c_str(), error.what());
    std::abort();
  }
}

}  // namespace espalier::fuzz
