#include "tests/subsystems/bench.hpp"

/// What every registered law has to satisfy, hand-written derivatives or not. A law that is
/// registered is tested here, with the parameters of its sample().

namespace espalier::law_conformance_test {
namespace {

using namespace test;

/// Fourth-order differences at a step of 1e-3 (see derivative()) of functions whose derivatives are
/// at most the largest ratio of the samples, 30.
constexpr double differences = 1e-9;
/// Numbers up to 100 that went through some ten operations.
constexpr double rounding = 1e-12;

class LawConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  LawConformanceTest()
      : type_(registry().law(GetParam())),
        law_(type_.make(spec_of(GetParam(), type_.sample()))),
        n_(law_->positions()),
        m_(law_->equations()) {}

  std::vector<double> phi(const std::vector<double>& q) const {
    std::vector<double> out(m_);
    law_->phi(q.data(), out.data());
    return out;
  }
  std::vector<double> K(const std::vector<double>& q) const {
    std::vector<double> out(m_ * n_);
    std::vector<double> terms(law_->terms());
    law_->jacobian(q.data(), out.data(), terms.data());
    return out;
  }
  /// By way of K, which leaves the terms.
  std::vector<double> k(const std::vector<double>& q, const std::vector<double>& qd) const {
    std::vector<double> K(m_ * n_), terms(law_->terms()), out(m_);
    law_->jacobian(q.data(), K.data(), terms.data());
    law_->bias(q.data(), qd.data(), terms.data(), out.data());
    return out;
  }
  std::vector<double> K_times(const std::vector<double>& q, const std::vector<double>& qd) const {
    const std::vector<double> k = K(q);
    std::vector<double> out(m_, 0.0);
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < n_; ++j) out[i] += k[i * n_ + j] * qd[j];
    }
    return out;
  }

  const LawType& type_;
  std::unique_ptr<Law> law_;
  int n_, m_;
  Rng rng_{11};
};

TEST_P(LawConformanceTest, SizesFitTogether) {
  EXPECT_EQ(type_.positions(), n_);
  EXPECT_GT(m_, 0);
  EXPECT_LT(m_, n_);
  EXPECT_GE(law_->branches(), law_->is_explicit() ? 1 : 0);
}

TEST_P(LawConformanceTest, ExplainsItself) {
  const Entry& e = registry().find(Kind::law, GetParam());
  EXPECT_FALSE(e.about.summary.empty());
  EXPECT_FALSE(e.about.source.empty());
}

TEST_P(LawConformanceTest, KIsTheDerivativeOfPhiAlongEveryLine) {
  for (int sample = 0; sample < 20; ++sample) {
    const auto q = rng_.vector(n_), qd = rng_.vector(n_);
    const auto rate = derivative([&](double t) { return phi(combined(q, t, qd)); });
    EXPECT_LT(largest_difference(K_times(q, qd), rate), differences);
  }
}

TEST_P(LawConformanceTest, MinusKIsTheDerivativeOfKTimesTheRates) {
  for (int sample = 0; sample < 20; ++sample) {
    const auto q = rng_.vector(n_), qd = rng_.vector(n_);
    auto rate = derivative([&](double t) { return K_times(combined(q, t, qd), qd); });
    for (double& x : rate) x = -x;
    EXPECT_LT(largest_difference(k(q, qd), rate), differences);
  }
}

/// Values and derivatives along a direction, as dual numbers have them.
std::vector<Dual<double>> dual(const std::vector<double>& x, const std::vector<double>& along) {
  std::vector<Dual<double>> out;
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back({x[i], along[i]});
  return out;
}

TEST_P(LawConformanceTest, DualNumbersAreDerivativesOfAllThatALawSays) {
  for (int sample = 0; sample < 10; ++sample) {
    std::array<std::vector<double>, 5> at, along;
    for (auto* all : {&at, &along}) {
      for (auto& x : *all) x = rng_.vector(n_);
    }
    const auto moved = [&](int k, double t) { return combined(at[k], t, along[k]); };
    const auto all = [&](double t) {
      std::vector<double> out = K(moved(0, t)), d(m_), dd(m_);
      const auto k = this->k(moved(0, t), moved(1, t));
      out.insert(out.end(), k.begin(), k.end());
      law_->vary(moved(0, t).data(), moved(1, t).data(), moved(2, t).data(), moved(3, t).data(),
                 moved(4, t).data(), d.data(), dd.data());
      out.insert(out.end(), d.begin(), d.end());
      out.insert(out.end(), dd.begin(), dd.end());
      return out;
    };
    std::array<std::vector<Dual<double>>, 5> x;
    for (int k = 0; k < 5; ++k) x[k] = dual(at[k], along[k]);
    std::vector<Dual<double>> found(m_ * n_ + 3 * m_), terms(law_->terms());
    law_->jacobian(x[0].data(), found.data(), terms.data());
    law_->bias(x[0].data(), x[1].data(), terms.data(), found.data() + m_ * n_);
    law_->vary(x[0].data(), x[1].data(), x[2].data(), x[3].data(), x[4].data(),
               found.data() + m_ * n_ + m_, found.data() + m_ * n_ + 2 * m_);
    const auto values = all(0.0), rates = derivative(all);
    // Derivatives of order four are the largest.
    const double size = std::max(1.0, largest(rates));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].x, values[i], rounding * std::max(1.0, largest(values)));
      EXPECT_NEAR(found[i].d, rates[i], 1e2 * differences * size);
    }
  }
}

