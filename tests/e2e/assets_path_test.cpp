// Files that lie in ComfyUI's folders already: taking them by path, and serving bytes from disk.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "form.hpp"
#include "stage.hpp"

using namespace e2e;
namespace fs = std::filesystem;

namespace {

// ComfyUI's own folder, with a portico that knows it.
struct comfy_folder {
  fs::path path = fs::path(temporary_folder()) / ("base" + std::to_string(++count));
  comfy_folder() {
    for (const char* name : {"input", "output/sub", "temp", "models/checkpoints", "custom_nodes"})
      fs::create_directories(path / name);
  }
  std::string ini() const { return "[plugin.uploads]\nbase_dir = " + path.string() + "\n"; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
  static inline int count = 0;
};

answer from_path(const stage& s, const std::string& path, const std::string& rest = {}) {
  return s.post("/api/v2/assets/from-path", "{\"path\":" + quoted(path) + rest + "}");
}
std::string content_path(const answer& a) { return "/api/v2/assets/" + at(a.body, "id") + "/content"; }

const std::string seventy = "0123456789012345678901234567890123456789012345678901234567890123456789";

}  // namespace

TEST_CASE("without base_dir no path is taken, whatever the body") {
  const stage s;
  CHECK(outcome(from_path(s, "/etc/passwd")) == "422 invalid_request");
  CHECK(outcome(s.post("/api/v2/assets/from-path", "{")) == "422 invalid_request");
}

TEST_CASE("a file in input, output or temp becomes an asset that is served from disk") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string path = base.write("output/sub/a.png", seventy);
  const answer a = from_path(s, path);
  INFO(a.body);
  CHECK(outcome(a) == "201");
  CHECK(at(a.body, "size_bytes") == "70");
  CHECK(at(a.body, "content_type") == "image/png");
  CHECK(at(a.body, "file_path") == "output/sub/a.png");
  CHECK(at(a.body, "created_new") == "true");
  CHECK(a.body.find(base.path.string()) == std::string::npos);
  const answer content = s.get(content_path(a));
  CHECK(content.body == seventy);
  CHECK(content.header("content-type") == "image/png");
  CHECK(content.header("accept-ranges") == "bytes");
  CHECK(s.calls("GET /view") == 0);
  CHECK(outcome(from_path(s, path)) == "200");
  CHECK(at(from_path(s, base.write("input/same.png", seventy)).body, "id") == at(a.body, "id"));
  CHECK(request(s.port(), "HEAD", "/api/v2/assets/by-hash/" + at(a.body, "hash")).status == 200);
}

TEST_CASE("a file taken by path is named in a graph with its folder") {
  const comfy_folder base;
  const stage s(base.ini());
  const answer a =
      from_path(s, base.write("output/sub/a.png", "one"), R"(,"file_path":"shown.png","content_type":"image/webp")");
  const answer b = from_path(s, base.write("input/b.png", "two"));
  CHECK(at(a.body, "file_path") == "shown.png");
  CHECK(at(a.body, "content_type") == "image/webp");
  const auto reference = [](const answer& x) {
    return R"({"__type":"core/ASSET","info":{"id":")" + at(x.body, "id") + R"("}})";
  };
  s.submit(R"({"1":{"class_type":"LoadImage","inputs":{"image":)" + reference(a) +
           R"(}},"2":{"class_type":"LoadImage","inputs":{"image":)" + reference(b) + "}}}");
  const std::string prompt = at(s.counters(), "last_prompt");
  CHECK(prompt.find("sub/a.png [output]") != std::string::npos);
  CHECK(prompt.find("b.png [") == std::string::npos);
}

