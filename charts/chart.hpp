#pragma once

#include <string>
#include <vector>

namespace espalier::charts {

/// Lines over a common abscissa, drawn as SVG: panels below each other, one legend.
struct Chart {
  struct Line {
    std::string name;    ///< in the legend; lines of one name in several panels look alike
    std::string colour;  ///< of SVG
    std::string dashes;  ///< pattern of SVG's stroke-dasharray, "" for a full line
    std::vector<double> y;
  };
  /// What lies between two lines, filled below them.
  struct Band {
    std::string colour;  ///< of SVG; drawn so that lines and grid can be seen through it
    std::vector<double> low, high;
  };
  struct Panel {
    std::string label;  ///< what y is, with its unit
    std::vector<Line> lines;
    std::vector<Band> bands = {};
  };
  std::string title, label;  ///< of the chart; what x is, with its unit
  std::vector<double> x;     ///< increasing, at least two
  std::vector<Panel> panels;

  std::string svg() const;
};

/// Groups of bars from zero beside each other, drawn as SVG, one legend.
struct BarChart {
  struct Series {
    std::string name;       ///< in the legend
    std::string colour;     ///< of SVG
    std::vector<double> y;  ///< by group, none below zero; not a number: no bar
  };
  std::string title, label;         ///< of the chart; what y is, with its unit
  std::vector<std::string> groups;  ///< below the bars; '\n' parts lines
  std::vector<Series> series;

  std::string svg() const;
};

}  // namespace espalier::charts
