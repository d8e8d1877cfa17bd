#include "formats/sdf/sdf.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::fuzz::read_then_write<espalier::SdfFormat>(data, size);
  return 0;
}
