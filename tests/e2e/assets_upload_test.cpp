// Uploading: the form in all its shapes, what the upstream makes of it, and its limits.
#include <catch2/catch.hpp>
#include <thread>

#include "form.hpp"
#include "stage.hpp"

using namespace e2e;

namespace {

std::string noise(std::size_t size, unsigned seed = 1) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return out;
}

std::string content_of(const stage& s, const answer& a) {
  return s.get("/api/v2/assets/" + at(a.body, "id") + "/content").body;
}

const std::string multipart = "multipart/form-data; boundary=b";

answer raw(const stage& s, const std::string& body, const std::string& type = multipart) {
  return s.post("/api/v2/assets", body, {{"Content-Type", type}});
}

}  // namespace

TEST_CASE("an upload is an asset with its hash, and its bytes come back") {
  const stage s;
  const std::string bytes = noise(70);
  const answer a = upload(s.port(), bytes, "foo.png");
  INFO(a.body);
  CHECK(a.status == 201);
  const std::string id = at(a.body, "id");
  CHECK(id.size() == 36);
  CHECK(id.find('.') == std::string::npos);
  CHECK(at(a.body, "hash").compare(0, 7, "blake3:") == 0);
  CHECK(at(a.body, "hash").size() == 71);
  CHECK(at(a.body, "size_bytes") == "70");
  CHECK(at(a.body, "content_type") == "image/png");
  CHECK(at(a.body, "file_path") == "foo.png");
  CHECK(at(a.body, "created_new") == "true");
  CHECK(at(a.body, "url") == s.portico.url() + "/api/v2/assets/" + id + "/content");
  const answer shown = s.get("/api/v2/assets/" + id);
  CHECK(shown.status == 200);
  CHECK(at(shown.body, "created_new") == "<absent>");
  CHECK(at(shown.body, "created_at") == at(a.body, "created_at"));
  const answer content = s.get("/api/v2/assets/" + id + "/content");
  CHECK(content.status == 200);
  CHECK(content.body == bytes);
  CHECK(content.header("content-type") == "image/png");
  CHECK(s.get("/api/v2/assets/" + id + "/content", {{"Range", "bytes=2-5"}}).header("content-range") == "bytes 2-5/70");
}

TEST_CASE("the fields of an upload come in any order") {
  const stage s;
  const form first = form().file(noise(10, 1)).field("file_path", "a.png").field("content_type", "image/png");
  const form last =
      form().field("content_type", "image/png").field("file_path", "b.png").field("tags", "x").file(noise(10, 2));
  CHECK(outcome(upload(s.port(), first)) == "201");
  CHECK(outcome(upload(s.port(), last)) == "201");
}

