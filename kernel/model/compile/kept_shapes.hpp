#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// What a Model keeps of the shapes of its links: their fields as bytes, a fifth of the memory of
/// the structures. Dynamics reads none of them, so that these are made when somebody asks.
class KeptShapes {
 public:
  /// Adds a shape behind the others.
  void add(PlacedShape::Role role, int link, const ShapeDescription& shape);
  /// Gives memory back when nothing more is added.
  void finish();

  /// All shapes on their links; on any thread, made once.
  const std::vector<PlacedShape>& placed(std::span<const Link> links) const;

 private:
  class Writer;
  class Reader;

  int count_ = 0;
  std::string bytes_;
  std::vector<std::string> texts_;  ///< names, materials and files; neighbours share theirs
  mutable std::once_flag made_once_;
  mutable std::vector<PlacedShape> made_;
};

}  // namespace espalier
