#include <gtest/gtest.h>

#include "benchmarks/markdown.hpp"
#include "benchmarks/operations/report.hpp"
#include "benchmarks/sensors/tables.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

// Counts of operations do not depend on the machine: what docs/ prints is what comes out.

namespace espalier::bench::count_tables_test {
namespace {

using Sections = std::vector<std::pair<std::string, std::string>>;

void expect_printed(const std::string& page, const Sections& sections, const std::string& command) {
  const std::string path = ESPALIER_SOURCE_DIR "/docs/" + page;
  ASSERT_FALSE(sections.empty());
  for (const auto& [name, text] : sections) {
    EXPECT_EQ(where_different(path, name, text, command), "");
  }
}

TEST(CountTablesTest, OperationsAreThoseOfTheDocs) {
  const Study counted = study(test::host(), [](const std::string&) {});
  expect_printed("operations.md", operation_sections(counted), operations_command);
  EXPECT_EQ(where_dearer(counted), std::vector<std::string>{});
}

TEST(CountTablesTest, SensorsAreThoseOfTheDocs) {
  expect_printed("sensors.md", count_sections(sensor_counts(test::host())), sensors_command);
}

TEST(CountTablesTest, ADifferentLineIsNamed) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "sections.md";
  replace_section(path, "counts", "one\ntwo\n");
  EXPECT_EQ(section_of(path, "counts"), "one\ntwo\n");
  EXPECT_EQ(where_different(path, "counts", "one\ntwo\n", "it"), "");
  EXPECT_EQ(where_different(path, "counts", "one\n2\n", "it"),
            path + ": line 2 of section 'counts' is 'two', expected '2' (it writes it)");
  EXPECT_NE(where_different(path, "counts", "one\n", "it"), "");
  EXPECT_NE(where_different(path, "counts", "one\ntwo\nthree\n", "it"), "");
  EXPECT_THROW(section_of(path, "times"), std::runtime_error);
}

}  // namespace
}  // namespace espalier::bench::count_tables_test
