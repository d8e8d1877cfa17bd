#include "formats/sdf/words.hpp"

namespace espalier::sdf {

const formats::Grammar& grammar() {
  using formats::words_of;
  static const formats::Grammar known{
      {"sdf", {words_of("world model actor light"), words_of("version")}},
      {"world",
       {words_of("audio wind include gravity magnetic_field atmosphere gui physics scene light "
                 "frame model joint actor road spherical_coordinates state population plugin"),
        words_of("name")}},
      {"model",
       {words_of("static self_collide allow_auto_disable include model enable_wind frame pose "
                 "link joint plugin gripper"),
        words_of("name canonical_link placement_frame")}},
      {"include", {words_of("uri name static placement_frame pose plugin"), words_of("merge")}},
      {"frame", {words_of("pose"), words_of("name attached_to")}},
      {"pose", {{}, words_of("relative_to rotation_format degrees")}},
      {"link",
       {words_of("gravity enable_wind self_collide kinematic must_be_base_link velocity_decay "
                 "pose inertial collision visual sensor projector audio_sink audio_source "
                 "battery light particle_emitter"),
        words_of("name")}},
      {"inertial",
       {words_of("mass pose inertia density fluid_added_mass auto_inertia_params"),
        words_of("auto")}},
      {"inertia", {words_of("ixx ixy ixz iyy iyz izz"), {}}},
      {"joint",
       {words_of("parent child gearbox_ratio gearbox_reference_body thread_pitch "
                 "screw_thread_pitch axis axis2 physics pose sensor"),
        words_of("name type")}},
      {"axis", {words_of("xyz initial_position use_parent_model_frame dynamics limit mimic"), {}}},
      {"axis2", {words_of("xyz initial_position use_parent_model_frame dynamics limit mimic"), {}}},
      {"xyz", {{}, words_of("expressed_in")}},
      {"dynamics", {words_of("damping friction spring_reference spring_stiffness"), {}}},
      {"limit", {words_of("lower upper effort velocity stiffness dissipation"), {}}},
      {"mimic", {words_of("multiplier offset reference"), words_of("joint axis")}},
      {"collision",
       {words_of("laser_retro max_contacts pose geometry surface density auto_inertia_params"),
        words_of("name")}},
      {"visual",
       {words_of("cast_shadows laser_retro transparency visibility_flags pose meta material "
                 "geometry plugin"),
        words_of("name")}},
      {"geometry",
       {words_of("empty box capsule cone cylinder ellipsoid heightmap image mesh plane polyline "
                 "sphere"),
        {}}},
      {"box", {words_of("size"), {}}},
      {"sphere", {words_of("radius"), {}}},
      {"cylinder", {words_of("radius length"), {}}},
      {"capsule", {words_of("radius length"), {}}},
      {"cone", {words_of("radius length"), {}}},
      {"ellipsoid", {words_of("radii"), {}}},
      {"plane", {words_of("normal size"), {}}},
      {"mesh", {words_of("uri submesh scale convex_decomposition"), words_of("optimization")}},
      {"surface", {words_of("bounce friction contact soft_contact"), {}}},
      {"bounce", {words_of("restitution_coefficient threshold"), {}}},
      {"friction", {words_of("torsional ode bullet"), {}}},
      {"torsional", {words_of("coefficient use_patch_radius patch_radius surface_radius ode"), {}}},
      {"friction/ode", {words_of("mu mu2 fdir1 slip1 slip2"), {}}}};
  return known;
}

}  // namespace espalier::sdf
