#include "charts/chart.hpp"

#include <algorithm>
#include <cmath>

#include "charts/format.hpp"

namespace espalier::charts {

namespace {

constexpr double width = 760, left = 70, right = 20, top = 70, height = 190, gap = 26, bottom = 46;

/// Axis from the first to the last tick, both multiples of a step of 1, 2 or 5 times a power of 10.
struct Axis {
  double low, high, step;

  Axis(double smallest, double largest, int ticks) {
    const double span = std::max(largest - smallest, 1e-12);
    const double power = std::pow(10.0, std::floor(std::log10(span / ticks)));
    step = power;
    for (const double factor : {2.0, 5.0, 10.0}) {
      if (span / step > ticks) step = factor * power;
    }
    low = step * std::floor(smallest / step + 1e-9);
    high = step * std::ceil(largest / step - 1e-9);
  }
  int count() const { return static_cast<int>(std::lround((high - low) / step)); }
  double tick(int i) const { return low + i * step; }
  /// Where x is between `from` (low) and `to` (high).
  double place(double x, double from, double to) const {
    return from + (x - low) / (high - low) * (to - from);
  }
};

std::string text(double x, double y, const char* attributes, const std::string& words) {
  return format("<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes) + words + "</text>\n";
}

std::string stroke(const Chart::Line& line) {
  const std::string dashes = line.dashes.empty() ? "" : " stroke-dasharray=\"" + line.dashes + "\"";
  return "fill=\"none\" stroke=\"" + line.colour + "\" stroke-width=\"1.6\"" + dashes;
}

/// A drawing of a given height with its title.
std::string head(double total, const std::string& title) {
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
             "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"13\">\n",
             width, total, width, total) +
         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         text(width / 2, 24, "text-anchor=\"middle\" font-size=\"16\"", title);
}

/// Room that a name and its sample take in a legend.
double legend_step(const std::string& name) { return 56 + 7.5 * static_cast<double>(name.size()); }

/// Ticks of y with lines across a panel.
std::string ticks(const Axis& up, double upper, double lower) {
  std::string out;
  for (int i = 0; i <= up.count(); ++i) {
    const double y = up.place(up.tick(i), lower, upper);
    out += format("<path d=\"M%.0f %.1fH%.0f\" stroke=\"#ddd\"/>\n", left, y, width - right);
    out += text(left - 8, y + 4, "text-anchor=\"end\"", format("%.4g", up.tick(i) + 0.0));
  }
  return out;
}

/// Frame of a panel and what its y is.
std::string frame(double upper, double lower, const std::string& label) {
  const double middle = (upper + lower) / 2;
  return format(
             "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" "
             "stroke=\"#444\"/>\n",
             left, upper, width - right - left, lower - upper) +
         text(20, middle,
              format("text-anchor=\"middle\" transform=\"rotate(-90 20 %.1f)\"", middle).c_str(),
              label);
}

}  // namespace

std::string Chart::svg() const {
  const double total = top + static_cast<double>(panels.size()) * (height + gap) - gap + bottom;
  std::string out = head(total, title);

  double at = left;
  std::vector<std::string> named;
  for (const Panel& panel : panels) {
    for (const Line& line : panel.lines) {
      if (std::find(named.begin(), named.end(), line.name) != named.end()) continue;
      named.push_back(line.name);
      out += format("<path d=\"M%.1f 46h30\" ", at) + stroke(line) + "/>\n";
      out += text(at + 36, 50, "", line.name);
      at += legend_step(line.name);
    }
  }

  const Axis across(x.front(), x.back(), 10);
  double upper = top;
  for (const Panel& panel : panels) {
    double smallest = 0, largest = 0;
    for (const Line& line : panel.lines) {
      const auto [low, high] = std::minmax_element(line.y.begin(), line.y.end());
      smallest = std::min(smallest, *low), largest = std::max(largest, *high);
    }
    for (const Band& band : panel.bands) {
      smallest = std::min(smallest, *std::min_element(band.low.begin(), band.low.end()));
      largest = std::max(largest, *std::max_element(band.high.begin(), band.high.end()));
    }
    const Axis up(smallest, largest, 6);
    const double lower = upper + height;
    const bool last = &panel == &panels.back();
    out += ticks(up, upper, lower);
    for (int i = 0; i <= across.count(); ++i) {
      const double at_x = across.place(across.tick(i), left, width - right);
      out += format("<path d=\"M%.1f %.0fV%.0f\" stroke=\"#ddd\"/>\n", at_x, upper, lower);
      if (last) {
        out += text(at_x, lower + 18, "text-anchor=\"middle\"", format("%.4g", across.tick(i)));
      }
    }
    out += frame(upper, lower, panel.label);
    const auto point = [&](std::size_t i, double y) {
      return format("%.1f,%.1f ", across.place(x[i], left, width - right),
                    up.place(y, lower, upper));
    };
    for (const Band& band : panel.bands) {
      out += "<polygon fill=\"" + band.colour + "\" fill-opacity=\"0.25\" points=\"";
      for (std::size_t i = 0; i < x.size(); ++i) out += point(i, band.high[i]);
      for (std::size_t i = x.size(); i-- > 0;) out += point(i, band.low[i]);
      out.back() = '"';
      out += "/>\n";
    }
    for (const Line& line : panel.lines) {
      out += "<polyline " + stroke(line) + " points=\"";
      for (std::size_t i = 0; i < x.size(); ++i) out += point(i, line.y[i]);
      out.back() = '"';
      out += "/>\n";
    }
    upper = lower + gap;
  }
  out += text((left + width - right) / 2, total - 8, "text-anchor=\"middle\"", label);
  return out + "</svg>\n";
}

std::string BarChart::svg() const {
  constexpr double upper = top, lower = top + 1.4 * height, line_height = 16;
  long lines = 1;
  for (const std::string& group : groups) {
    lines = std::max(lines, 1 + std::count(group.begin(), group.end(), '\n'));
  }
  std::string out = head(lower + 14 + static_cast<double>(lines) * line_height, title);

  double at = left, largest = 0;
  for (const Series& s : series) {
    out += format("<rect x=\"%.1f\" y=\"40\" width=\"12\" height=\"12\" fill=\"", at) + s.colour +
           "\"/>\n" + text(at + 18, 50, "", s.name);
    at += legend_step(s.name) - 18;
    for (const double y : s.y) largest = std::max(largest, std::isnan(y) ? 0.0 : y);
  }

  const Axis up(0.0, largest, 6);
  out += ticks(up, upper, lower);
  // Between groups there is as much room as a bar takes on either side.
  const double group_width = (width - right - left) / static_cast<double>(groups.size());
  const double bar = group_width / (static_cast<double>(series.size()) + 2.0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double start = left + static_cast<double>(g) * group_width;
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (std::isnan(series[i].y[g])) continue;
      const double y = up.place(series[i].y[g], lower, upper);
      out += format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"",
                    start + (static_cast<double>(i) + 1.0) * bar, y, 0.9 * bar, lower - y) +
             series[i].colour + "\"/>\n";
    }
    double below = lower + 18;
    for (std::size_t from = 0; from <= groups[g].size(); below += line_height) {
      const std::size_t to = std::min(groups[g].find('\n', from), groups[g].size());
      out += text(start + group_width / 2, below, "text-anchor=\"middle\"",
                  groups[g].substr(from, to - from));
      from = to + 1;
    }
  }
  return out + frame(upper, lower, label) + "</svg>\n";
}

}  // namespace espalier::charts
