#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>

/// How soft MuJoCo's constraints are, beside exact ones.

namespace espalier::bench {

struct DeleteMujoco {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};
using MujocoModel = std::unique_ptr<mjModel, DeleteMujoco>;
using MujocoData = std::unique_ptr<mjData, DeleteMujoco>;

/// @throws std::runtime_error with MuJoCo's message
MujocoModel load_mujoco(const std::string& file);

/// How accelerations under equality constraints tend to the exact ones as these stiffen: prints the
/// figures and writes the chart (docs/formats.md).
void draw_equality(const std::string& svg);

/// What contacts and loops yield by in motion, at MuJoCo's defaults: the same (docs/contact.md).
void draw_contacts(const std::string& svg);

}  // namespace espalier::bench
