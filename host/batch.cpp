#include "espalier/host/batch.hpp"

#include "espalier/host/batches/batch_at.hpp"

namespace espalier {

std::string_view to_string(BatchStatus status) {
  switch (status) {
    case BatchStatus::ok:
      return "ok";
    case BatchStatus::singular:
      return "singular";
    case BatchStatus::loop_open:
      break;
  }
  return "loop open";
}

std::string_view to_string(Precision precision) {
  return precision == Precision::doubles ? "double" : "float";
}

Batch::Batch(const Registry& registry, const Entry& algorithm, const Setup& setup,
             const BatchOptions& options) {
  if (options.precision == Precision::floats) {
    impl_ = std::make_unique<ImplAt<FloatPack>>(registry, algorithm, setup, options);
  } else {
    impl_ = std::make_unique<ImplAt<Pack>>(registry, algorithm, setup, options);
  }
  impl_->model_->pack_code();  // finds it now, not in a call
}

Batch::~Batch() = default;

const Model& Batch::model() const { return *impl_->model_; }

int Batch::threads() const { return impl_->threads_.count(); }

Precision Batch::precision() const { return impl_->options_.precision; }

const std::vector<Result>& Batch::results() const { return impl_->shapes_; }

void Batch::set_gravity(const Vec3<double>& g) { impl_->set_gravity(g); }

void Batch::evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                     std::span<BatchStatus> status) {
  impl_->evaluate(N, in, out, status);
}

}  // namespace espalier
