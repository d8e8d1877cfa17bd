#pragma once

#include <cstddef>
#include <vector>

namespace espalier::contact {

/// The rows of a problem as what they do to links and joints, for ways that form no matrix of all
/// rows. Plain data, lane by lane; Plan::newton_way() says which numbers there are.
template <class T>
struct LinkRows {
  /// @param of_contact, of_held, of_joints  numbers of a contact, of all held rows and of all rows
  ///                                        of joints
  void reserve(std::size_t contacts, std::size_t of_contact, std::size_t of_held,
               std::size_t of_joints) {
    points.reserve(contacts), compliance.reserve(contacts);
    contact.reserve(of_contact * contacts), held.reserve(of_held);
    joint.reserve(of_joints);
  }

  std::vector<int> points;  ///< of the problem's contacts, among Plan's
  /// Of each contact: three rows on the twist of each of its links, or, in rate space, on the
  /// rates of its support, Plan::longest_support() apart.
  std::vector<T> contact;
  std::vector<T> held;        ///< of each held row, on its link's twist or on rates
  std::vector<T> joint;       ///< of each row of a joint, at the rates of its cluster
  std::vector<T> compliance;  ///< of contacts, on the diagonal of G
  std::vector<T> state;       ///< of the robot: what the way makes of it once a step
};

}  // namespace espalier::contact