TEST_CASE("a path that is outside, missing, or in another folder is refused, and says nothing of the machine") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string secret = base.write("custom_nodes/x.py", "code");
  base.write("loose.png", "x");
  fs::create_symlink("/etc/passwd", base.path / "input/link");
  fs::create_directory_symlink("/etc", base.path / "output/etc");
  const auto said = [&](const std::string& path) { return outcome(from_path(s, path)); };
  CHECK(said("/etc/passwd") == "422 invalid_request");
  CHECK(said("/etc/there-is-no-such-file") == "422 invalid_request");
  CHECK(from_path(s, "/etc/passwd").body == from_path(s, "/etc/there-is-no-such-file").body);
  CHECK(said("input/a.png") == "422 invalid_request");
  CHECK(said((base.path / "input/link").string()) == "422 invalid_request");
  CHECK(said((base.path / "output/etc/passwd").string()) == "422 invalid_request");
  CHECK(said((base.path / "input/../custom_nodes/x.py").string()) == "422 invalid_request");
  CHECK(said(secret) == "422 invalid_request");
  CHECK(said((base.path / "loose.png").string()) == "422 invalid_request");
  CHECK(said((base.path / "input/none.png").string()) == "404 blob_not_found");
  CHECK(said((base.path / "input").string()) == "404 blob_not_found");
  CHECK(said((base.path / "models/checkpoints/none.safetensors").string()) == "404 blob_not_found");
  CHECK(from_path(s, secret).body.find(base.path.string()) == std::string::npos);
}

TEST_CASE("known bytes in a folder that may not be read from are refused all the same") {
  const comfy_folder base;
  const stage s(base.ini());
  CHECK(outcome(from_path(s, base.write("input/a.png", "bytes"))) == "201");
  CHECK(outcome(from_path(s, base.write("custom_nodes/a.png", "bytes"))) == "422 invalid_request");
}

TEST_CASE("a model cannot be taken by path while nobody can check it") {
  const comfy_folder base;
  const stage s(base.ini());
  const answer a = from_path(s, base.write("models/checkpoints/m.safetensors", "x"));
  CHECK(outcome(a) == "422 invalid_request");
  CHECK(at(a.body, "error.message").find("model_upload") != std::string::npos);
  fs::create_directories(base.path / "models/configs");
  CHECK(outcome(from_path(s, base.write("models/configs/a.yaml", "x"))) == "422 invalid_request");
}

TEST_CASE("a from-path body that is wrong says how") {
  const comfy_folder base;
  const stage s(base.ini());
  for (const char* body : {"", "[]", "null", "5"})
    CHECK(outcome(s.post("/api/v2/assets/from-path", body)) == "400 invalid_request");
  for (const char* body :
       {"{}", R"({"path":5})", R"({"path":"/x","file_path":5})", R"({"path":"/x","content_type":"a\r\nb"})"})
    CHECK(outcome(s.post("/api/v2/assets/from-path", body)) == "422 invalid_request");
}

TEST_CASE("a file over the upload limit is not taken by path") {
  const comfy_folder base;
  const stage s(base.ini() + "max_upload_mb = 1\n");
  CHECK(outcome(from_path(s, base.write("input/big.bin", std::string(1024 * 1024 + 1, 'x')))) ==
        "413 payload_too_large");
  CHECK(outcome(from_path(s, base.write("input/fits.bin", std::string(1024 * 1024, 'x')))) == "201");
}

TEST_CASE("a file that was removed or edited since is unavailable, and not offered again") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string path = base.write("input/a.png", "bytes");
  const answer a = from_path(s, path);
  fs::remove(path);
  CHECK(outcome(s.get(content_path(a))) == "404 output_unavailable");
  CHECK(request(s.port(), "HEAD", "/api/v2/assets/by-hash/" + at(a.body, "hash")).status == 404);
  const answer anew = from_path(s, base.write("input/a.png", "bytes"));
  CHECK(outcome(anew) == "201");
  CHECK(s.get(content_path(anew)).body == "bytes");
  base.write("input/a.png", "other bytes");
  CHECK(outcome(s.get(content_path(anew))) == "404 output_unavailable");
}

TEST_CASE("a file that has become a link is unavailable") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string path = base.write("input/a.png", "bytes");
  const answer a = from_path(s, path);
  fs::rename(path, base.path / "custom_nodes/a.png");
  fs::create_symlink(base.path / "custom_nodes/a.png", path);
  CHECK(outcome(s.get(content_path(a))) == "404 output_unavailable");
}

