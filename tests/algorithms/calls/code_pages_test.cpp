#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

// With cold caches a call waits for each page and each line of code that it comes to, and a library
// of its own is the most distant one. A call is taken step by step, and its pages and lines are
// looked at, and how often it asks for what it comes to (chains/units/ask_ahead.hpp).

#ifdef __has_feature
#define ESPALIER_HAS_FEATURE(x) __has_feature(x)
#else
#define ESPALIER_HAS_FEATURE(x) 0
#endif
// Other builds call more, and sanitizers step in between.
#if defined(__x86_64__) && defined(__linux__) && defined(NDEBUG) &&               \
    !defined(__SANITIZE_ADDRESS__) && !ESPALIER_HAS_FEATURE(address_sanitizer) && \
    !ESPALIER_HAS_FEATURE(thread_sanitizer)

#include <ucontext.h>

namespace espalier::test::code_pages_test {
namespace {

/// Pieces of code that a call comes to.
template <int size>
struct Pieces {
  static constexpr int most = 2048;
  std::uintptr_t number[most];
  int count = 0;

  void add(std::uintptr_t at) {
    for (int k = count; k-- > 0;) {
      if (number[k] == at / size) return;
    }
    if (count < most) number[count++] = at / size;
  }
  /// How many are in a library whose name starts so.
  int in(const std::string& start) const {
    return static_cast<int>(std::count_if(number, number + count, [&](std::uintptr_t piece) {
      Dl_info info{};
      const bool known = dladdr(reinterpret_cast<void*>(piece * size + size - 1), &info) != 0;
      const std::string file = known && info.dli_fname != nullptr ? info.dli_fname : "";
      return file.substr(file.rfind('/') + 1).starts_with(start);
    }));
  }
};
Pieces<4096> pages;
Pieces<64> lines, lines_with_avx;
int asked_count = 0;

void on_step(int, siginfo_t*, void* context) {
  const auto at = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto* code = reinterpret_cast<const unsigned char*>(at);
  if (code[0] == 0xc4 || code[0] == 0xc5 || code[0] == 0x62) {
    lines_with_avx.add(static_cast<std::uintptr_t>(at));
  }
  if (*code >= 0x40 && *code <= 0x4f) ++code;  // says which registers
  if (code[0] == 0x0f && code[1] == 0x18) ++asked_count;
  pages.add(static_cast<std::uintptr_t>(at)), lines.add(static_cast<std::uintptr_t>(at));
}

/// Sees what a call comes to.
template <class F>
void step_through(F&& call) {
  call();  // binds what is bound at the first call
  struct sigaction steps {
  }, before{};
  steps.sa_sigaction = on_step;
  steps.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &steps, &before);
  pages.count = lines.count = lines_with_avx.count = asked_count = 0;
  constexpr int trap_flag = 0x100, red_zone = 128;
  asm volatile(
      "sub %1, %%rsp; pushfq; orq %0, (%%rsp); popfq; lea %c1(%%rsp), %%rsp" ::"i"(trap_flag),
      "i"(red_zone)
      : "memory", "cc");
  call();
  asm volatile(
      "lea -%c1(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); popfq; lea %c1(%%rsp), %%rsp" ::"i"(
          ~trap_flag),
      "i"(red_zone)
      : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
}

class CodePagesTest : public testing::Test {
 protected:
  ModelPtr model_ = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  State s_ = random_state(*model_, 5);
  std::vector<double> out_ = std::vector<double>(36);

  /// That the call goes to its own plugin alone, and to few pages and lines of it.
  /// @param most_lines  where the plugin has AVX, without which code is longer
  void expect_few(const std::string& plugin, [[maybe_unused]] int most_pages,
                  [[maybe_unused]] int most_lines) {
    EXPECT_GE(pages.in(plugin), 2);
    RecordProperty("lines", lines.in(plugin));
#ifdef __clang__  // others place code in their own way
    EXPECT_LE(pages.in(plugin), most_pages);
    if (lines_with_avx.in(plugin) > 0) EXPECT_LE(lines.in(plugin), most_lines);
#endif
    for (const char* library : {"libespalier", "espalier_joints"}) {
      EXPECT_EQ(pages.in(library), 0) << library;
    }
  }
};

TEST_F(CodePagesTest, ForwardDynamicsOfAnArmStaysInItsPlugin) {
  const auto aba = host().create<ForwardDynamics<double>>("aba", model_);
  step_through([&] { aba->evaluate(s_.q, s_.v, s_.tau, Out(out_.data(), 6)); });
  expect_few("espalier_forward_dynamics", 10, 128);
}

TEST_F(CodePagesTest, InverseDynamicsOfAnArmStaysInItsPlugin) {
  const auto rnea = host().create<InverseDynamics<double>>("rnea", model_);
  step_through([&] { rnea->evaluate(s_.q, s_.v, s_.vdot, Out(out_.data(), 6)); });
  expect_few("espalier_inverse_dynamics", 7, 90);
}

TEST_F(CodePagesTest, InverseDynamicsOfAnArmAsksForCodeAndNumbers) {
  constexpr int pages_of_code = 6, lines_of_numbers = 10;
  constexpr int most = 24;  // each costs an instruction or two where caches are warm
  const auto rnea = host().create<InverseDynamics<double>>("rnea", model_);
  step_through([&] { rnea->evaluate(s_.q, s_.v, s_.vdot, Out(out_.data(), 6)); });
  EXPECT_GE(asked_count, pages_of_code + lines_of_numbers);
  EXPECT_LE(asked_count, most);
}

TEST_F(CodePagesTest, MassMatrixOfAnArmStaysInItsPlugin) {
  const auto crba = host().create<MassMatrix<double>>("crba", model_);
  step_through([&] { crba->evaluate(s_.q, out_); });
  expect_few("espalier_mass_matrix", 6, 100);
}

}  // namespace
}  // namespace espalier::test::code_pages_test

#endif