TEST_CASE("an upload's size decides nothing: nothing, a little, more than is held in memory") {
  const stage s;
  for (const std::size_t size : {0u, 1u, 262143u, 262144u, 262145u, 3'000'000u}) {
    INFO(size);
    const std::string bytes = noise(size, static_cast<unsigned>(size) + 7);
    const answer a = upload(s.port(), bytes, "n" + std::to_string(size) + ".bin", "application/octet-stream");
    CHECK(outcome(a) == "201");
    CHECK(at(a.body, "size_bytes") == std::to_string(size));
    CHECK(content_of(s, a) == bytes);
    if (size == 0)
      CHECK(at(a.body, "hash") == "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  }
}

TEST_CASE("content full of line ends and near-boundaries comes back byte for byte") {
  const stage s;
  std::string bytes;
  while (bytes.size() < 600'000) bytes += "\r\n--b\r-\r\n--\r\r\n--a--\r\n";
  bytes = "\r\n--" + bytes;
  const answer a = upload(s.port(), form("bb").field("file_path", "x.bin").file(bytes));
  CHECK(outcome(a) == "201");
  CHECK(content_of(s, a) == bytes);
}

TEST_CASE("a chunked form is taken like one of known length") {
  const stage s;
  const form f = form().field("file_path", "c.png").file(noise(5000));
  const std::string body = f.body();
  raw_socket socket(s.port());
  std::string sent = "POST /api/v2/assets HTTP/1.1\r\nHost: " + s.portico.authority() +
                     "\r\nContent-Type: " + multipart + "\r\nTransfer-Encoding: chunked\r\n\r\n";
  char size[16];
  for (std::size_t at = 0; at < body.size(); at += 700) {
    const std::string piece = body.substr(at, 700);
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    sent += size + piece + "\r\n";
  }
  socket.send(sent + "0\r\n\r\n");
  CHECK(outcome(socket.receive_answer("POST")) == "201");
}

TEST_CASE("a form sent a few bytes at a time is read the same") {
  const stage s;
  const std::string body = form().field("file_path", "slow.png").file("\r\n--ab").body();
  raw_socket socket(s.port());
  socket.send("POST /api/v2/assets HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\nContent-Type: " + multipart +
              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  for (std::size_t at = 0; at < body.size(); at += 3) {
    socket.send(body.substr(at, 3));
    std::this_thread::sleep_for(1ms);
  }
  const answer a = socket.receive_answer("POST");
  CHECK(outcome(a) == "201");
  CHECK(content_of(s, a) == "\r\n--ab");
}

TEST_CASE("a missing or repeated field is refused and nothing is stored") {
  const stage s;
  CHECK(outcome(upload(s.port(), form().field("file_path", "a.png"))) == "422 invalid_request");
  CHECK(outcome(upload(s.port(), form().file("x"))) == "422 invalid_request");
  CHECK(outcome(upload(s.port(), form().file("x").field("file_path", ""))) == "422 invalid_request");
  CHECK(outcome(upload(s.port(), form().file("x").field("file_path", "  "))) == "422 invalid_request");
  CHECK(outcome(upload(s.port(), form().file("x").file("y").field("file_path", "a.png"))) == "422 invalid_request");
  CHECK(outcome(upload(s.port(), form().file("x").field("file_path", "a.png").field("file_path", "b.png"))) ==
        "422 invalid_request");
  CHECK(outcome(raw(s, "--b--\r\n")) == "422 invalid_request");
  CHECK(outcome(raw(s, "")) == "422 invalid_request");
  CHECK(s.calls("POST /upload/image") == 0);
  CHECK(outcome(upload(s.port(), form().file("x").field("file_path", "a.png\n"))) == "201");
}

TEST_CASE("a malformed form is refused at once and leaves the connection in step") {
  const stage s;
  const std::string head = "--b\r\nContent-Disposition: form-data; name=\"file\"";
  std::string parts, lines = "--b\r\n";
  for (int i = 0; i < 100'000; ++i) parts += "--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\nx\r\n";
  for (int i = 0; i < 5000; ++i) lines += "a: b\r\n";
  for (const auto& [body, word] :
       std::vector<std::pair<std::string, std::string>>{{head + std::string(1 << 20, 'x'), "16 KiB"},
                                                        {parts, "64 parts"},
                                                        {lines, "16 KiB"},
                                                        {"garbage", "closing boundary"},
                                                        {head + "\r\n\r\nx\r\n", "closing boundary"},
                                                        {"--b\r\n\r\nx\r\n--b--", "Content-Disposition"}}) {
    raw_socket socket(s.port());
    const auto begin = std::chrono::steady_clock::now();
    const std::string host = " HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n";
    socket.send("POST /api/v2/assets" + host + "Content-Type: " + multipart +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    const answer a = socket.receive_answer("POST");
    CHECK(outcome(a) == "422 invalid_request");
    CHECK(at(a.body, "error.message").find(word) != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begin < 1s * slowness);
  }
  CHECK(s.get("/api/v2/health").status == 200);
}

TEST_CASE("a content type without one good boundary is refused") {
  const stage s;
  const std::string body = form().field("file_path", "a.png").file("x").body();
  for (const std::string type :
       {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=a; boundary=b", "multipart/mixed; boundary=b", "application/json", ""}) {
    INFO(type);
    CHECK(outcome(raw(s, body, type)) == "422 invalid_request");
  }
  CHECK(outcome(raw(s, body, "multipart/form-data; boundary=" + std::string(71, 'b'))) == "422 invalid_request");
  CHECK(outcome(raw(s, body, "multipart/form-data; boundary=\"b\"")) == "201");
}

TEST_CASE("a file over the limit is 413, whether its length was said or not") {
  const stage s("[plugin.uploads]\nmax_upload_mb = 1\n");
  CHECK(outcome(upload(s.port(), noise(1024 * 1024), "fits.bin")) == "201");
  CHECK(outcome(upload(s.port(), noise(1024 * 1024 + 1), "over.bin")) == "413 payload_too_large");
  CHECK(outcome(upload(s.port(), noise(2 * 1024 * 1024), "twice.bin")) == "413 payload_too_large");
  CHECK(outcome(upload(s.port(), noise(5 * 1024 * 1024), "far.bin")) == "413 payload_too_large");
  CHECK(outcome(upload(s.port(), form().field("junk", noise(100'000)).field("file_path", "a").file("x"))) ==
        "422 invalid_request");
}

TEST_CASE("a length over the limit is refused before the body is asked for") {
  const stage s("[plugin.uploads]\nmax_upload_mb = 1\n");
  raw_socket socket(s.port());
  socket.send("POST /api/v2/assets HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\nContent-Type: " + multipart +
              "\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n");
  const answer a = socket.receive_answer("POST");
  CHECK(outcome(a) == "413 payload_too_large");
}

TEST_CASE("the expected hash is compared without case, and a wrong one stores nothing") {
  const stage s;
  const std::string bytes = noise(100);
  const auto with = [&](const std::string& hash) {
    return upload(s.port(), form().field("file_path", "a.png").field("expected_hash", hash).file(bytes));
  };
  for (const char* wrong : {"blake3:00", "nonsense"}) CHECK(outcome(with(wrong)) == "409 hash_mismatch");
  CHECK(outcome(with("blake3:" + std::string(64, '0'))) == "409 hash_mismatch");
  CHECK(s.calls("POST /upload/image") == 0);
  CHECK(outcome(upload(s.port(), form().field("file_path", "a.png").field("expected_hash", " ").file("other"))) ==
        "201");
  const answer stored = upload(s.port(), bytes, "b.png");
  std::string hash = at(stored.body, "hash");
  CHECK(outcome(with(hash)) == "200");
  for (char& c : hash) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  CHECK(outcome(with(hash)) == "200");
}

TEST_CASE("the content type is the field's, else the part's, else that of any bytes") {
  const stage s;
  const auto type = [&](const form& f) { return at(upload(s.port(), f).body, "content_type"); };
  CHECK(type(form()
                 .field("file_path", "a")
                 .field("content_type", "image/webp")
                 .file("1", "Content-Type: image/png\r\n")) == "image/webp");
  CHECK(type(form().field("file_path", "a").file("2", "Content-Type: image/png\r\n")) == "image/png");
  CHECK(type(form().field("file_path", "a").file("3")) == "application/octet-stream");
  for (const char* bad : {"text/html\r\nx: y", "a\nb", "png", "a/b\x7f"})
    CHECK(outcome(upload(s.port(), form().field("file_path", "a").field("content_type", bad).file("4"))) ==
          "422 invalid_request");
}

TEST_CASE("an upload that a browser would run is served for download only") {
  const stage s;
  int n = 0;
  for (const char* type :
       {"text/html", "image/svg+xml", "text/html; charset=x", "TEXT/HTML", "application/javascript"}) {
    ++n;
    const answer a = upload(s.port(), noise(10, static_cast<unsigned>(n)), "x" + std::to_string(n) + ".html", type);
    CHECK(outcome(a) == "201");
    CHECK(at(a.body, "content_type") == type);
    const answer content = s.get("/api/v2/assets/" + at(a.body, "id") + "/content");
    CHECK(content.status == 200);
    CHECK(content.header("content-type") == "application/octet-stream");
    CHECK(content.header("x-content-type-options") == "nosniff");
    CHECK(content.header("content-disposition").compare(0, 10, "attachment") == 0);
  }
}

TEST_CASE("the name that the upstream gives a file is the one its graph gets") {
  const stage s;
  const answer a = upload(s.port(), noise(10, 1), "photo.png"), b = upload(s.port(), noise(10, 2), "input/photo.png");
  const auto reference = [](const answer& x) {
    return R"({"__type":"core/ASSET","info":{"id":")" + at(x.body, "id") + R"("}})";
  };
  s.submit(R"({"1":{"class_type":"LoadImage","inputs":{"image":)" + reference(a) +
           R"(}},"2":{"class_type":"LoadImage","inputs":{"image":)" + reference(b) + "}}}");
  const std::string prompt = at(s.counters(), "last_prompt");
  CHECK(prompt.find("photo.png") != std::string::npos);
  CHECK(prompt.find("photo (1).png") != std::string::npos);
  CHECK(prompt.find("core/ASSET") == std::string::npos);
  CHECK(content_of(s, b) == noise(10, 2));
}

TEST_CASE("odd names reach the upstream as they are, and folders too") {
  const stage s;
  unsigned n = 10;
  for (const std::string name : {"a b.png", "\xC3\xA9.png", "e\xCC\x81.png", "q\"uo;te'.png", "\xEF\xAC\x81.png",
                                 "\xE2\x80\xAEx.png", "100%41.png"}) {
    INFO(name);
    const std::string bytes = noise(20, ++n);
    const answer a = upload(s.port(), bytes, "input/deep/folder/" + name);
    CHECK(outcome(a) == "201");
    CHECK(at(a.body, "file_path") == "input/deep/folder/" + name);
    CHECK(content_of(s, a) == bytes);
    CHECK(get(s.standin.port(), "/view?type=input&subfolder=deep%2Ffolder&filename=" + percent_encoded(name)).body ==
          bytes);
  }
}

TEST_CASE("the name of the file's part decides nothing") {
  const stage s;
  unsigned n = 50;
  for (const char* rest :
       {"filename*0=\"seg0-\"; filename*10=\"seg10\"", "filename*0=\"it's\"", "filename*=utf-8''%ff%fe",
        "filename=\"../../evil\"", "filename=\"a\"b.png\"", "filename=\"\xff\""}) {
    INFO(rest);
    const std::string bytes = noise(20, ++n);
    const std::string body = form().field("file_path", "named" + std::to_string(n) + ".png").body();
    const answer a = raw(s, "--b\r\nContent-Disposition: form-data; name=\"file\"; " + std::string(rest) + "\r\n\r\n" +
                                bytes + "\r\n" + body);
    CHECK(outcome(a) == "201");
    CHECK(content_of(s, a) == bytes);
  }
}

TEST_CASE("hostile paths are refused, with a word on the rule, and reach nobody") {
  const stage s;
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "a/";
  for (const std::string& path :
       {std::string("a\0b", 3), std::string(".."), std::string("input/../x"), std::string("/etc/passwd"),
        std::string("models\\loras\\x.safetensors"), std::string("models/loras/CON.safetensors"),
        std::string("models/loras/a:b.safetensors"), std::string("models/loras/x.safetensors."),
        std::string("models/loras/.h.safetensors"), deep, std::string(300, 'n'), std::string("input/"),
        std::string("configs/x.yaml"), std::string("custom_nodes/x.py"), std::string("C:evil.png")}) {
    const answer a = upload(s.port(), form().field("file_path", path).file("x"));
    INFO(path.substr(0, 40));
    CHECK(outcome(a) == "422 invalid_request");
    CHECK(at(a.body, "error.message").compare(0, 9, "file_path") == 0);
  }
  CHECK(s.calls("POST /upload/image") == 0);
}

TEST_CASE("models need a co-located portico") {
  const stage s;
  const answer a = upload(s.port(), "x", "models/checkpoints/foo.safetensors");
  CHECK(outcome(a) == "422 invalid_request");
  CHECK(at(a.body, "error.message").find("co-located") != std::string::npos);
}

TEST_CASE("an upstream that refuses, fails, lies or is away makes an upload fail, and nothing is stored") {
  const stage s;
  const std::string bytes = noise(400'000);
  for (const char* fault : {R"({"status":400})", R"({"status":413})", R"({"status":500})", R"({"status":302})",
                            R"({"drop":true})", R"({"status":200,"body":"<html>"})",
                            R"({"status":200,"body":"{\"name\":\"../x\"}","content_type":"application/json"})",
                            R"({"after":true,"drop":true})"}) {
    INFO(fault);
    s.knobs(std::string(R"({"faults":{"POST /upload/image":)") + fault + "}}");
    CHECK(outcome(upload(s.port(), bytes, "a.bin")) == "500 upstream_error");
  }
  s.knobs(R"({"faults":null})");
  const answer a = upload(s.port(), bytes, "a.bin");
  CHECK(outcome(a) == "201");
  CHECK(content_of(s, a) == bytes);
  const stage away({}, "http://127.0.0.1:9");
  CHECK(outcome(upload(away.port(), bytes, "a.bin")) == "500 upstream_error");
}

TEST_CASE("a client that leaves in the middle of its upload leaves nothing") {
  const stage s;
  const std::string body = form().field("file_path", "gone.bin").file(noise(3'000'000)).body();
  const std::string head = "POST /api/v2/assets HTTP/1.1\r\nHost: " + s.portico.authority() +
                           "\r\nContent-Type: " + multipart + "\r\nContent-Length: " + std::to_string(body.size()) +
                           "\r\n\r\n";
  const std::size_t before = s.portico.descriptors();
  for (int i = 0; i < 20; ++i) {
    raw_socket socket(s.port());
    socket.send(head + body.substr(0, body.size() / 2));
    if (i % 2) socket.reset();
  }
  CHECK(eventually([&] { return s.portico.descriptors() <= before + 2; }));
  CHECK(s.calls("POST /upload/image") == 0);
}
