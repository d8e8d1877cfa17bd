#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/format.hpp"

namespace espalier {

/// MJCF, the format of MuJoCo. docs/formats.md says what each element becomes.
///
/// The world body becomes the root link "world"; every position means what it means in MuJoCo,
/// `ref` included. Bodies with several joints, or with a joint beside their origin, get massless
/// links in between. Equality constraints become loops, mimicking joints and laws, which Espalier
/// meets exactly; their softness (solref, solimp) is not kept.
class MjcfFormat final : public Format {
 public:
  std::vector<std::string> extensions() const override { return {".xml", ".mjcf"}; }
  using Format::read;
  Description read(std::string_view text, const std::string& origin,
                   const SubMechanisms& parts) const override;
  Description read(std::string_view text, const std::string& origin, const SubMechanisms& parts,
                   const ReadOptions& options) const override;
  /// What MJCF cannot say goes into <custom><text name="espalier ...">, which MuJoCo ignores.
  std::string write(const Description& robot) const override;
  std::vector<std::string> losses(const Description& robot) const override;
};

}  // namespace espalier
