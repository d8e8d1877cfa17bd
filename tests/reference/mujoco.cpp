#include <mujoco/mujoco.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

// Forward dynamics by MuJoCo for make.py. Argument: an MJCF file. Input: for each state a line
// "<joint> <position> <rates> <forces>" per joint and a line "solve"; output: MuJoCo's version,
// then for each state the accelerations, a line per joint, all in MuJoCo's conventions.

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: espalier_reference_mujoco MODEL.xml < states\n";
    return 2;
  }
  char error[1000] = "";
  const std::unique_ptr<mjModel, void (*)(mjModel*)> m(mj_loadXML(argv[1], nullptr, error, 1000),
                                                       mj_deleteModel);
  if (!m) {
    std::cerr << argv[1] << ": " << error << '\n';
    return 1;
  }
  m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_PASSIVE | mjDSBL_ACTUATION |
                         mjDSBL_SENSOR | mjDSBL_WARMSTART;
  const std::unique_ptr<mjData, void (*)(mjData*)> d(mj_makeData(m.get()), mj_deleteData);
  std::cout << "MuJoCo " << mj_versionString() << '\n';
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string name;
    in >> name;
    if (name == "solve") {
      mj_forward(m.get(), d.get());
      for (int j = 0; j < m->njnt; ++j) {
        const int size = m->jnt_type[j] == mjJNT_FREE ? 6 : 1;
        std::printf("%s ", mj_id2name(m.get(), mjOBJ_JOINT, j));
        for (int k = 0; k < size; ++k) std::printf("%.17g ", d->qacc[m->jnt_dofadr[j] + k]);
        std::printf("\n");
      }
      std::fflush(stdout);
      continue;
    }
    const int j = mj_name2id(m.get(), mjOBJ_JOINT, name.c_str());
    if (j < 0) {
      std::cerr << "joint is '" << name << "', expected one of the model's\n";
      return 1;
    }
    const bool free = m->jnt_type[j] == mjJNT_FREE;
    for (int k = 0; k < (free ? 7 : 1); ++k) in >> d->qpos[m->jnt_qposadr[j] + k];
    for (int k = 0; k < (free ? 6 : 1); ++k) in >> d->qvel[m->jnt_dofadr[j] + k];
    for (int k = 0; k < (free ? 6 : 1); ++k) in >> d->qfrc_applied[m->jnt_dofadr[j] + k];
    if (!in) {
      std::cerr << "line is '" << line << "', expected a joint, its position, rates and forces\n";
      return 1;
    }
  }
}
