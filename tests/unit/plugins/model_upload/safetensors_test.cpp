#include "plugins/model_upload/safetensors.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "plugins/model_upload/dtypes.hpp"

using namespace portico::model_upload;

namespace {

std::string file(const std::string& header, const std::string& data = {}) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return out + header + data;
}

std::optional<problem> check(const std::string& bytes, std::size_t piece = SIZE_MAX) {
  const file_reader read = [&](std::uint64_t offset, char* out, std::size_t size) {
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t n = std::min({size, piece, bytes.size() - static_cast<std::size_t>(offset)});
    std::memcpy(out, bytes.data() + offset, n);
    return n;
  };
  return check_safetensors(read, bytes.size());
}

// "" for a good file, else "rule: message".
std::string said(const std::string& bytes) {
  const auto p = check(bytes);
  return p ? p->rule + ": " + p->message : "";
}
std::string rule(const std::string& header, const std::string& data = "x") {
  const auto p = check(file(header, data));
  return p ? p->rule : "";
}
// The verdict on a tensor that is one byte long, with these members.
std::string tensor(const std::string& members, const std::string& data = "x") {
  return rule("{\"a\":{" + members + "}}", data);
}

const std::string good = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";

}  // namespace

TEST_CASE("a plain file is good, also read a byte at a time") {
  CHECK(said(file(good, "x")) == "");
  CHECK_FALSE(check(file(good, "x"), 1));
  CHECK(said(file("{}")) == "");
  CHECK(said(file(R"({"__metadata__":{"k":"v","":"\u00e9\ud83d\ude00"}})")) == "");
}

TEST_CASE("JSON white space may stand around and inside the header, nothing else may") {
  CHECK(rule("  " + good) == "");
  CHECK(rule(good + "\t\r\n ") == "");
  CHECK(rule("{ \"a\" :\n{ \"dtype\" : \"U8\" , \"shape\" : [ 1 ] , \"data_offsets\" : [ 0 , 1 ] } }") == "");
  CHECK(rule("\xef\xbb\xbf" + good) == "header_json");
  CHECK(rule(good + "x") == "header_json");
  CHECK(rule(good + std::string(1, '\0')) == "header_json");
  CHECK(rule("\f" + good) == "header_json");
  CHECK(rule(good + good) == "header_json");
}

TEST_CASE("metadata null, an unknown key in a tensor, and an empty name are good") {
  CHECK(rule(R"({"__metadata__":null,"":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})") == "");
  CHECK(tensor(R"("x":{"y":[1.5,-0,1e9,"z",null,true,false,{},[]]},"dtype":"U8","shape":[1],"data_offsets":[0,1])") ==
        "");
}

TEST_CASE("what strict JSON forbids is refused") {
  for (const std::string& header :
       {std::string("{\"a\nb\":1}"), std::string("[]"), std::string("null"), std::string("\"x\""), std::string("{"),
        std::string("{\"a\"}"), std::string("{,}"), std::string("{'a':1}"), std::string("{\"\\x\":1}"),
        std::string("{\"\\u12g4\":1}"), std::string("{\"\\ud800\":1}"), std::string("{\"\\udc00\":1}"),
        std::string("{\"\xff\":1}"), std::string("{\"\xed\xa0\x80\":1}"), std::string("{\"\xc0\x80\":1}"),
        std::string("{\"a"), good.substr(0, good.size() - 1)}) {
    INFO(header);
    CHECK(rule(header) == "header_json");
  }
  CHECK(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],)") == "header_json");
  for (const char* value :
       {"NaN", "Infinity", "01", "1.", ".5", "+1", "--1", "1e", "tru", "[1,]", "{\"a\":1,}", "'a'", "-"}) {
    INFO(value);
    CHECK(tensor(std::string("\"x\":") + value + R"(,"dtype":"U8","shape":[1],"data_offsets":[0,1])") == "header_json");
  }
}

