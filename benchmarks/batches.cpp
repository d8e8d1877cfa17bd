#include "benchmarks/batches.hpp"

#include <thread>

namespace espalier::bench {

namespace {

/// Of floats rounding is compared, not a formula, which that of doubles has proved: nothing like
/// the size of a result may be lost. What is lost is shown.
constexpr double float_agreement = 1e-1;

/// Espalier's algorithm for forward or inverse dynamics, many states in one call.
class OurBatch final : public Contestant {
 public:
  OurBatch(const Host& host, const ModelPtr& model, const std::vector<RandomState>& states,
           Work what, const std::string& name, const BatchKind& kind, int size)
      : Contestant(what, "Espalier", batch_name(name, kind.suffix, size), kind.agreement),
        size_(size),
        batch_(what == Work::forward ? host.batch<ForwardDynamics>(name, model, kind.options)
                                     : host.batch<InverseDynamics>(name, model, kind.options)),
        q_(gathered(states, &RandomState::q, size)),
        v_(gathered(states, &RandomState::v, size)),
        third_(
            gathered(states, what == Work::forward ? &RandomState::tau : &RandomState::vdot, size)),
        out_(v_.size()) {}
  void call(int) override {
    if (work == Work::forward) {
      batch_->evaluate(size_, {.q = q_, .v = v_, .tau = third_}, {{"vdot", out_}});
    } else {
      batch_->evaluate(size_, {.q = q_, .v = v_, .vdot = third_}, {{"tau", out_}});
    }
  }
  std::vector<double> result(int k) override {
    std::vector<double> one;
    for (std::size_t i = k; i < out_.size(); i += size_) one.push_back(out_[i]);
    return one;
  }
  int states() const override { return size_; }
  bool threaded() const override { return batch_->threads() > 1; }

 private:
  static std::vector<double> gathered(const std::vector<RandomState>& states,
                                      std::vector<double> RandomState::*member, int size) {
    std::vector<double> all((states[0].*member).size() * size);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = (states[i % size % state_count].*member)[i / size];
    }
    return all;
  }

  const int size_;
  std::unique_ptr<Batch> batch_;
  std::vector<double> q_, v_, third_, out_;
};

}  // namespace

std::vector<BatchKind> batch_kinds() {
  std::vector<BatchKind> kinds{{"", {.threads = 1}, rounding}};
  if (std::thread::hardware_concurrency() >= 2) {
    kinds.push_back({", 2 threads", {.threads = 2}, rounding});
  }
  kinds.push_back({", float", {.threads = 1, .precision = Precision::floats}, float_agreement});
  return kinds;
}

std::string batch_name(const std::string& algorithm, const std::string& suffix, int size) {
  return algorithm + " x " + std::to_string(size) + suffix;
}

void add_batch(const Host& host, const ModelPtr& model, const std::vector<RandomState>& states,
               Work work, const std::string& algorithm, const BatchKind& kind, int size,
               Contestants& all) {
  all.push_back(std::make_unique<OurBatch>(host, model, states, work, algorithm, kind, size));
}

void add_batches(const Host& host, const ModelPtr& model, const std::vector<RandomState>& states,
                 Work work, const std::string& algorithm, Contestants& all) {
  for (const BatchKind& kind : batch_kinds()) {
    add_batch(host, model, states, work, algorithm, kind, batch_size, all);
  }
}

}  // namespace espalier::bench
