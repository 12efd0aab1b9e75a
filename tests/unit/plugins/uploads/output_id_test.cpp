#include "plugins/uploads/output_id.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "plugins/uploads/base64url.hpp"
#include "plugins/uploads/hmac.hpp"

using namespace portico::uploads;

namespace {

const std::string secret(32, 's');
const output sample{"7f9c24e8-3b12-4d1a-9c6e-0123456789ab", {"a b.png", "sub", "output"}};

std::string sign(const std::string& json) {
  const std::string payload = base64url(json);
  return payload + "." + base64url(hmac_sha256(secret, payload));
}

}  // namespace

TEST_CASE("an output id says again what it was minted from") {
  const output_ids ids(secret);
  const auto out = ids.open(ids.mint(sample));
  REQUIRE(out);
  CHECK(out->job_id == sample.job_id);
  CHECK(out->file.name == "a b.png");
  CHECK(out->file.subfolder == "sub");
  CHECK(out->file.type == "output");
}

TEST_CASE("an output id is deterministic, has exactly one dot, and differs by job") {
  const output_ids ids(secret);
  const std::string id = ids.mint(sample);
  CHECK(id == ids.mint(sample));
  CHECK(std::count(id.begin(), id.end(), '.') == 1);
  CHECK(id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos);
  output other = sample;
  other.job_id.back() = 'c';
  CHECK(ids.mint(other) != id);
}

TEST_CASE("an output id is the contract's JSON and HMAC, byte for byte") {
  CHECK(output_ids(secret).mint(sample) ==
        sign(R"({"j":"7f9c24e8-3b12-4d1a-9c6e-0123456789ab","f":"a b.png","s":"sub","t":"output"})"));
}

TEST_CASE("no altered output id is accepted") {
  const output_ids ids(secret);
  const std::string id = ids.mint(sample);
  static constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (std::size_t i = 0; i < id.size(); ++i) {  // every other character at every place: all bit flips, and more
    for (const char c : std::string(alphabet) + ".=+/ ") {
      if (c == id[i]) continue;
      std::string altered = id;
      altered[i] = c;
      INFO(altered);
      CHECK_FALSE(ids.open(altered));
    }
    CHECK_FALSE(ids.open(id.substr(0, i)));
  }
}

TEST_CASE("an output id has one text form") {
  const output_ids ids(secret);
  const std::string id = ids.mint(output{"j", {"\xc3\xbf\xc3\xbe?>~~~.png", "", "output"}});
  const std::size_t dot = id.find('.');
  CHECK(ids.open(id));
  CHECK_FALSE(ids.open(id.substr(0, dot)));
  CHECK_FALSE(ids.open(id.substr(0, dot) + "."));
  CHECK_FALSE(ids.open(id + "="));
  CHECK_FALSE(ids.open(id + "=="));
  CHECK_FALSE(ids.open(id.substr(0, dot) + "=" + id.substr(dot)));
  CHECK_FALSE(ids.open(id + "."));
  CHECK_FALSE(ids.open(" " + id));
  CHECK_FALSE(ids.open(id + "\n"));
  std::string standard = id;
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  REQUIRE(standard != id);
  CHECK_FALSE(ids.open(standard));
}

TEST_CASE("an output id of another secret is not accepted") {
  CHECK_FALSE(output_ids(secret).open(output_ids(std::string(32, 't')).mint(sample)));
}

TEST_CASE("an id without a job, as made before jobs were named, still opens") {
  const auto out = output_ids(secret).open(sign(R"({"f":"x.png","s":"","t":"output"})"));
  REQUIRE(out);
  CHECK(out->job_id.empty());
  CHECK(out->file.name == "x.png");
}

TEST_CASE("signed text that is not the contract's JSON is not accepted") {
  for (const char* json : {"", "[]", "null", "{", R"({"f":1})", R"({"f":"a","s":null})", R"({"f":"a"} x)"}) {
    INFO(json);
    CHECK_FALSE(output_ids(secret).open(sign(json)));
  }
}

TEST_CASE("the output's file name is cut to its base name when the id is minted") {
  const output_ids ids(secret);
  CHECK(ids.open(ids.mint(output{"j", {"/tmp/a b/\xc3\xa9.png", "", "output"}}))->file.name == "\xc3\xa9.png");
  CHECK(ids.open(ids.mint(output{"j", {"C:\\out\\x.png", "", "output"}}))->file.name == "x.png");
}

TEST_CASE("a file name with every awkward character survives the id") {
  const output_ids ids(secret);
  const std::string name = "a&b#c%2fd+e\"f\ng\x01\x7f\xf0\x9f\x98\x80.png";
  CHECK(ids.open(ids.mint(output{"j", {name, "s&t", "temp"}}))->file.name == name);
}

TEST_CASE("an id of absurd length is not accepted") {
  CHECK_FALSE(output_ids(secret).open(std::string(1 << 20, 'A') + "." + std::string(43, 'A')));
}
