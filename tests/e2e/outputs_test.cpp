// The bytes of outputs: ranges, odd names, forged ids, lost files, active content.
#include <catch2/catch.hpp>
#include <thread>

#include "stage.hpp"

using namespace e2e;

namespace {

std::string code(const answer& a) { return std::to_string(a.status) + ' ' + at(a.body, "error.code"); }

// A finished job with one output; where the output's bytes are.
struct made {
  std::string id, asset, content, bytes;
};
made one_output(const stage& s, const std::string& graph = quick_graph()) {
  const answer job = s.done(graph);
  made m;
  m.id = at(job.body, "outputs.0.id");
  m.asset = "/api/v2/assets/" + m.id;
  m.content = m.asset + "/content";
  const answer a = s.get(m.content);
  REQUIRE(a.status == 200);
  m.bytes = a.body;
  return m;
}

}  // namespace

TEST_CASE("an output's bytes are those of ComfyUI, with what a client needs to know") {
  const stage s;
  const made m = one_output(s);
  CHECK(m.bytes == get(s.standin.port(), "/view?filename=e2e_00001_.png").body);
  const answer a = s.get(m.content);
  CHECK(a.header("content-type") == "image/png");
  CHECK(a.header("content-length") == std::to_string(m.bytes.size()));
  CHECK(a.header("accept-ranges") == "bytes");
  CHECK(a.header("x-content-type-options") == "nosniff");
  const answer head = request(s.port(), "HEAD", m.content);
  CHECK(head.status == 200);
  CHECK(head.header("content-length") == std::to_string(m.bytes.size()));
}

TEST_CASE("an output is an asset that names its job") {
  const stage s;
  const answer job = s.done(quick_graph());
  const answer a = s.get("/api/v2/assets/" + at(job.body, "outputs.0.id"));
  CHECK(a.status == 200);
  CHECK(at(a.body, "id") == at(job.body, "outputs.0.id"));
  CHECK(at(a.body, "job_id") == at(job.body, "id"));
  CHECK(at(a.body, "hash") == "null");
  CHECK(at(a.body, "file_path") == "e2e_00001_.png");
  CHECK(at(a.body, "content_type") == "image/png");
  CHECK(at(a.body, "url") == at(job.body, "outputs.0.url"));
  CHECK(at(a.body, "created_new") == "<absent>");
}

TEST_CASE("a range is served exactly, with If-Range or without") {
  const stage s;
  const made m = one_output(s);
  const std::size_t size = m.bytes.size();
  const std::string total = std::to_string(size), last = std::to_string(size - 1);
  const auto part = [&](const std::string& range, std::size_t first, std::size_t end) {
    const answer a = s.get(m.content, {{"Range", range}});
    INFO(range << " -> " << a.status);
    CHECK(a.status == 206);
    CHECK(a.body == m.bytes.substr(first, end - first + 1));
    CHECK(a.header("content-range") == "bytes " + std::to_string(first) + '-' + std::to_string(end) + '/' + total);
    CHECK(a.header("content-length") == std::to_string(end - first + 1));
  };
  part("bytes=0-0", 0, 0);
  part("bytes=2-5", 2, 5);
  part("bytes=-1", size - 1, size - 1);
  part("bytes=" + last + "-", size - 1, size - 1);
  part("bytes=0-", 0, size - 1);
  part("bytes=3-99999999", 3, size - 1);
  part("bytes=-99999999", 0, size - 1);
  const answer whole = s.get(m.content);
  if (whole.has("etag")) {
    CHECK(s.get(m.content, {{"Range", "bytes=1-2"}, {"If-Range", whole.header("etag")}}).status == 206);
    const answer changed = s.get(m.content, {{"Range", "bytes=1-2"}, {"If-Range", "\"another\""}});
    CHECK(changed.status == 200);
    CHECK(changed.body == m.bytes);
  }
}

TEST_CASE("a range beyond the end is 416 and tells the size") {
  const stage s;
  const made m = one_output(s);
  const std::string size = std::to_string(m.bytes.size());
  for (const std::string& range : {"bytes=" + size + "-", std::string("bytes=99999999-")}) {
    const answer a = s.get(m.content, {{"Range", range}});
    CHECK(a.status == 416);
    CHECK(a.header("content-range") == "bytes */" + size);
  }
}

