#include "formats/yaml/yaml.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::fuzz::round_trip<espalier::YamlFormat>(data, size);
  return 0;
}
