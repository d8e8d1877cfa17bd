#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"

namespace espalier {

class SubMechanisms;

/// What the reader of a file may do besides reading it.
struct ReadOptions {
  /// Folders in which `package://name/...` and relative files are looked for after the file's own.
  std::vector<std::string> search_paths;
  /// Whether included files and meshes may lie outside of these folders and the file's own.
  bool outside = false;
};

/// A file format of robots.
class ESPALIER_API Format {
 public:
  virtual ~Format();
  /// File name endings it answers for, with the dot: ".urdf".
  virtual std::vector<std::string> extensions() const = 0;
  /// Reads a robot.
  /// @param text    the file's contents
  /// @param origin  the file's path: for messages and for relative includes
  /// @param parts   where formats with subsystems look up types that the file does not define
  /// @throws InvalidModel naming file, line and element
  virtual Description read(std::string_view text, const std::string& origin,
                           const SubMechanisms& parts) const = 0;
  /// The same with options, for formats that look into other files; others ignore them.
  virtual Description read(std::string_view text, const std::string& origin,
                           const SubMechanisms& parts, const ReadOptions& options) const;
  /// The same where no sub-mechanisms are known.
  Description read(std::string_view text, const std::string& origin) const;
  /// Writes a robot so that reading it gives the same Description.
  /// @throws Unsupported if the format cannot be written or cannot say something in the robot
  virtual std::string write(const Description& robot) const;
  /// What write() leaves out or approximates, one sentence each that names the thing.
  virtual std::vector<std::string> losses(const Description& robot) const;
};

}  // namespace espalier
