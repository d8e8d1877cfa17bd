#include <filesystem>
#include <fstream>
#include <iterator>

#include "espalier/kernel/format.hpp"
#include "tests/support/host.hpp"
#include "tests/torture/agreement.hpp"

namespace espalier::torture {

namespace {

namespace fs = std::filesystem;

struct Seed {
  std::string path, text;
};

/// Robots of the repository and the fuzz targets' seeds, none of them large.
const std::vector<Seed>& seeds() {
  static const std::vector<Seed> all = [] {
    std::vector<Seed> found;
    for (const char* folder : {"robots", "tests/fuzz/corpus", "tests/cli/data", "tests/data"}) {
      for (const auto& entry :
           fs::recursive_directory_iterator(fs::path(ESPALIER_SOURCE_DIR) / folder)) {
        const std::string ending = entry.path().extension();
        if (!entry.is_regular_file() || entry.file_size() > 60'000) continue;
        if (ending != ".yaml" && ending != ".urdf" && ending != ".sdf" && ending != ".xml")
          continue;
        std::ifstream file(entry.path(), std::ios::binary);
        found.push_back({entry.path(), {std::istreambuf_iterator<char>(file), {}}});
      }
    }
    std::sort(found.begin(), found.end(),
              [](const Seed& a, const Seed& b) { return a.path < b.path; });
    return found;
  }();
  return all;
}

const std::string& word(Rng& rng) {
  static const std::vector<std::string> words{"0",
                                              "-0",
                                              "-1",
                                              "1e308",
                                              "-1e308",
                                              "1e-320",
                                              "1e9",
                                              "nan",
                                              "inf",
                                              "-inf",
                                              "0x1p3",
                                              "1,5",
                                              "1e",
                                              "99999999999999999999",
                                              "\"",
                                              "'",
                                              "<",
                                              ">",
                                              "/>",
                                              "</",
                                              "&lt;",
                                              "&#0;",
                                              "]]>",
                                              "<!--",
                                              "{",
                                              "}",
                                              "[",
                                              "]",
                                              ": ",
                                              "- ",
                                              "*a",
                                              "&a ",
                                              "$(",
                                              "$(pi)",
                                              "$(1/0)",
                                              "!!float ",
                                              "\t",
                                              "\r\n",
                                              "~",
                                              "null",
                                              "\xef\xbb\xbf",
                                              "\xff",
                                              std::string(1, '\0'),
                                              std::string(3000, 'x'),
                                              std::string(60, '['),
                                              "true",
                                              "joints",
                                              "links",
                                              "parent",
                                              "child",
                                              "revolute",
                                              "floating",
                                              "espalier: 1",
                                              "include: [x]"};
  return words[rng.below(static_cast<int>(words.size()))];
}

/// Where a line begins and ends, the newline included.
std::pair<std::size_t, std::size_t> line_at(const std::string& text, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  return {begin, std::min(text.find('\n', at), text.size() - 1) + 1};
}

/// Where some number begins and ends.
std::pair<std::size_t, std::size_t> number_at(const std::string& text, std::size_t at) {
  constexpr const char* digits = "0123456789.eE+-";
  const std::size_t begin = text.find_first_of("0123456789", at);
  if (begin == text.npos) return {at, at};
  return {begin, std::min(text.find_first_not_of(digits, begin), text.size())};
}

void mutate(Rng& rng, std::string& text) {
  for (int k = 1 + rng.below(4); k-- > 0 && !text.empty();) {
    const std::size_t at = rng.below(static_cast<int>(text.size()));
    const auto [begin, end] = line_at(text, at);
    switch (rng.below(10)) {
      case 0:
        text[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(at, 1 + rng.below(20));
        break;
      case 2:
        text.insert(at, word(rng));
        break;
      case 3:
        text.erase(begin, end - begin);
        break;
      case 4:
        text.insert(begin, text.substr(begin, end - begin));
        break;
      case 5: {  // a line of elsewhere
        const auto [b, e] = line_at(text, rng.below(static_cast<int>(text.size())));
        text.insert(begin, text.substr(b, e - b));
        break;
      }
      case 6:
        text.resize(at);
        break;
      case 7: {  // a piece of another file
        const std::string& other = seeds()[rng.below(static_cast<int>(seeds().size()))].text;
        const std::size_t from = rng.below(static_cast<int>(other.size()));
        text.insert(at, other.substr(from, 1 + rng.below(400)));
        break;
      }
      default: {
        const auto [b, e] = number_at(text, at);
        text.replace(b, e - b, word(rng));
        break;
      }
    }
  }
}

/// Reads, compiles and runs; whatever could be read is written in every format and read again.
Outcome use(const Registry& registry, const std::string& path, const std::string& text, Rng& rng) {
  Outcome out;
  const Description robot = registry.format_for(path).read(text, path, registry);
  ++out.counts["files read"];
  for (const Entry* e : registry.entries(espalier::Kind::format)) {
    std::string written;
    try {
      e->format->losses(robot);
      written = e->format->write(robot);
    } catch (const Error&) {
      continue;
    }
    ++out.counts["files written"];
    const std::string name = "/nowhere/written" + std::string(e->format->extensions().front());
    try {
      e->format->read(written, name, registry);
    } catch (const Error& error) {
      return defect(e->about.name + " cannot read what it wrote", error.what());
    }
  }
  const ModelPtr model = Model::compile(robot, registry);
  ++out.counts["robots compiled"];
  if (model->nv() > 60) return out;
  Outcome agreed = agree(model, rng, 0);
  if (agreed.verdict == Outcome::Verdict::defect)
    agreed.particulars = path + ": " + agreed.particulars;
  agreed.counts.merge(out.counts);
  return agreed;
}

Outcome run(std::uint64_t number) {
  Rng rng(number);
  const Registry& registry = test::host().registry();
  const Seed& seed = seeds()[rng.below(static_cast<int>(seeds().size()))];
  std::string text = seed.text;
  mutate(rng, text);
  try {
    return use(registry, seed.path, text, rng);
  } catch (const Error& error) {
    Outcome out = refusal(error.what());
    if (out.verdict == Outcome::Verdict::defect)
      out.particulars = seed.path + ": " + out.particulars;
    return out;
  }
}

}  // namespace

Kind files() {
  seeds();
  return {"files", "mutated files of every format: read, written, compiled, computed, or refused",
          0.25, 30.0, run};
}

}  // namespace espalier::torture
