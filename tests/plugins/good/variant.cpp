// Says in its summary what instruction set it was compiled for, and in its source how types lie in
// memory that host and plugins hand each other.
#include <Eigen/Core>

#include "tests/plugins/entries.hpp"

#if defined(__AVX512F__)
#define COMPILED_FOR "x86-64-v4"
#elif defined(__AVX2__)
#define COMPILED_FOR "x86-64-v3"
#else
#define COMPILED_FOR "baseline"
#endif

namespace {

template <class T>
std::string layout(const char* name) {
  return std::string(name) + " " + std::to_string(sizeof(T)) + "/" + std::to_string(alignof(T)) +
         " ";
}

std::string layouts() {
  using namespace espalier;
  return layout<Pack>("Pack") + layout<Vec3<Pack>>("Vec3<Pack>") +
         layout<Transform<Pack>>("Transform<Pack>") + layout<Wrenches<Pack>>("Wrenches<Pack>") +
         layout<PackInputs>("PackInputs") + layout<PackResults>("PackResults") +
         layout<AlgorithmAt<Pack>>("AlgorithmAt<Pack>") + layout<Transform<double>>("Transform") +
         layout<Model>("Model") + layout<Eigen::Matrix3d>("Matrix3d") +
         layout<Eigen::Vector4d>("Vector4d") + layout<Eigen::Matrix4d>("Matrix4d") +
         layout<Eigen::Matrix<double, 8, 1>>("Vector8d") +
         layout<Eigen::Matrix<double, 8, 8>>("Matrix8d") + layout<Eigen::MatrixXd>("MatrixXd") +
         // What is taken for granted of a dynamic matrix's memory; with AVX-512 it is aligned
         // to 64.
         "block/" + std::to_string(int{Eigen::internal::traits<Eigen::MatrixXd>::Alignment}) +
         " malloc " + std::to_string(EIGEN_MALLOC_ALREADY_ALIGNED);
}

}  // namespace

ESPALIER_PLUGIN("test-variant", "1.0") {
  registrar.format<espalier::test::EmptyFormat>(
      {.name = "test-variant", .summary = COMPILED_FOR, .source = layouts()});
}