TEST_CASE("numbers that count are whole, without a sign, and fit 64 bits") {
  for (const char* n : {"-0", "-1", "1.0", "1e0", "01", "\"1\"", "null", "true", ""}) {
    INFO(n);
    CHECK(tensor(std::string("\"dtype\":\"U8\",\"shape\":[") + n + ",1],\"data_offsets\":[0,1]") == "header_json");
    CHECK(tensor(std::string("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[") + n + ",1]") == "header_json");
  }
  CHECK(tensor(R"("dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1])") == "overflow");
  CHECK(tensor(R"("dtype":"U8","shape":[18446744073709551615,2],"data_offsets":[0,1])") == "overflow");
  CHECK(tensor(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,1])") == "overflow");
  CHECK(tensor(R"("dtype":"U8","shape":[9223372036854775808,4,0],"data_offsets":[0,0])", "") == "overflow");
  CHECK(tensor(R"("dtype":"U8","shape":[0,9223372036854775808,4],"data_offsets":[0,0])", "") == "");
}

TEST_CASE("a key that stands twice where it means something is refused") {
  CHECK(tensor(R"("dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1])") == "duplicate_key");
  CHECK(tensor(R"("dtype":"U8","shape":[1],"\u0073hape":[1],"data_offsets":[0,1])") == "duplicate_key");
  CHECK(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1])") == "duplicate_key");
  CHECK(rule(R"({"__metadata__":null,"__metadata__":null})", "") == "duplicate_key");
  const std::string one = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  CHECK(rule("{\"a\":" + one + ",\"b\":" + one + ",\"a\":" + one + "}", "") == "duplicate_key");
  CHECK(rule("{\"a\":" + one + ",\"b\":" + one + ",\"A\":" + one + "}", "") == "");
}

TEST_CASE("a tensor lacks nothing and holds the right kinds") {
  CHECK(tensor(R"("shape":[1],"data_offsets":[0,1])") == "dtype");
  CHECK(tensor(R"("dtype":"U8","data_offsets":[0,1])") == "shape");
  CHECK(tensor(R"("dtype":"U8","shape":[1])") == "data_offsets");
  CHECK(tensor(R"("dtype":5,"shape":[1],"data_offsets":[0,1])") == "dtype");
  CHECK(tensor(R"("dtype":"U8","shape":1,"data_offsets":[0,1])") == "shape");
  CHECK(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0])") == "data_offsets");
  CHECK(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,1,2])") == "data_offsets");
  CHECK(tensor(R"("dtype":"U8","shape":[1],"data_offsets":{})") == "data_offsets");
  CHECK(rule(R"({"a":["U8",[1],[0,1]]})") == "tensor");
  CHECK(rule(R"({"a":null})") == "tensor");
  CHECK(rule(R"({"__metadata__":{"a":1}})", "") == "metadata");
  CHECK(rule(R"({"__metadata__":[]})", "") == "metadata");
}

TEST_CASE("every dtype of the format is known, with its size in bits") {
  const std::pair<const char*, unsigned> types[] = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
      {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto& [name, bits] : types) {  // eight elements take as many bytes as one has bits
    INFO(name);
    CHECK(bits_of(name) == bits);
    CHECK(tensor(
              "\"dtype\":\"" + std::string(name) + "\",\"shape\":[8],\"data_offsets\":[0," + std::to_string(bits) + "]",
              std::string(bits, 'x')) == "");
  }
  const auto p = check(file(R"({"t":{"dtype":"F7_XYZ","shape":[1],"data_offsets":[0,1]}})", "x"));
  REQUIRE(p);
  CHECK(p->message.find("\"F7_XYZ\"") != std::string::npos);
  CHECK(p->tensor == "t");
}

TEST_CASE("a tensor that does not fill whole bytes is refused") {
  CHECK(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])", "xx") == "alignment");
  CHECK(tensor(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])") == "");
  CHECK(tensor(R"("dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3])", "xxx") == "");
}

TEST_CASE("a size that is wrong names the tensor and both sizes") {
  const auto p = check(file(R"({"layer.7":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234"));
  REQUIRE(p);
  CHECK(p->rule == "size");
  CHECK(p->tensor == "layer.7");
  CHECK(p->message.find("layer.7: F32 [2] takes 8 bytes, its data_offsets span 4") != std::string::npos);
}

