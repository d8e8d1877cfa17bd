#include "espalier/simulation/contact/link_masses.hpp"

#include <set>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier::contact {

static const Link& link_named(const Model& model, const std::string& name) {
  if (const Link* link = model.find_link(name)) return *link;
  std::vector<std::string> known;
  for (const Link& link : model.links()) known.push_back(link.name);
  throw UnknownName("contact: mass factor of link " + text::quoted(name) +
                    ": no such link in robot '" + model.name() + "'" + suggest(name, known));
}

LinkMasses::LinkMasses(const Plan& plan, std::span<const std::string> links) {
  const Model& model = plan.model();
  const auto refuse = [](const std::string& name, const std::string& got,
                         const std::string& wanted) {
    throw InvalidModel("contact: mass factor of link " + text::quoted(name) + ": " + got +
                       ", expected " + wanted);
  };
  std::set<int> carried;
  for (const std::string& name : links) {
    const Link& link = link_named(model, name);
    if (link.body == 0) {
      refuse(name, "link is welded to the ground", "one that moves (its mass changes nothing)");
    }
    for (const Piece& other : pieces_) {
      if (other.at.body != link.body) continue;
      refuse(name,
             other.link == name ? "link is named twice"
                                : "link is welded to " + text::quoted(other.link),
             "each rigid piece once (a factor is that of a link and of all that is welded to it)");
    }
    Piece piece{name, plan.way_of(link.body), model.body(link.body).inertia};
    if (!(piece.inertia.m > 0.0)) {
      refuse(name, "mass is 0 kg", "a link with mass (a factor on nothing changes nothing)");
    }
    carried.insert(piece.at.way.begin(), piece.at.way.end());
    pieces_.push_back(std::move(piece));
  }
  placed_ = PlacedBodies(model, carried);
  for (Piece& piece : pieces_) piece.at.find_columns(model, placed_);
}

}  // namespace espalier::contact