TEST_P(LawConformanceTest, PackLanesAndCountsAgreeWithDoubles) {
  for (int sample = 0; sample < 10; ++sample) {
    std::vector<std::vector<double>> q, qd;
    std::vector<Pack> pack_q(n_), pack_qd(n_), pack_phi(m_), pack_K(m_ * n_), pack_k(m_);
    std::vector<Pack> pack_terms(law_->terms());
    for (int lane = 0; lane < Pack::size; ++lane) {
      q.push_back(rng_.vector(n_)), qd.push_back(rng_.vector(n_));
      for (int i = 0; i < n_; ++i) {
        pack_q[i].set(lane, q.back()[i]), pack_qd[i].set(lane, qd.back()[i]);
      }
    }
    law_->phi(pack_q.data(), pack_phi.data());
    law_->jacobian(pack_q.data(), pack_K.data(), pack_terms.data());
    law_->bias(pack_q.data(), pack_qd.data(), pack_terms.data(), pack_k.data());
    for (int lane = 0; lane < Pack::size; ++lane) {
      const auto phi = this->phi(q[lane]), K = this->K(q[lane]), k = this->k(q[lane], qd[lane]);
      std::vector<Count> count_q(q[lane].begin(), q[lane].end());
      std::vector<Count> count_qd(qd[lane].begin(), qd[lane].end());
      std::vector<Count> count_phi(m_), count_K(m_ * n_), count_k(m_), count_terms(law_->terms());
      law_->phi(count_q.data(), count_phi.data());
      law_->jacobian(count_q.data(), count_K.data(), count_terms.data());
      law_->bias(count_q.data(), count_qd.data(), count_terms.data(), count_k.data());
      for (int i = 0; i < m_; ++i) {
        EXPECT_NEAR(pack_phi[i][lane], phi[i], rounding);
        EXPECT_NEAR(count_phi[i].value(), phi[i], rounding);
        EXPECT_NEAR(pack_k[i][lane], k[i], rounding);
        EXPECT_NEAR(count_k[i].value(), k[i], rounding);
      }
      for (int i = 0; i < m_ * n_; ++i) {
        EXPECT_NEAR(pack_K[i][lane], K[i], rounding);
        EXPECT_NEAR(count_K[i].value(), K[i], rounding);
      }
    }
  }
}

class ExplicitLawTest : public LawConformanceTest {};
TEST_P(ExplicitLawTest, KIsAUnitMatrixInWhatFollows) {
  const auto K = this->K(rng_.vector(n_));
  for (int i = 0; i < m_; ++i) {
    for (int j = 0; j < m_; ++j) EXPECT_EQ(K[i * n_ + n_ - m_ + j], i == j ? 1.0 : 0.0);
  }
}

class ClosedFormLawTest : public LawConformanceTest {};
TEST_P(ClosedFormLawTest, MeetsPhiOnEveryBranch) {
  for (int branch = 0; branch < law_->branches(); ++branch) {
    int solved = 0;
    for (int sample = 0; sample < 50; ++sample) {
      auto q = rng_.vector(n_, 2.0);
      const auto given = q;
      if (!law_->solve(q.data(), branch)) continue;
      ++solved;
      EXPECT_LT(largest(phi(q)), rounding) << "branch " << branch;
      for (int i = 0; i < n_ - m_; ++i) EXPECT_EQ(q[i], given[i]);
    }
    EXPECT_GT(solved, 10) << "branch " << branch;
  }
}

class BranchedLawTest : public LawConformanceTest {};
TEST_P(BranchedLawTest, BranchesAreDifferentAssemblies) {
  auto q = std::vector<double>(n_, 0.1), other = q;
  ASSERT_TRUE(law_->solve(q.data(), 0));
  ASSERT_TRUE(law_->solve(other.data(), 1));
  EXPECT_GT(largest_difference(q, other), 1e-3);
}

/// The laws of which something is true.
template <class Predicate>
std::vector<std::string> laws_with(Predicate&& predicate) {
  std::vector<std::string> names;
  for (const Entry* e : registry().entries(Kind::law)) {
    if (predicate(*make_law(e->about.name, e->law->sample()))) names.push_back(e->about.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, LawConformanceTest, ::testing::ValuesIn(names_of(Kind::law)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, ExplicitLawTest, ::testing::ValuesIn(laws_with([](const Law& law) {
                           return law.is_explicit();
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, ClosedFormLawTest, ::testing::ValuesIn(laws_with([](const Law& law) {
                           return law.branches() > 0;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, BranchedLawTest, ::testing::ValuesIn(laws_with([](const Law& law) {
                           return law.branches() > 1;
                         })),
                         name_of);

}  // namespace
}  // namespace espalier::law_conformance_test
