#include "benchmarks/clusters/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "benchmarks/batches.hpp"
#include "benchmarks/clusters/contestants.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/statistics.hpp"

namespace espalier::bench {

namespace {

const std::string dash = "-";
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A call by the row's words for it.
struct What {
  std::string work, library, algorithm;

  bool is(const Row& row) const {
    return row.work == work && row.library == library && row.algorithm == algorithm;
  }
};

What ours(Work work, const std::string& algorithm) {
  return {to_string(work), "Espalier", algorithm};
}
What ours(const std::string& call) { return {call, "Espalier", call}; }

class Tables {
 public:
  Tables(const std::vector<Mechanism>& all, const std::vector<Row>& rows) : all_(all), rows_(rows) {
    for (const Row& row : rows_) {
      const What what{row.work, row.library, row.algorithm};
      if (row.library == "Espalier" || row.work != to_string(Work::forward)) continue;
      if (std::none_of(peers_.begin(), peers_.end(), [&](const What& p) { return p.is(row); })) {
        peers_.push_back(what);
      }
    }
  }

  std::string text() const {
    return "Forward dynamics, microseconds a state (best). In brackets behind a peer's time: that "
           "over `c-aba`'s, and how far its accelerations are off, relative to the largest.\n\n" +
           forward() +
           "\nOther calls, microseconds, of `compile` and `load` milliseconds (best):"
           "\n\n" +
           others() +
           "\nThe power of the number of bodies with which times grow, by least squares of "
           "logarithms over the sizes above:\n\n" +
           growth() + "\n" + wanted_table() + left_out();
  }

 private:
  const Row* find(const Mechanism& m, const What& what) const {
    for (const Row& row : rows_) {
      if (row.robot == m.description.name && what.is(row)) return &row;
    }
    return nullptr;
  }
  double ns(const Mechanism& m, const What& what) const {
    const Row* row = find(m, what);
    return row == nullptr || row->ns.empty() ? nothing : row->best();
  }
  /// What stands at the head of a line: "ladder61 (61, 1)".
  std::string title(const Mechanism& m) const {
    const Row* row = find(m, c_aba);
    return row == nullptr ? m.description.name
                          : m.description.name + format(" (%d, %d)", row->bodies, row->nv);
  }
  static std::string cell(double x, const char* pattern = "%.2f") {
    return std::isnan(x) ? dash : format(pattern, x);
  }

  std::string forward() const {
    std::vector<std::string> head{"mechanism (bodies, degrees of freedom)",
                                  "`c-aba`",
                                  "ns a body",
                                  "to `kkt`",
                                  "in a batch",
                                  "`projection`"};
    for (const What& peer : peers_) head.push_back(peer.library + ": " + peer.algorithm);
    Table table(head);
    for (const Mechanism& m : all_) {
      const double time = ns(m, c_aba);
      const Row* oracle = find(m, ours(Work::forward, "kkt"));
      if (std::isnan(time) || oracle == nullptr) continue;
      std::vector<std::string> line{title(m),
                                    cell(time / 1e3),
                                    cell(time / oracle->bodies, "%.0f"),
                                    format("%.0e", oracle->difference),
                                    cell(ns(m, batch) / 1e3),
                                    cell(ns(m, ours(Work::forward, "projection")) / 1e3)};
      for (const What& peer : peers_) {
        const Row* row = find(m, peer);
        const double peers = ns(m, peer);
        line.push_back(std::isnan(peers) ? dash
                                         : format("%.2f (%.1f, %.0e)", peers / 1e3, peers / time,
                                                  row->difference));
      }
      table.add(line);
    }
    return table.text();
  }

  std::string others() const {
    const std::vector<What> calls{ours(Work::inverse, "c-rnea"),
                                  ours(Work::inverse, "projected-rnea"),
                                  ours(Work::mass_matrix, "c-crba"),
                                  ours(Work::inverse_osim, "c-pv-osimr"),
                                  ours(Work::inverse_osim, "projected-efpa"),
                                  ours(call_close),
                                  ours(call_assemble),
                                  ours(call_compile),
                                  ours(call_load)};
    std::vector<std::string> head{"mechanism (bodies, degrees of freedom)"};
    for (const What& call : calls) head.push_back("`" + call.algorithm + "`");
    Table table(head);
    for (const Mechanism& m : all_) {
      std::vector<std::string> line{title(m)};
      for (const What& call : calls) {
        const bool slow = call.algorithm == call_compile || call.algorithm == call_load;
        line.push_back(cell(ns(m, call) / (slow ? 1e6 : 1e3)));
      }
      table.add(line);
    }
    return table.text();
  }

