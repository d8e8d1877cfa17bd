// The same by another library's module; links nothing of Espalier's.
//
//   espalier_bench_start_peer ROBOT fixed|floating MODULE ROOT JOINTS LINKS [memory]
//
// Names of joints and links are separated by commas.

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/peers/peer.h"
#include "benchmarks/start/memory.hpp"

namespace {

std::vector<std::string> names(const char* text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) all.push_back(name);
  return all;
}

std::vector<const char*> pointers(const std::vector<std::string>& all) {
  std::vector<const char*> out;
  for (const std::string& name : all) out.push_back(name.c_str());
  return out;
}

int fail(const std::string& why) {
  std::fprintf(stderr, "espalier_bench_start_peer: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 7) return 2;
  void* const module = dlopen(words[3], RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return fail(dlerror());
  const auto entry = reinterpret_cast<espalier_peer_entry>(dlsym(module, "espalier_peer_table"));
  if (entry == nullptr) return fail(std::string(words[3]) + " has no table");
  std::ifstream stream(words[1], std::ios::binary);
  const std::string urdf((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  const std::vector<std::string> joints = names(words[5]), links = names(words[6]);
  const std::vector<const char*> joint_names = pointers(joints), link_names = pointers(links);
  const bool floating = std::strcmp(words[2], "floating") == 0;
  const espalier_peer_robot robot{urdf.c_str(),      words[4],
                                  floating ? 1 : 0,  joint_names.data(),
                                  link_names.data(), static_cast<int>(joints.size()),
                                  link_names.data(), 1};
  char message[256] = "";
  void* const handle = entry()->open(&robot, message, sizeof message);
  if (handle == nullptr) return fail(message);
  const std::size_t nv = joints.size() + (floating ? 6 : 0);
  std::vector<double> q(nv + 1), zero(nv), vdot(nv);
  if (floating) q[6] = 1.0;  // the unit quaternion
  entry()->set(handle, 0, q.data(), zero.data(), zero.data(), zero.data());
  entry()->run[espalier_peer_forward](handle, 0);
  entry()->read[espalier_peer_forward](handle, 0, vdot.data());
  std::printf("%.17g\n", vdot.back());
  if (count > 7) std::printf("%ld\n", espalier::bench::most_memory());
  return 0;
}
