#pragma once

#include <string>

/// Serial chains with transmissions, of any length, as Espalier YAML composed of the modules in
/// robots/parts/chain_modules.yaml. Read one by
///   host.registry().format_for("chain.yaml").read(text, "chain.yaml", host.registry(), {{robots}})

namespace espalier::test {

/// A chain of `modules` definitions `type`, each hanging on the tip of the one before.
/// @param robots  the repository's folder robots/
inline std::string transmission_chain(const std::string& type, int modules,
                                      const std::string& robots = ESPALIER_SOURCE_DIR "/robots") {
  std::string text = "espalier: 1\nname: " + type + "_chain\ninclude: [\"" + robots +
                     "/parts/chain_modules.yaml\"]\nlinks: {ground: {}}\nsubsystems:\n";
  std::string base = "ground";
  for (int i = 1; i <= modules; ++i) {
    const std::string name = "module" + std::to_string(i);
    text += "  " + name + ": {type: " + type + ", connect: {base: " + base + "}}\n";
    base = name + ".tip";
  }
  return text;
}

/// Every link has a motor of its own on the link before it.
inline std::string geared_chain(int links) { return transmission_chain("geared_module", links); }
/// Pairs of links whose motors sit on the link before the pair; an even number of links.
inline std::string belt_chain(int links) { return transmission_chain("belt_module", links / 2); }

}  // namespace espalier::test
