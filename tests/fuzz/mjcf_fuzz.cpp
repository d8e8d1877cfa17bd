#include "formats/mjcf/mjcf.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::fuzz::read_and_write<espalier::MjcfFormat>(data, size);
  return 0;
}