TEST_CASE("ranges that are none are ignored") {
  const stage s;
  const made m = one_output(s);
  for (const char* range :
       {"abc", "items=0-1", "bytes=5-4", "bytes=", "bytes=a-b", "bytes=1", "bytes=0-0,2-3", "bytes=--1"}) {
    const answer a = s.get(m.content, {{"Range", range}});
    INFO(range << " -> " << a.status);
    CHECK(a.status == 200);
    CHECK(a.body == m.bytes);
  }
  for (const char* range : {"bytes=-0", "bytes=18446744073709551616-", "bytes=0-18446744073709551616"}) {
    const answer a = s.get(m.content, {{"Range", range}});
    INFO(range << " -> " << a.status);
    CHECK((a.status == 200 || a.status == 416 || (a.status == 206 && a.body == m.bytes)));
  }
}

TEST_CASE("HEAD with a range has no body and leaves the connection in step") {
  const stage s;
  const made m = one_output(s);
  raw_socket socket(s.port());
  const std::string host = " HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n";
  socket.send("HEAD " + m.content + host + "Range: bytes=0-3\r\n\r\nGET /api/v2/health" + host + "\r\n");
  const answer head = socket.receive_answer("HEAD");
  CHECK((head.status == 206 || head.status == 200));
  CHECK(socket.receive_answer().status == 200);
}

TEST_CASE("clients that leave in the middle cost no connection and no descriptor") {
  const stage s;
  s.knobs("{\"preview_bytes\":0}");
  const made m =
      one_output(s, R"({"1":{"class_type":"EmptyLatentImage","inputs":{"width":2048,"height":2048,"batch_size":16}},)"
                    R"("2":{"class_type":"SaveLatent","inputs":{"samples":["1",0],"filename_prefix":"big"}}})");
  REQUIRE(m.bytes.size() > 16'000'000);
  const std::size_t before = s.portico.descriptors(), upstream_before = s.standin.descriptors();
  for (int i = 0; i < 100; ++i) {
    raw_socket socket(s.port(), 4096);
    socket.send("GET " + m.content + " HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n\r\n");
    CHECK(socket.receive(10).size() == 10);
    if (i % 2) socket.reset();
  }
  CHECK(eventually(
      [&] { return s.portico.descriptors() <= before + 4 && s.standin.descriptors() <= upstream_before + 4; }));
  CHECK(s.get(m.content, {{"Range", "bytes=0-3"}}).body == m.bytes.substr(0, 4));
}

TEST_CASE("an output is streamed, not held whole") {
  const stage s;
  const made m =
      one_output(s, R"({"1":{"class_type":"EmptyLatentImage","inputs":{"width":4096,"height":4096,"batch_size":24}},)"
                    R"("2":{"class_type":"SaveLatent","inputs":{"samples":["1",0],"filename_prefix":"big"}}})");
  REQUIRE(m.bytes.size() > 100'000'000);
  const std::size_t before = s.portico.resident_kb();
  std::vector<raw_socket> slow;
  for (int i = 0; i < 4; ++i) {
    slow.emplace_back(s.port(), 4096);
    slow.back().send("GET " + m.content + " HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n\r\n");
    CHECK(slow.back().receive(100).size() == 100);
  }
  std::this_thread::sleep_for(500ms);
  CHECK(s.portico.resident_kb() < before + 20'000);
}

TEST_CASE("names that are paths or hold odd characters lead to their bytes, under their base name") {
  const stage s;
  int colour = 1;
  for (const auto& [reported, base] :
       std::vector<std::pair<std::string, std::string>>{{"/tmp/a b/\xC3\xA9.png", "\xC3\xA9.png"},
                                                        {"C:\\out\\x.png", "x.png"},
                                                        {"sub/y.png", "y.png"},
                                                        {"a&b.png", "a&b.png"},
                                                        {"a#b.png", "a#b.png"},
                                                        {"a%2fb.png", "a%2fb.png"},
                                                        {"a+b.png", "a+b.png"},
                                                        {"a\"b.png", "a\"b.png"},
                                                        {"a\nb.png", "a\nb.png"},
                                                        {"a b?c=d.png", "a b?c=d.png"}}) {
    INFO("reported as " << reported);
    s.knobs("{\"filenames\":[" + quoted(reported) + "]}");
    const answer job = s.done(quick_graph(++colour));
    CHECK(at(job.body, "outputs.0.name") == base);
    const answer a = s.get("/api/v2/assets/" + at(job.body, "outputs.0.id") + "/content");
    CHECK(a.status == 200);
    CHECK(a.body.compare(1, 3, "PNG") == 0);
    CHECK(a.header("content-disposition").find('\n') == std::string::npos);
    const std::string view = at(s.counters(), "last_view");
    CHECK(view.find("..") == std::string::npos);
    CHECK(view.find("filename=" + percent_encoded(base)) != std::string::npos);
  }
}

TEST_CASE("a name that climbs is never asked for") {
  const stage s;
  int colour = 1;
  for (const char* reported : {"..", "../../etc/passwd", "a/..", "..\\..\\x"}) {
    s.knobs("{\"filenames\":[" + quoted(reported) + "]}");
    const std::string id = s.submitted(quick_graph(++colour));
    const answer job = s.wait_for(id, "succeeded");
    const std::string asset = at(job.body, "outputs.0.id");
    if (asset != "<absent>") {
      const int status = s.get("/api/v2/assets/" + asset + "/content").status;
      CHECK((status == 404 || status == 200));  // the base name, where there is one, is a name like another
    }
    CHECK(at(s.counters(), "last_view").find("..") == std::string::npos);
  }
}

TEST_CASE("an id that was changed in any way is unknown, without a question upstream") {
  const stage s;
  const made m = one_output(s);
  const int views = s.calls("GET /view");
  std::vector<std::string> forged = {
      m.id.substr(0, m.id.size() - 1), m.id + "=", m.id + "==", m.id + "A", "A" + m.id, m.id + "."};
  const std::size_t dot = m.id.find('.');
  if (dot != std::string::npos) {
    CHECK(m.id.find('.', dot + 1) == std::string::npos);
    forged.push_back(m.id.substr(0, dot));
    forged.push_back(m.id.substr(0, dot + 1));
    forged.push_back(m.id.substr(0, dot) + "=" + m.id.substr(dot));
  }
  for (std::size_t i = 0; i < m.id.size(); i += 3) {
    std::string flipped = m.id;
    flipped[i] = flipped[i] == 'A' ? 'B' : 'A';
    if (flipped != m.id) forged.push_back(flipped);
  }
  // The last character of a base64url text may hold bits that stand for nothing: only one spelling is the id.
  for (const char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")) {
    std::string twin = m.id;
    twin.back() = c;
    if (twin != m.id) forged.push_back(twin);
  }
  std::string standard = m.id;
  for (char& c : standard) c = c == '-' ? '+' : c == '_' ? '/' : c;
  if (standard != m.id) forged.push_back(percent_encoded(standard));
  for (const std::string& id : forged) {
    INFO(id);
    CHECK(code(s.get("/api/v2/assets/" + id)) == "404 not_found");
    CHECK(code(s.get("/api/v2/assets/" + id + "/content")) == "404 not_found");
  }
  const answer reference =
      s.submit(R"({"1":{"class_type":"LoadImage","inputs":{"image":{"__type":"core/ASSET","info":{"id":")" + forged[3] +
               "\"}}}}}");
  CHECK(code(reference) == "422 missing_asset");
  CHECK(s.calls("GET /view") == views);
}

