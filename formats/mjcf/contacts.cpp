// Reads MJCF: which bodies may touch, and the friction of pairs.

#include <algorithm>
#include <map>
#include <set>

#include "formats/mjcf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

using LinkPairs = std::set<std::pair<std::string, std::string>>;
/// Pairs by name, both ways.
LinkPairs pairs_of(const std::vector<PairDescription>& pairs) {
  LinkPairs out;
  for (const PairDescription& pair : pairs) {
    out.insert({pair.first, pair.second}), out.insert({pair.second, pair.first});
  }
  return out;
}

}  // namespace

void Reader::read_contact(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    const Element e = element(child, child.name, "");
    if (child.name == "exclude") {
      const int first = body_named(e, "body1"), second = body_named(e, "body2");
      robot_.excluded_contacts.push_back({bodies_[first].link, bodies_[second].link, child.where});
    } else if (child.name == "pair") {
      read_pair(child);
    } else {
      lose(child, "<" + child.name + "> of <contact> has no counterpart", false);
    }
  }
}

void Reader::read_pair(const XmlNode& node) {
  const Element e = element(node, node.name, "");
  const std::string first = e.name("geom1"), second = e.name("geom2");
  robot_.contact_pairs.push_back({first, second, node.where});
  pairs_.insert({first, second}), pairs_.insert({second, first});
  const auto named = [&](const std::string& name) {
    return std::find_if(geoms_.begin(), geoms_.end(),
                        [&](const auto& g) { return g.name == name; });
  };
  const auto a = named(first), b = named(second);
  if (a == geoms_.end() || b == geoms_.end()) return;  // names are looked at when it is compiled
  for (const TouchingGeom& g : {*a, *b}) {
    if (g.type != 0 || g.affinity != 0) continue;
    lose(node,
         "geom " + in_quotes(g.name) +
             " has contype and conaffinity 0 and touches in pairs "
             "alone, which has no counterpart (here it touches nothing)",
         false);
  }
  if (const auto found = other_friction(e, *a, *b)) robot_.findings.push_back(*found);
}

/// Links whose geoms do not meet by contype and conaffinity pass through each other; where some do
/// and others do not, all touch here.
void Reader::exclude_by_types() {
  struct Meetings {
    int of = 0, meet = 0;
    const TouchingGeom *first = nullptr, *second = nullptr;  ///< that do not
  };
  std::map<std::pair<int, int>, Meetings> all;  // by bodies
  for (std::size_t i = 0; i < geoms_.size(); ++i) {
    for (std::size_t j = i + 1; j < geoms_.size(); ++j) {
      const TouchingGeom &a = geoms_[i], &b = geoms_[j];
      if (a.body == b.body || !touches_any(a) || !touches_any(b)) continue;
      Meetings& here = all[std::minmax(a.body, b.body)];
      ++here.of;
      if (types_meet(a, b) || pairs_.contains({a.name, b.name})) {
        ++here.meet;
      } else if (here.first == nullptr) {
        here.first = &a, here.second = &b;
      }
    }
  }
  const LinkPairs excluded = pairs_of(robot_.excluded_contacts);
  const Meetings* some = nullptr;
  int more = -1;
  for (const auto& [bodies, here] : all) {
    const std::string &first = bodies_[bodies.first].link, &second = bodies_[bodies.second].link;
    if (here.meet == here.of || excluded.contains({first, second})) continue;
    if (here.meet == 0) {
      robot_.excluded_contacts.push_back({first, second, here.first->where});
    } else {
      if (some == nullptr) some = &here;
      ++more;
    }
  }
  if (some == nullptr) return;
  robot_.findings.push_back(
      {Finding::Severity::warning,
       who(*some->first) + " and " + who(*some->second) + " (" + some->first->where.text() +
           "): pass through each other by contype and conaffinity, where others of their bodies "
           "touch, which has no counterpart (here they touch" +
           (more > 0 ? "; pairs of bodies besides: " + std::to_string(more) : "") + ")",
       some->first->where.text(), false});
}

/// Friction that MuJoCo has of two geoms together, and shapes cannot say each for itself.
void Reader::warn_of_friction() {
  std::vector<bool> moves(bodies_.size(), false);
  for (const ReadJoint& joint : joints_) moves[joint.body] = true;
  // Bodies without joints are one with those that carry them; each touches none that carries it.
  const auto rigid = [&](int body) {
    while (body > 0 && !moves[body]) body = bodies_[body].parent;
    return body;
  };
  const LinkPairs excluded = pairs_of(robot_.excluded_contacts);
  const auto carries = [&](int a, int b) {
    return a != 0 && b != 0 && rigid(bodies_[b].parent) == a;
  };
  const auto found = other_friction(geoms_, [&](const TouchingGeom& a, const TouchingGeom& b) {
    const int x = rigid(a.body), y = rigid(b.body);
    return x != y && !carries(x, y) && !carries(y, x) && !excluded.contains({a.link, b.link}) &&
           !pairs_.contains({a.name, b.name});
  });
  if (found) robot_.findings.push_back(*found);
}

}  // namespace espalier::mjcf