  std::string growth() const {
    std::vector<What> calls{c_aba,
                            ours(Work::forward, "projection"),
                            ours(Work::inverse, "c-rnea"),
                            ours(Work::mass_matrix, "c-crba"),
                            ours(Work::inverse_osim, "c-pv-osimr"),
                            ours(call_close),
                            ours(call_compile)};
    std::vector<std::string> head{"mechanism"};
    for (const What& call : calls) head.push_back("`" + call.algorithm + "`");
    for (const What& peer : peers_) {
      calls.push_back(peer);
      head.push_back(peer.library + ": " + peer.algorithm);
    }
    Table table(head);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::string& kind = all_[i].kind;
      if (i > 0 && all_[i - 1].kind == kind) continue;
      std::vector<std::string> line{kind};
      for (const What& call : calls) {
        std::vector<double> bodies, times;
        for (const Mechanism& m : all_) {
          if (m.kind != kind || std::isnan(ns(m, call))) continue;
          bodies.push_back(find(m, call)->bodies), times.push_back(ns(m, call));
        }
        line.push_back(bodies.size() < 3 ? dash : format("%.2f", growth_exponent(bodies, times)));
      }
      if (std::any_of(line.begin() + 1, line.end(), [](const auto& c) { return c != dash; })) {
        table.add(line);
      }
    }
    return table.text();
  }

  /// What issue 23 asks for: times on one core at 2.6 GHz.
  std::string wanted_table() const {
    Table table({"what", "wanted", "measured", ""});
    const auto line = [&](const std::string& what, const std::string& wanted, double bound,
                          double measured, const char* pattern, bool at_least = false) {
      if (std::isnan(measured)) return;
      const bool met = at_least ? measured >= bound : measured <= bound;
      table.add({what, wanted, format(pattern, measured), met ? "met" : "missed"});
    };
    for (const Mechanism& m : all_) {
      const Row* row = find(m, c_aba);
      if (row == nullptr || m.kind != "ladder") continue;
      line(title(m) + ": `c-aba`", "at most 0.15 µs a body", 150.0, ns(m, c_aba) / row->bodies,
           "%.0f ns a body");
      double converged = nothing;
      for (const What& peer : peers_) {
        if (peer.algorithm == "lcaba, converged") converged = ns(m, peer);
      }
      line(title(m) + ": lcaba, converged, over `c-aba`", "at least 3", 3.0,
           converged / ns(m, c_aba), "%.1f", true);
    }
    for (const Mechanism& m : all_) {
      const std::string& name = m.description.name;
      if (name == "parallel_chains5" || name == "parallel_belts5") {
        line(title(m) + ": `projection` over `c-aba`", "at least 2", 2.0,
             ns(m, ours(Work::forward, "projection")) / ns(m, c_aba), "%.1f", true);
      }
      if (name == "stewart_platform") {
        line(title(m) + ": `c-aba`", "at most 6 µs", 6.0, ns(m, c_aba) / 1e3, "%.2f µs");
      }
      if (name == "net10x10") {
        line(title(m) + ": `c-aba`", "at most 0.5 ms", 0.5, ns(m, c_aba) / 1e6, "%.2f ms");
      }
      if (name == "ladder121") {
        line(title(m) + ": `compile`", "at most 20 ms", 20.0, ns(m, ours(call_compile)) / 1e6,
             "%.1f ms");
      }
      if (name == "ladder241") {
        line(title(m) + ": `load`", "at most 1 s", 1.0, ns(m, ours(call_load)) / 1e9, "%.3f s");
      }
    }
    return table.text();
  }

  /// Who differs or does not run, and why.
  std::string left_out() const {
    std::string text;
    for (const Row& row : rows_) {
      if (row.why_not.empty() || row.why_not.starts_with("an oracle")) continue;
      const std::string way = row.algorithm.empty() ? "" : ", " + row.algorithm;
      text += "* " + row.robot + ": " + row.library + way + ": " + row.why_not + "\n";
    }
    return text.empty() ? "" : "\nLeft out:\n\n" + text;
  }

  const What c_aba = ours(Work::forward, "c-aba");
  const What batch{std::string(to_string(Work::forward)) + ", batch", "Espalier",
                   batch_name("c-aba", "", cluster_batch)};
  const std::vector<Mechanism>& all_;
  const std::vector<Row>& rows_;
  std::vector<What> peers_;  ///< ways to forward dynamics
};

}  // namespace

std::string cluster_tables(const std::vector<Mechanism>& all, const std::vector<Row>& rows) {
  return Tables(all, rows).text();
}

}  // namespace espalier::bench