TEST_CASE("an id of another server is unknown") {
  const stage one, other;
  const made m = one_output(one);
  CHECK(code(other.get(m.content)) == "404 not_found");
  CHECK(other.calls("GET /view") == 0);
}

TEST_CASE("a file that is gone is output_unavailable; an upstream that fails is not") {
  const stage s;
  s.knobs("{\"lose_outputs\":true}");
  const answer job = s.done(quick_graph());
  const std::string content = "/api/v2/assets/" + at(job.body, "outputs.0.id") + "/content";
  CHECK(code(s.get(content)) == "404 output_unavailable");
  for (const char* status : {"500", "403", "400", "503"}) {
    s.knobs(std::string(R"({"faults":{"GET /view":{"status":)") + status + "}}}");
    CHECK(code(s.get(content)) == "502 upstream_error");
  }
}

TEST_CASE("a redirect of the upstream is not followed") {
  const stage s;
  const made m = one_output(s);
  s.knobs(R"({"faults":{"GET /view":{"status":302}}})");
  CHECK(code(s.get(m.content)) == "502 upstream_error");
}

TEST_CASE("an upstream that is cut within the bytes is seen as an incomplete answer") {
  const stage s;
  const made m = one_output(s);
  s.knobs(R"({"faults":{"GET /view":{"cut_at":20}}})");
  CHECK_THROWS_AS(s.get(m.content), std::runtime_error);
  s.knobs(R"({"faults":null})");
  CHECK(s.get(m.content).body == m.bytes);
}

TEST_CASE("an output that a browser would run is served for download only") {
  const stage s;
  int colour = 1;
  for (const char* name : {"page.html", "picture.svg", "code.js", "PAGE.HTML", "page.xhtml"}) {
    s.knobs("{\"filenames\":[" + quoted(name) + "]}");
    const answer job = s.done(quick_graph(++colour));
    const answer a = s.get("/api/v2/assets/" + at(job.body, "outputs.0.id") + "/content");
    CHECK(a.status == 200);
    CHECK(a.header("content-type") == "application/octet-stream");
    CHECK(a.header("x-content-type-options") == "nosniff");
    CHECK(a.header("content-disposition").compare(0, 10, "attachment") == 0);
  }
}
