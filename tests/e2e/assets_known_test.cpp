// Contents that are known already: dedup, from-hash, by-hash, deleting, lifetimes, bytes that vanish.
#include <catch2/catch.hpp>
#include <thread>

#include "form.hpp"
#include "stage.hpp"

using namespace e2e;

namespace {

answer known(const stage& s, const std::string& hash) {
  return request(s.port(), "HEAD", "/api/v2/assets/by-hash/" + hash);
}
answer from_hash(const stage& s, const std::string& hash, const std::string& rest = {}) {
  return s.post("/api/v2/assets/from-hash", "{\"hash\":\"" + hash + "\"" + rest + "}");
}
answer remove(const stage& s, const std::string& id) { return request(s.port(), "DELETE", "/api/v2/assets/" + id); }

}  // namespace

TEST_CASE("a second upload of the same bytes is the same asset, whatever its name") {
  const stage s;
  const answer first = upload(s.port(), "bytes", "a.png"),
               second = upload(s.port(), "bytes", "input/b.png", "image/webp");
  CHECK(outcome(first) == "201");
  CHECK(outcome(second) == "200");
  CHECK(at(second.body, "id") == at(first.body, "id"));
  CHECK(at(second.body, "hash") == at(first.body, "hash"));
  CHECK(at(second.body, "created_new") == "false");
  CHECK(s.calls("POST /upload/image") == 1);
}

TEST_CASE("a known content is found by its hash and can be had again without its bytes") {
  const stage s;
  const answer a = upload(s.port(), "bytes", "a.png");
  const std::string hash = at(a.body, "hash");
  const answer head = known(s, hash);
  CHECK(head.status == 200);
  CHECK(head.body.empty());
  CHECK(known(s, "blake3%3A" + hash.substr(7)).status == 200);
  const answer again = from_hash(s, hash, R"(,"file_path":"x.png","tags":["t"])");
  CHECK(again.status == 200);
  CHECK(at(again.body, "id") == at(a.body, "id"));
  CHECK(at(again.body, "created_new") == "false");
}

TEST_CASE("an unknown content is 404, and only the exact text of a hash is one") {
  const stage s;
  const std::string hash = at(upload(s.port(), "bytes", "a.png").body, "hash");
  std::string upper = hash;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string& other :
       {std::string("blake3:") + std::string(64, '0'), upper, hash.substr(7), hash + "0", std::string("x")}) {
    INFO(other);
    CHECK(known(s, other).status == 404);
    CHECK(outcome(from_hash(s, other)) == "404 blob_not_found");
  }
  const answer get = s.get("/api/v2/assets/by-hash/" + hash);
  CHECK(get.status == 405);
  CHECK(get.header("allow").find("HEAD") != std::string::npos);
}

TEST_CASE("a from-hash body that is wrong says how") {
  const stage s;
  for (const char* body : {"", "{", "[]", "null", "1", "\"x\""}) {
    INFO(body);
    CHECK(outcome(s.post("/api/v2/assets/from-hash", body)) == "400 invalid_request");
  }
  for (const char* body : {"{}", R"({"hash":null})", R"({"hash":5})", R"({"hash":"x","expires_in":59})"}) {
    INFO(body);
    CHECK(outcome(s.post("/api/v2/assets/from-hash", body)) == "422 invalid_request");
  }
}

TEST_CASE("a deleted asset is gone under its id, its hash and as a reference, and can be uploaded anew") {
  const stage s;
  const answer a = upload(s.port(), "bytes", "a.png");
  const std::string id = at(a.body, "id"), hash = at(a.body, "hash");
  const answer gone = remove(s, id);
  CHECK(gone.status == 204);
  CHECK(gone.body.empty());
  CHECK(outcome(remove(s, id)) == "404 not_found");
  CHECK(outcome(s.get("/api/v2/assets/" + id)) == "404 not_found");
  CHECK(outcome(s.get("/api/v2/assets/" + id + "/content")) == "404 not_found");
  CHECK(known(s, hash).status == 404);
  CHECK(outcome(from_hash(s, hash)) == "404 blob_not_found");
  CHECK(outcome(s.submit(R"({"1":{"class_type":"LoadImage","inputs":{"image":{"__type":"core/ASSET","info":{"id":")" +
                         id + R"(","hash":")" + hash + R"("}}}}})")) == "422 missing_asset");
  const answer anew = upload(s.port(), "bytes", "a.png");
  CHECK(outcome(anew) == "201");
  CHECK(at(anew.body, "id") != id);
  CHECK(s.get("/api/v2/assets/" + at(anew.body, "id") + "/content").body == "bytes");
}

