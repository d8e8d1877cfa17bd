#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"

namespace espalier {

class SubMechanisms;

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
  /// The same where no sub-mechanisms are known.
  Description read(std::string_view text, const std::string& origin) const;
  /// Writes a robot so that reading it gives the same Description.
  /// @throws Unsupported if the format cannot be written or cannot say something in the robot
  virtual std::string write(const Description& robot) const;
};

}  // namespace espalier
