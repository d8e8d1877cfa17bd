#include <map>

#include "benchmarks/markdown.hpp"
#include "benchmarks/operations/report.hpp"

namespace espalier::bench {

namespace {

// Colours that are told apart by everyone (Okabe and Ito), and dashes for those who print.
struct Look {
  const char *colour, *dashes;
};
Look look(const std::string& algorithm) {
  static const std::map<std::string, Look> looks{{"pv-osimr", {"#000000", ""}},
                                                 {"pv-osim", {"#0072b2", "6 3"}},
                                                 {"efpa", {"#d55e00", "2 2"}},
                                                 {"ltl-osim", {"#009e73", "8 3 2 3"}},
                                                 {"kjr", {"#cc79a7", "4 2"}}};
  return looks.at(algorithm);
}

double thousands(const Tally& tally, const std::string& algorithm) {
  return tally.total(algorithm, true) / 1000.0;
}

Chart::Line line(const std::vector<Tally>& tallies, const std::string& algorithm) {
  Chart::Line out{algorithm, look(algorithm).colour, look(algorithm).dashes, {}};
  for (const Tally& tally : tallies) out.y.push_back(thousands(tally, algorithm));
  return out;
}

BarChart bars(const std::string& title, const std::vector<std::string>& groups,
              const std::vector<const Tally*>& tallies,
              const std::vector<std::string>& algorithms) {
  BarChart out{title, "thousand operations", groups, {}};
  for (const std::string& algorithm : algorithms) {
    BarChart::Series& series =
        out.series.emplace_back(BarChart::Series{algorithm, look(algorithm).colour, {}});
    for (const Tally* tally : tallies) series.y.push_back(thousands(*tally, algorithm));
  }
  return out;
}

const std::vector<std::string> in_sathya{"pv-osimr", "pv-osim", "efpa", "ltl-osim"};
const std::vector<std::string> in_wensing{"kjr", "efpa", "ltl-osim", "pv-osimr", "pv-osim"};

}  // namespace

Chart stem_chart(const Study& study) {
  Chart out;
  out.title = "Stem with branches at both ends, 6 rows on every tip";
  out.label = "links in the stem";
  out.x = study.stem_lengths;
  for (const Study::Stem& stem : study.stems) {
    Chart::Panel& panel =
        out.panels.emplace_back(Chart::Panel{format("1000 ops, %d per side", stem.branches), {}});
    for (const char* name : {"pv-osimr", "pv-osim", "efpa"}) {
      panel.lines.push_back(line(stem.lengths, name));
    }
  }
  return out;
}

BarChart atlas_chart(const Study& study) {
  return bars("Atlas, standing", {"6D on each foot", "4 x 3D on each foot"},
              {&study.feet_6, &study.feet_12}, in_sathya);
}

BarChart hands_chart(const Study& study) {
  return bars("Shadow hands, 3D on every fingertip, and Atlas",
              {"hand alone", "Atlas, one hand", "Atlas, two hands", "Atlas, two hands,\n6D feet"},
              {&study.hand, &study.one_hand, &study.two_hands, &study.hands_and_feet}, in_sathya);
}

BarChart asimo_chart(const Study& study) {
  const std::string more = format("+%d ", more_joints);
  return bars("ASIMO Next-Generation",
              {"HF", "HFH", "FTF", more + "dof\nper arm", more + "dof\nper leg",
               more + "dof\nper finger", "12-dof\nhands", "+2 arms,\n+2 legs", "on one\nfoot"},
              study.asimos(), in_wensing);
}

BarChart phase_chart(const Study& study) {
  BarChart out{"ASIMO Next-Generation, hands and feet: phases", "thousand operations", {}, {}};
  out.series = {{"inertias, or H and its factor", "#0072b2", {}},
                {"rows of each end-effector", "#d55e00", {}},
                {"pairs of end-effectors", "#009e73", {}}};
  for (const std::string& name : in_wensing) {
    out.groups.push_back(name);
    const Phases p = phases(study, name, true);
    out.series[0].y.push_back(1e-3 * p.inertias);
    out.series[1].y.push_back(1e-3 * p.rows);
    out.series[2].y.push_back(1e-3 * p.pairs);
  }
  return out;
}

Chart chains_chart(const Study& study) {
  Chart out;
  out.title = "ASIMO Next-Generation, hands and feet, longer chains";
  out.label = "further joints in each arm and leg";
  for (std::size_t k = 0; k < study.longer_chains.size(); ++k) {
    out.x.push_back(static_cast<double>(k));
  }
  Chart::Panel& panel = out.panels.emplace_back(Chart::Panel{"thousand operations", {}});
  for (const std::string& name : in_wensing) panel.lines.push_back(line(study.longer_chains, name));
  return out;
}

Chart growth_chart(const Study& study) {
  Chart out;
  out.title = format("Chain of %d links, every so many of them held", growth_chain);
  out.label = "links held, 6 rows each";
  for (std::size_t k = 1; k <= study.held_links.size(); ++k) {
    out.x.push_back(static_cast<double>(k));
  }
  Chart::Panel& panel = out.panels.emplace_back(Chart::Panel{"thousand operations", {}});
  for (const char* name : {"pv-osimr", "pv-osim", "efpa"}) {
    panel.lines.push_back(line(study.held_links, name));
  }
  return out;
}

}  // namespace espalier::bench