TEST_CASE("a range of a file on disk is exact, and every odd one has its answer") {
  const comfy_folder base;
  const stage s(base.ini());
  const std::string content = content_path(from_path(s, base.write("input/a.bin", seventy)));
  const auto ask = [&](const std::string& range, const fields& more = {}) {
    fields all = {{"Range", range}};
    all.insert(all.end(), more.begin(), more.end());
    const answer a = s.get(content, all);
    return std::to_string(a.status) + "|" + a.header("content-range") + "|" +
           (a.status == 416     ? ""
            : a.body == seventy ? "all"
                                : a.body);
  };
  CHECK(ask("bytes=0-0") == "206|bytes 0-0/70|0");
  CHECK(ask("bytes=2-5") == "206|bytes 2-5/70|2345");
  CHECK(ask("bytes=-1") == "206|bytes 69-69/70|9");
  CHECK(ask("bytes=69-") == "206|bytes 69-69/70|9");
  CHECK(ask("bytes=0-") == "206|bytes 0-69/70|all");
  CHECK(ask("bytes=0-18446744073709551616") == "206|bytes 0-69/70|all");
  for (const char* beyond : {"bytes=70-", "bytes=-0", "bytes=18446744073709551616-"})
    CHECK(ask(beyond) == "416|bytes */70|");
  for (const char* ignored : {"abc", "bytes=5-4", "items=0-1", "bytes=0-0,2-3", "bytes=x-"})
    CHECK(ask(ignored) == "200||all");
  const answer whole = s.get(content);
  const std::string etag = whole.header("etag"), modified = whole.header("last-modified");
  CHECK(ask("bytes=2-5", {{"If-Range", etag}}) == "206|bytes 2-5/70|2345");
  CHECK(ask("bytes=2-5", {{"If-Range", modified}}) == "206|bytes 2-5/70|2345");
  CHECK(ask("bytes=2-5", {{"If-Range", "\"other\""}}) == "200||all");
  CHECK(ask("bytes=70-", {{"If-Range", "\"other\""}}) == "200||all");
  CHECK(s.get(content, {{"If-None-Match", etag}}).status == 304);
  CHECK(s.get(content, {{"If-Modified-Since", modified}}).status == 304);
  CHECK(s.get(content, {{"If-None-Match", "\"other\""}}).status == 200);
  CHECK(outcome(s.get(content, {{"If-Match", "\"other\""}})) == "412 precondition_failed");
  CHECK(outcome(s.get(content, {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}})) ==
        "412 precondition_failed");
  CHECK(s.get(content, {{"If-Match", etag}}).status == 200);
  const answer head = request(s.port(), "HEAD", content, {}, {{"Range", "bytes=0-3"}});
  CHECK(head.status == 200);
  CHECK(head.header("content-length") == "70");
}

TEST_CASE("clients that leave a large file in the middle cost nothing, and memory stays flat") {
  const comfy_folder base;
  const stage s(base.ini() + "max_upload_mb = 2048\n");
  const std::string path = base.write("input/big.bin", "x");
  fs::resize_file(path, 1u << 30);
  const answer a = from_path(s, path);
  REQUIRE(a.status == 201);
  const std::size_t descriptors = s.portico.descriptors(), memory = s.portico.resident_kb();
  for (int i = 0; i < 100; ++i) {
    raw_socket socket(s.port(), 4096);
    socket.send("GET " + content_path(a) + " HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n\r\n");
    CHECK(socket.receive(10).size() == 10);
    if (i % 2) socket.reset();
  }
  CHECK(eventually([&] { return s.portico.descriptors() <= descriptors + 2; }));
  CHECK(s.portico.resident_kb() < memory + 20'000u * slowness);
  CHECK(s.get(content_path(a), {{"Range", "bytes=1073741823-"}}).header("content-range") ==
        "bytes 1073741823-1073741823/1073741824");
}

TEST_CASE("an upload that cannot fit on the disk is refused before it is read") {
  const stage s("[plugin.uploads]\nmax_upload_mb = 16777216\n");
  raw_socket socket(s.port());
  socket.send("POST /api/v2/assets HTTP/1.1\r\nHost: " + s.portico.authority() +
              "\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 17000000000000\r\nExpect: "
              "100-continue\r\n\r\n");
  CHECK(outcome(socket.receive_answer("POST")) == "507 insufficient_storage");
}

TEST_CASE("uploads spool where the ini says, and leave nothing there") {
  const fs::path spool = fs::path(temporary_folder()) / "spool";
  const stage s("[plugin.uploads]\nspool = " + spool.string() + "\n");
  CHECK((fs::status(spool).permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(outcome(upload(s.port(), std::string(3'000'000, 'x'), "a.bin")) == "201");
  CHECK(fs::is_empty(spool));
}
