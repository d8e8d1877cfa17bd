#pragma once

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/operations/study.hpp"
#include "charts/chart.hpp"

/// What the study says, as Markdown and as drawings.

namespace espalier::bench {

using charts::BarChart;
using charts::Chart;

/// What the papers state, what comes out here, and whether it is the same.
std::string claims_table(const Study& study);

// Tables of counts, each for a figure of the papers.
std::string stem_tables(const Study& study);
std::string humanoid_tables(const Study& study);
std::string asimo_tables(const Study& study);
/// What an algorithm needs in three phases, from counts of parts of the task.
struct Phases {
  double inertias;  ///< with an end-effector on the floating body alone, whose rows cross no joint
  double rows;      ///< more for each end-effector by itself
  double pairs;     ///< more where there are all of them
};
Phases phases(const Study& study, const std::string& algorithm, bool folded);
std::string phase_table(const Study& study);
BarChart phase_chart(const Study& study);
/// Least-squares fits of counts over links and over rows.
std::string growth_tables(const Study& study);

/// All of these by the sections of docs/operations.md, and the command that writes them there.
std::vector<std::pair<std::string, std::string>> operation_sections(const Study& study);
inline constexpr const char* operations_command =
    "./espalier bench-suite operations --markdown docs/operations.md --svg docs";

Chart stem_chart(const Study& study);
BarChart atlas_chart(const Study& study);
BarChart hands_chart(const Study& study);
BarChart asimo_chart(const Study& study);
Chart chains_chart(const Study& study);
Chart growth_chart(const Study& study);

/// All counts, split: mechanism, bodies, dof, rows, algorithm, folded or all, five kinds, total.
std::string csv(const Study& study);

}  // namespace espalier::bench
