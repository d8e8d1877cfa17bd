#include "formats/urdf/closed_loops.hpp"
#include "formats/urdf/urdf.hpp"
#include "tests/fuzz/round_trip.hpp"

// Gepetto's YAML beside a URDF of three links.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  Description robot = UrdfFormat().read(
      "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>"
      "<joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint>"
      "<joint name='k' type='revolute'><parent link='b'/><child link='c'/></joint></robot>",
      "fuzz/fuzz");
  try {
    formats::read_closed_loops({reinterpret_cast<const char*>(data), size}, "fuzz", robot);
    UrdfFormat().write(robot);
  } catch (const Error&) {
  }
  return 0;
}