TEST_CASE("an output cannot be deleted") {
  const stage s;
  const std::string id = at(s.done(quick_graph()).body, "outputs.0.id");
  CHECK(outcome(remove(s, id)) == "404 not_found");
  CHECK(s.get("/api/v2/assets/" + id).status == 200);
}

TEST_CASE("deleting races with reading and with clients that leave, without a fault") {
  const stage s;
  for (int i = 0; i < 50; ++i) {
    const answer a = upload(s.port(), "bytes " + std::to_string(i), "a" + std::to_string(i) + ".bin");
    const std::string id = at(a.body, "id");
    REQUIRE(a.status == 201);
    answer read;
    std::thread reader([&] { read = s.get("/api/v2/assets/" + id + "/content"); });
    std::thread leaver([&] {
      raw_socket socket(s.port());
      socket.send("DELETE /api/v2/assets/" + id + " HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n\r\n");
      if (i % 2) socket.reset();
    });
    const answer deleted = remove(s, id);
    reader.join();
    leaver.join();
    CHECK((read.status == 200 || read.status == 404));
    CHECK((deleted.status == 204 || deleted.status == 404));
    CHECK(outcome(s.get("/api/v2/assets/" + id)) == "404 not_found");
  }
}

TEST_CASE("many uploads of one content at one time are one asset") {
  const stage s;
  std::vector<answer> answers(8);
  std::vector<std::thread> threads;
  for (answer& a : answers) threads.emplace_back([&] { a = upload(s.port(), std::string(300'000, 'x'), "same.bin"); });
  for (auto& t : threads) t.join();
  int created = 0;
  for (const answer& a : answers) {
    CHECK((a.status == 200 || a.status == 201));
    created += a.status == 201;
    CHECK(at(a.body, "id") == at(answers[0].body, "id"));
  }
  CHECK(created == 1);
}

TEST_CASE("a lifetime is taken from a minute to a week, and lengthened but never shortened") {
  const stage s;
  const auto with = [&](const std::string& seconds, const std::string& bytes = "x") {
    return upload(s.port(), form().field("file_path", "a.png").field("expires_in", seconds).file(bytes));
  };
  for (const char* bad : {"59", "604801", "abc", "60.5"}) {
    INFO(bad);
    CHECK(outcome(with(bad)) == "422 invalid_request");
  }
  const answer week = with("604800");
  CHECK(outcome(week) == "201");
  const std::string until = at(week.body, "expires_at");
  CHECK(until.size() == 27);
  CHECK(at(with("60").body, "expires_at") == until);
  CHECK(outcome(with("60", "other")) == "201");
  const std::string hash = at(week.body, "hash");
  CHECK(at(from_hash(s, hash, ",\"expires_in\":60").body, "expires_at") == until);
  CHECK(at(from_hash(s, hash).body, "expires_at") == "<absent>");
  CHECK(at(with("604800").body, "expires_at") == "<absent>");
  CHECK(at(with("", "empty").body, "expires_at") == "<absent>");
  CHECK(at(upload(s.port(), "plain", "p.png").body, "expires_at") == "<absent>");
}

TEST_CASE("bytes that vanished upstream are noticed and not offered again") {
  const stage s;
  const answer a = upload(s.port(), "bytes", "a.png");
  const std::string id = at(a.body, "id"), hash = at(a.body, "hash");
  s.knobs(R"({"faults":{"GET /view":{"status":404}}})");
  CHECK(outcome(s.get("/api/v2/assets/" + id + "/content")) == "404 output_unavailable");
  CHECK(known(s, hash).status == 404);
  CHECK(outcome(from_hash(s, hash)) == "404 blob_not_found");
  CHECK(s.get("/api/v2/assets/" + id).status == 200);
  s.knobs(R"({"faults":null})");
  const answer anew = upload(s.port(), "bytes", "a.png");
  CHECK(outcome(anew) == "201");
  CHECK(at(anew.body, "id") != id);
  CHECK(known(s, hash).status == 200);
}
