#pragma once

#include <cstddef>
#include <vector>

namespace espalier::contact {

/// The rows of a problem as what they do to links and joints, for ways that form no matrix of all
/// rows. Plain data, lane by lane; Plan::newton_way() says which numbers there are.
template <class T>
struct LinkRows {
  void reserve(std::size_t contacts, std::size_t links_of_contact, std::size_t held_rows,
               std::size_t joint_numbers) {
    points.reserve(contacts), compliance.reserve(contacts);
    contact.reserve(18 * links_of_contact * contacts), held.reserve(6 * held_rows);
    joint.reserve(joint_numbers);
  }

  std::vector<int> points;    ///< of the problem's contacts, among Plan's
  std::vector<T> contact;     ///< 18 of each contact and link: three rows on the link's twist
  std::vector<T> held;        ///< 6 of each held row, on its link's twist
  std::vector<T> joint;       ///< of each row of a joint, at the rates of its cluster
  std::vector<T> compliance;  ///< of contacts, on the diagonal of G
  std::vector<T> state;       ///< of the robot: what the way makes of it once a step
};

}  // namespace espalier::contact
