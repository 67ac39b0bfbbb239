// Replies of processes in which a plugin runs, which may print any.
#include "core/verdict.hpp"
#include "process/messages.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

namespace process = kzoo::process;

// What comes of a reply that is read as a list of numbers below "n".
std::string read(const std::string& text) {
  try {
    process::read_reply("before\n" + std::string(process::kReply) + text + "\nafter", "it ended",
                        [](const auto& answer) {
                          for (const auto& n : answer.at("n"))
                            static_cast<void>(n.template get<int>());
                        });
  } catch (const kzoo::failure& f) {
    return std::string(name_of(f.verdict)) + ": " + f.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("a reply that no child of ours prints is an error, and a short one", "[process]") {
  CHECK(read(R"({"answer": {"n": [1, 2]}})") == "read");
  CHECK(read(R"({"verdict": "wrong", "reason": "a\nb\u2028c"})") == R"(wrong: a b\u2028c)");
  const std::string deep(1'000'000, '[');
  for (const std::string& forged :
       {std::string("{"), std::string("[]"), std::string("3"), std::string("null"), std::string(),
        std::string(R"({"answer": 1})"), std::string(R"({"answer": {"n": ["x"]}})"),
        std::string(R"({"verdict": [], "reason": {}})"), std::string(R"({"verdict": "pass"})"),
        std::string(R"({"answer": {"n": [1e999]}})"), deep,
        R"({"answer": {"n": )" + deep + std::string(deep.size(), ']') + "}}",
        R"({"answer": {"n": [")" + std::string(1'000'000, 'x') + "\"]}}",
        "\"" + std::string(1'000'000, '\xff') + "\""}) {
    const std::string said = read(forged);
    INFO(forged.substr(0, 40) << " is " << said.substr(0, 200));
    CHECK_THAT(said, Catch::Matchers::StartsWith("error: "));
    CHECK(said.size() < 10'000);
  }
  CHECK_THAT(read(R"({"verdict": "error", "reason": ")" + std::string(1'000'000, 'x') + "\"}"),
             Catch::Matchers::StartsWith("error: xxx"));
  CHECK(read(R"({"verdict": "error", "reason": ")" + std::string(1'000'000, 'x') + "\"}").size() <
        10'000);
}

TEST_CASE("no process can add seals to a file that a plugin has", "[process]") {
  const process::shared_memory output;
  const process::shared_pages matrices;
  const process::output_log log;
  for (const int fd : {output.fd(), matrices.fd(), log.fd()})
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW) != 0);
}
