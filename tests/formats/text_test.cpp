#include "formats/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/formats/support.hpp"

namespace espalier::text_test {
namespace {

using namespace formats;

TEST(NumberTest, WhiteSpaceSignAndExponentAreAccepted) {
  EXPECT_EQ(parse_number(" \t\n 1.5 \r\n"), 1.5);
  EXPECT_EQ(parse_number("+1.5"), 1.5);
  EXPECT_EQ(parse_number("-1.5E+2"), -150.0);
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  EXPECT_EQ(parse_number("1."), 1.0);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number("007"), 7.0);
}

TEST(NumberTest, AnythingElseIsRefused) {
  for (const char* text :
       {"",    " ",   "+",   "-",     ".",     "1,5", "1 2",  "1e",  "0x10", "1.5m",    "++1",
        "+-1", "- 1", "one", "1.5.2", "1e999", "inf", "-inf", "nan", "NaN",  "infinity"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

TEST(NumberTest, ListsAreSeparatedByAnyWhiteSpace) {
  EXPECT_EQ(parse_numbers(" 1\t-2e1\n+3 "), (std::vector<double>{1, -20, 3}));
  EXPECT_EQ(parse_numbers(""), std::vector<double>{});
  EXPECT_FALSE(parse_numbers("1, 2, 3"));
  EXPECT_FALSE(parse_numbers("1 nan 3"));
}

TEST(NumberTest, WrittenNumbersReadBackToTheLastBit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(parse_number(number_text(value, "test")), value);
  }
  EXPECT_EQ(number_text(0.1, "test"), "0.1");
  EXPECT_EQ(number_text(6.0, "test"), "6");
}

TEST(NumberTest, NumbersThatAreNotFiniteAreNotWritten) {
  const double infinity = std::numeric_limits<double>::infinity();
  test::expect_in(test::message_of<Unsupported>([&] { number_text(infinity, "joint 'x'"); }),
                  {"joint 'x'", "not finite"});
}

TEST(BoolTest, TheUsualSpellingsAreAccepted) {
  for (const char* text : {"true", "True", "TRUE", "1", " true "}) {
    EXPECT_EQ(parse_bool(text), true) << text;
  }
  for (const char* text : {"false", "False", "FALSE", "0"}) EXPECT_EQ(parse_bool(text), false);
  EXPECT_FALSE(parse_bool("yes"));
  EXPECT_FALSE(parse_bool(""));
}

TEST(QuotingTest, LongTextsAreCutAndControlCharactersReplaced) {
  EXPECT_EQ(in_quotes("a\nb"), "'a b'");
  EXPECT_LT(in_quotes(std::string(100'000, 'x')).size(), 100u);
}

}  // namespace
}  // namespace espalier::text_test
