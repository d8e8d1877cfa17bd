#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

// With cold caches a call waits for each page of code that it comes to, and a library of its own
// is the most distant one. A call is taken step by step, and its pages are looked at, and how often
// it asks for what it comes to (chains/units/ask_ahead.hpp).

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

constexpr std::uintptr_t page_size = 4096;
constexpr int most_pages = 512;
std::uintptr_t pages[most_pages];
int page_count = 0;
int asked_count = 0;

void on_step(int, siginfo_t*, void* context) {
  const auto at = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto* code = reinterpret_cast<const unsigned char*>(at);
  if (*code >= 0x40 && *code <= 0x4f) ++code;  // says which registers
  if (code[0] == 0x0f && code[1] == 0x18) ++asked_count;
  const std::uintptr_t page = static_cast<std::uintptr_t>(at) / page_size;
  for (int k = page_count; k-- > 0;) {
    if (pages[k] == page) return;
  }
  if (page_count < most_pages) pages[page_count++] = page;
}

/// Pages of code of a call, by the file name of their library.
template <class F>
std::multiset<std::string> code_pages(F&& call) {
  call();  // binds what is bound at the first call
  struct sigaction steps {
  }, before{};
  steps.sa_sigaction = on_step;
  steps.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &steps, &before);
  page_count = asked_count = 0;
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
  std::multiset<std::string> libraries;
  for (int k = 0; k < page_count; ++k) {
    Dl_info info{};
    const std::uintptr_t last = pages[k] * page_size + page_size - 1;
    const bool known = dladdr(reinterpret_cast<void*>(last), &info) != 0;
    const std::string file = known && info.dli_fname != nullptr ? info.dli_fname : "";
    libraries.insert(file.substr(file.rfind('/') + 1));
  }
  return libraries;
}

/// Pages in libraries whose names start so.
long of(const std::string& start, const std::multiset<std::string>& pages_of) {
  return std::count_if(pages_of.begin(), pages_of.end(),
                       [&](const std::string& name) { return name.starts_with(start); });
}

class CodePagesTest : public testing::Test {
 protected:
  ModelPtr model_ = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  State s_ = random_state(*model_, 5);
  std::vector<double> out_ = std::vector<double>(36);

  /// That a call goes to its own plugin alone, and to few pages of it.
  /// @param most  pages
  void expect_few(const std::multiset<std::string>& pages_of, const std::string& plugin,
                  [[maybe_unused]] int most) {
    EXPECT_GE(of(plugin, pages_of), 2);
#ifdef __clang__  // others place code in their own way
    EXPECT_LE(of(plugin, pages_of), most);
#endif
    for (const char* library : {"libespalier", "espalier_joints"}) {
      EXPECT_EQ(of(library, pages_of), 0) << library;
    }
  }
};

TEST_F(CodePagesTest, ForwardDynamicsOfAnArmStaysInItsPlugin) {
  const auto aba = host().create<ForwardDynamics<double>>("aba", model_);
  const auto pages_of = code_pages([&] { aba->evaluate(s_.q, s_.v, s_.tau, Out(out_.data(), 6)); });
  expect_few(pages_of, "espalier_forward_dynamics", 12);
}

TEST_F(CodePagesTest, InverseDynamicsOfAnArmStaysInItsPlugin) {
  const auto rnea = host().create<InverseDynamics<double>>("rnea", model_);
  const auto pages_of =
      code_pages([&] { rnea->evaluate(s_.q, s_.v, s_.vdot, Out(out_.data(), 6)); });
  expect_few(pages_of, "espalier_inverse_dynamics", 8);
}

TEST_F(CodePagesTest, InverseDynamicsOfAnArmAsksForCodeAndNumbers) {
  constexpr int pages_of_code = 6, lines_of_numbers = 10;
  constexpr int most = 24;  // each costs an instruction or two where caches are warm
  const auto rnea = host().create<InverseDynamics<double>>("rnea", model_);
  code_pages([&] { rnea->evaluate(s_.q, s_.v, s_.vdot, Out(out_.data(), 6)); });
  EXPECT_GE(asked_count, pages_of_code + lines_of_numbers);
  EXPECT_LE(asked_count, most);
}

TEST_F(CodePagesTest, MassMatrixOfAnArmStaysInItsPlugin) {
  const auto crba = host().create<MassMatrix<double>>("crba", model_);
  const auto pages_of = code_pages([&] { crba->evaluate(s_.q, out_); });
  expect_few(pages_of, "espalier_mass_matrix", 6);
}

}  // namespace
}  // namespace espalier::test::code_pages_test

#endif
