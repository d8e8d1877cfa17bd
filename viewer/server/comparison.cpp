// A client's robot beside the first: it is told the same, by names.

#include <algorithm>
#include <cmath>

#include "viewer/server/client.hpp"
#include "viewer/server/coordinates.hpp"
#include "viewer/server/messages.hpp"

namespace espalier::viewer {

/// The robot beside does the same, by names.
void Client::take_other(const Json& message, Json& out) {
  if (other_ == nullptr) return;
  try {
    const std::optional<Json> translated = for_other(message);
    out["other"] = translated ? other_->answer(*translated) : other_->pose();
  } catch (const std::exception& error) {
    out["other"] = other_->pose();
    out["other"]["error"] = error.what();
  }
  if (playing_ && other_->run_ == nullptr) playing_ = false, out["playing"] = false;
  other_->playing_ = false;  // it moves with this one
  out["difference"] = difference();
}

/// Sliders, links and clusters of the same names; nothing where the other has none such.
std::optional<Json> Client::for_other(Json message) const {
  const std::string what = member(message, "do", "");
  const Model& theirs = *other_->model_;
  if (what == "set") {
    const std::string& name = mechanism_->sliders()[index(message, "slider")].name;
    const auto& sliders = other_->mechanism_->sliders();
    const auto it = std::find_if(sliders.begin(), sliders.end(),
                                 [&](const Slider& s) { return s.name == name; });
    if (it == sliders.end()) return std::nullopt;
    message["slider"] = it - sliders.begin();
  } else if (what == "drag") {
    const Link* link = theirs.find_link(model_->links()[index(message, "link")].name);
    if (link == nullptr) return std::nullopt;
    message["link"] = link - theirs.links().data();
  } else if (what == "show" && strength_of_ >= 0) {
    const Link* link = theirs.find_link(model_->links()[strength_of_].name);
    message["strength"] = link == nullptr ? -1 : static_cast<int>(link - theirs.links().data());
  } else if (what == "branch" || what == "coordinates") {
    const auto clusters = theirs.clusters();
    const std::string& name =
        scene_["clusters"][index(message, "cluster")]["name"].get_ref<const std::string&>();
    const auto it = std::find_if(clusters.begin(), clusters.end(),
                                 [&](const Cluster& c) { return c.name == name; });
    if (it == clusters.end()) return std::nullopt;
    message["cluster"] = it - clusters.begin();
  } else if (what == "random" || what == "place") {
    return Json{{"do", "place"}, {"q", carried_over(*model_, mechanism_->q(), theirs)}};
  } else if (what == "play" || what == "step") {
    const Json& can = other_->scene_["algorithms"];
    const auto wanted = message.find("algorithm");
    if (wanted != message.end() && (stage_.other->keeps_algorithm ||
                                    std::find(can.begin(), can.end(), *wanted) == can.end())) {
      message.erase(wanted);
    }
  }
  return message;
}

/// Largest difference of a position between joints of the same name [rad, m].
double Client::difference() const {
  double largest = 0.0;
  const std::vector<double>&q = mechanism_->q(), &theirs = other_->mechanism_->q();
  for (const Joint& joint : model_->joints()) {
    const Joint* same = other_->model_->find_joint(joint.name);
    if (same == nullptr || same->nq != joint.nq) continue;
    for (int k = 0; k < joint.nq; ++k) {
      double x = std::abs(q[joint.q + k] - theirs[same->q + k]);
      // A quaternion and its negative are one turn.
      if (joint.nq != joint.nv) x = std::min(x, std::abs(q[joint.q + k] + theirs[same->q + k]));
      largest = std::max(largest, x);
    }
  }
  return largest;
}

}  // namespace espalier::viewer