TEST_CASE("tensors follow each other from the first byte to the last, in any order of writing") {
  const auto two = [](const char* a, const char* b, const std::string& data) {
    const auto one = [](const std::string& offsets) {
      return R"({"dtype":"U8","shape":[2],"data_offsets":)" + offsets + "}";
    };
    return rule("{\"x\":" + one(a) + ",\"y\":" + one(b) + "}", data);
  };
  CHECK(two("[0,2]", "[2,4]", "1234") == "");
  CHECK(two("[2,4]", "[0,2]", "1234") == "");
  CHECK(two("[0,2]", "[3,5]", "12345") == "gap");
  CHECK(two("[1,3]", "[3,5]", "12345") == "gap");
  CHECK(two("[0,2]", "[1,3]", "123") == "overlap");
  CHECK(two("[0,2]", "[0,2]", "12") == "overlap");
  CHECK(two("[0,2]", "[2,4]", "12345") == "trailing_bytes");
  CHECK(two("[0,2]", "[2,4]", "123") == "incomplete");
  CHECK(two("[0,2]", "[4,2]", "1234") == "data_offsets");
  CHECK(rule("{}", "x") == "trailing_bytes");
}

TEST_CASE("a file that was cut says so, with both sizes") {
  const std::string whole =
      file(R"({"a":{"dtype":"U8","shape":[1048576],"data_offsets":[0,1048576]}})", std::string(1048576, 'x'));
  CHECK(said(whole) == "");
  const std::string half = said(whole.substr(0, whole.size() / 2));
  CHECK(half.find("file ends at " + std::to_string(whole.size() / 2) + ", header promises " +
                  std::to_string(whole.size()) + " (incomplete download?)") != std::string::npos);
}

TEST_CASE("a header's length is checked against the file before it is believed") {
  std::string liar = file("{}");
  liar[0] = static_cast<char>(0xc0), liar[1] = static_cast<char>(0x9e), liar[2] = static_cast<char>(0xe6),
  liar[3] = 5;  // 99,000,000
  CHECK(said(liar).find("file ends at 10, header promises 99000008") != std::string::npos);
  for (std::size_t i = 0; i < 8; ++i) liar[i] = static_cast<char>(255);
  CHECK(said(liar).find("header too large") != std::string::npos);
  CHECK(rule("", "") == "header_empty");
  CHECK(said("").find("too_short") == 0);
  CHECK(said("1234567").find("too_short") == 0);
}

TEST_CASE("a header of 60 MiB is read, one byte over the limit is not") {
  const std::string large = "{\"__metadata__\":{\"k\":\"" + std::string(60u << 20, 'v') + "\"}}";
  CHECK(said(file(large)) == "");
  CHECK(said(file(std::string(100'000'001, ' '))).find("header too large") != std::string::npos);
  std::string exactly = "{}";
  exactly.resize(100'000'000, ' ');
  CHECK(said(file(exactly)) == "");
}

TEST_CASE("nesting is limited to what the format's reader takes") {
  const auto nested = [](std::size_t levels) {
    return tensor("\"x\":" + std::string(levels, '[') + std::string(levels, ']') +
                  R"(,"dtype":"U8","shape":[1],"data_offsets":[0,1])");
  };
  CHECK(nested(125) == "");
  CHECK(nested(126) == "depth");
  CHECK(nested(1'000'000) == "depth");
}

TEST_CASE("what people upload by mistake is told by its name") {
  CHECK(said("<!DOCTYPE html><html><body>Log in to download</body></html>").find("HTML page") != std::string::npos);
  CHECK(said("\n <html lang=en>.......................").find("HTML page") != std::string::npos);
  CHECK(said("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n").find("Git LFS pointer") !=
        std::string::npos);
  CHECK(said("PK\x03\x04 and so on and so on").find("pickled") != std::string::npos);
  CHECK(said("GGUF\x03............").find("GGUF") != std::string::npos);
  for (const char* text : {"<html>", "version https://git-lfs", "nonsense that is long enough"})
    CHECK(said(text).find("safetensors") != std::string::npos);
}

TEST_CASE("a long name is cut in messages and still told apart from its neighbours") {
  const std::string stem(5000, 'n');
  const auto one = [](int at) {
    return R"({"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(at) + "," + std::to_string(at + 1) + "]}";
  };
  CHECK(rule("{\"" + stem + "1\":" + one(0) + ",\"" + stem + "2\":" + one(1) + "}", "12") == "");
  CHECK(rule("{\"" + stem + "1\":" + one(0) + ",\"" + stem + "1\":" + one(1) + "}", "12") == "duplicate_key");
  CHECK(check(file("{\"" + stem + "\":" + one(1) + "}", "12"))->message.size() < 1000);
}
