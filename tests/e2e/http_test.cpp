// HTTP from outside: requests in pieces, noise, limits, target forms, and strictness.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "stage.hpp"

using namespace e2e;

namespace {

const std::string only_health = "[server]\nthreads = 2\n[plugins]\nenabled = health\n";

std::string health_request(const process& p) {
  return "GET /api/v2/health HTTP/1.1\r\nHost: " + p.authority() + "\r\n\r\n";
}

// Sends the bytes; the status of the answer, after which the connection must be closed.
int refused_with(std::uint16_t port, const std::string& bytes) {
  raw_socket s(port);
  s.send(bytes);
  const answer a = s.receive_answer("GET", 5s * slowness);
  CHECK(s.closes(2s * slowness));
  CHECK(at(a.body, "error.code") != "<not JSON>");
  return a.status;
}

// A server that is held up is slow each time; a machine that is busy is not.
void check_health_is_quick(std::uint16_t port) {
  auto best = 10s * 1.0;
  for (int i = 0; i < 3 && best > 50ms; ++i) {
    const auto before = std::chrono::steady_clock::now();
    CHECK(get(port, "/api/v2/health").status == 200);
    best = std::min<decltype(best)>(best, std::chrono::steady_clock::now() - before);
  }
  CHECK(best < 50ms * slowness);
}

}  // namespace

TEST_CASE("a request that comes one byte every 20 ms is answered once it is complete") {
  const process portico("portico", only_health);
  const std::string bytes = health_request(portico);
  raw_socket s(portico.port());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(s.receive(1, 0ms).empty());
    s.send(bytes.substr(i, 1));
    std::this_thread::sleep_for(20ms);
  }
  CHECK(s.receive_answer().status == 200);
}

TEST_CASE("a request cut in two at any place is answered") {
  const process portico("portico", only_health);
  const std::string bytes = health_request(portico);
  std::vector<raw_socket> sockets;
  for (std::size_t i = 1; i < bytes.size(); ++i) sockets.emplace_back(portico.port());
  for (std::size_t i = 1; i < bytes.size(); ++i) sockets[i - 1].send(bytes.substr(0, i));
  std::this_thread::sleep_for(50ms);
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    CHECK(sockets[i - 1].receive(1, 0ms).empty());
    sockets[i - 1].send(bytes.substr(i));
  }
  for (raw_socket& s : sockets) CHECK(s.receive_answer().status == 200);
}

TEST_CASE("a thousand connections of noise are refused with 400, and others do not notice") {
  const process portico("portico", only_health);
  std::mt19937 random(20240607);
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<raw_socket> sockets;
    for (int i = 0; i < 50; ++i) {
      std::string noise(200, '\0');
      for (char& c : noise) c = static_cast<char>(random());
      noise[0] = static_cast<char>(noise[0] | 0x80);  // no method begins so; what could still be a request may wait
      sockets.emplace_back(portico.port());
      sockets.back().send(noise);
    }
    check_health_is_quick(portico.port());
    for (raw_socket& s : sockets) CHECK(s.receive_all(1s * slowness).compare(0, 13, "HTTP/1.1 400 ") == 0);
  }
}

TEST_CASE("other protocols are refused") {
  const process portico("portico", only_health);
  const std::string hello("\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", 11);
  CHECK(refused_with(portico.port(), hello + std::string(160, 'x')) == 400);
  const int http2 = refused_with(portico.port(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  CHECK((http2 == 400 || http2 == 505));
}

TEST_CASE("what is too long is refused by its own status") {
  const process portico("portico", only_health);
  const std::string host = "Host: " + portico.authority() + "\r\n";
  CHECK(refused_with(portico.port(), "GET /" + std::string(70'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n") == 414);
  std::string many;
  for (int i = 0; i < 400; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  CHECK(refused_with(portico.port(), "GET /api/v2/health HTTP/1.1\r\n" + host + many + "\r\n") == 431);
  CHECK(refused_with(portico.port(),
                     "GET /api/v2/health HTTP/1.1\r\n" + host + "X: " + std::string(20'000, 'x') + "\r\n\r\n") == 431);
}

TEST_CASE("a head that does not end in time is refused with 408") {
  const process portico("portico", "[server]\nthreads = 2\nhead_timeout = 500ms\n[plugins]\nenabled = health\n");
  raw_socket s(portico.port());
  s.send("GET /api/v2/health HTTP/1.1\r\nHo");
  std::this_thread::sleep_for(100ms);
  check_health_is_quick(portico.port());
  CHECK(s.receive_answer("GET", 3s).status == 408);
  CHECK(s.closes(2s));
}

TEST_CASE("malformed requests are refused and the connection closed") {
  const process portico("portico", only_health);
  const std::string host = "Host: " + portico.authority() + "\r\n", line = "GET /api/v2/health HTTP/1.1\r\n",
                    post = "POST /api/v2/health HTTP/1.1\r\n" + host;
  const auto status = [&](const std::string& bytes) {
    const int code = refused_with(portico.port(), bytes);
    return code == 400 || code == 501 ? "refused" : std::to_string(code);
  };
  CHECK(status("GET /api/v2/health HTTP/1.1\nHost: x\n\n") == "refused");
  CHECK(status(line + host + "X: a\r\n  folded\r\n\r\n") == "refused");
  CHECK(status(line + "Host : " + portico.authority() + "\r\n\r\n") == "refused");
  CHECK(status(line + "\r\n") == "refused");
  CHECK(status(line + host + host + "\r\n") == "refused");
  CHECK(status(line + host + "no colon\r\n\r\n") == "refused");
  CHECK(status(line + host + std::string("X: a\0b\r\n\r\n", 10)) == "refused");
  CHECK(status(post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == "refused");
  CHECK(status(post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc") == "refused");
  CHECK(status(post + "Content-Length: +3\r\n\r\nabc") == "refused");
  CHECK(status(post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n") == "refused");
  CHECK(status("GET /api/v2/health HTTP/3.7\r\n" + host + "\r\n") != "200");
}

TEST_CASE("a bad chunk size ends the request and the connection") {
  const stage s;
  const std::string head =
      "POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"xyz\r\n", "-1\r\n", "11111111111111111\r\n", "1\r\nab\r\n", "0x1\r\na\r\n"}) {
    raw_socket socket(s.port());
    socket.send(head + body);
    CHECK(socket.receive_answer("POST", 5s * slowness).status == 400);
    CHECK(socket.closes(2s * slowness));
  }
  CHECK(s.calls("POST /prompt") == 0);
}

TEST_CASE("requests sent in one go are answered in their order") {
  const process portico("portico", only_health);
  raw_socket s(portico.port());
  const std::string host = " HTTP/1.1\r\nHost: " + portico.authority() + "\r\n\r\n";
  s.send("GET /api/v2/health" + host + "GET /none" + host + "HEAD /api/v2/health" + host + "GET /api/v2/health" + host);
  CHECK(s.receive_answer().status == 200);
  CHECK(s.receive_answer().status == 404);
  const answer head = s.receive_answer("HEAD");
  CHECK(head.status == 200);
  const answer last = s.receive_answer();
  CHECK(last.status == 200);
  CHECK(head.header("content-length") == std::to_string(last.body.size()));
}

TEST_CASE("a body may come in chunks, and after 100 Continue") {
  const stage s;
  const std::string body = "{\"workflow\":" + quick_graph() + "}";
  raw_socket socket(s.port());
  const std::string head = "POST /api/v2/jobs HTTP/1.1\r\nHost: " + s.portico.authority() + "\r\n";
  char size[16];
  std::snprintf(size, sizeof size, "%zx", body.size() - 5);
  socket.send(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n" + body.substr(0, 5) + "\r\n" + size + ";x=y\r\n" +
              body.substr(5) + "\r\n0\r\nTrailer: t\r\n\r\n");
  CHECK(socket.receive_answer("POST").status == 201);
  socket.send(head + "Expect: 100-continue\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  CHECK(socket.receive(25, 5s) == "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send(body);
  CHECK(socket.receive_answer("POST").status == 201);
  CHECK(s.calls("POST /prompt") == 2);
}

TEST_CASE("target forms and percent tricks find no other route, and nothing reaches the upstream") {
  const stage s;
  const std::string host = "Host: " + s.portico.authority() + "\r\n";
  CHECK(eventually([&] { return at(s.counters(), "websockets.open") == "1"; }));
  const auto status = [&](const std::string& line, const std::string& host_line) {
    raw_socket socket(s.port());
    socket.send(line + " HTTP/1.1\r\n" + host_line + "Connection: close\r\n\r\n");
    const answer a = socket.receive_answer(line.substr(0, 4) == "HEAD" ? "HEAD" : "GET", 5s * slowness);
    INFO(line << " -> " << a.status << ' ' << a.body);
    CHECK((a.status == 200 || line[0] == 'O' || at(a.body, "error.code") != "<not JSON>"));
    return a.status;
  };
  for (const char* path : {"/api/v2/jobs/%2e%2e%2fqueue", "/api/v2/assets/%c0%ae%c0%ae/content", "//api/v2/health",
                           "/api/v2/./health", "/API/v2/health", "/api/v2/health/", "/api/v2/jobs/../health",
                           "/api/v2/jobs/%2e%2e/health", "/api/v2/jobs/..%2F..%2Ffree"})
    CHECK(status(std::string("GET ") + path, host) == 404);
  for (const char* path :
       {"/api/v2/assets/%00", "/api/v2\\jobs", "/api/v2/health#x", "/api/v2/jobs/%zz", "api/v2/health"}) {
    const int got = status(std::string("GET ") + path, host);
    CHECK((got == 400 || got == 404));
  }
  CHECK(status("GET http://evil.test/api/v2/health", host) == 403);
  CHECK(status("GET http://" + s.portico.authority() + "/api/v2/health", host) == 200);
  CHECK(status("GET /api/v2/health", "Host: evil.test\r\n") == 403);
  CHECK(status("OPTIONS *", host) == 200);
  for (const char* line : {"TRACE /api/v2/health", "CONNECT a:1", "FOO /api/v2/health"}) {
    const int got = status(line, host);
    CHECK((got == 405 || got == 501 || (line[0] == 'C' && got == 400)));
  }
  CHECK(s.calls("GET /queue") == 0);
  CHECK(s.calls("GET /history/{id}") == 0);
  CHECK(s.calls("GET /view") == 0);
}

TEST_CASE("a wrong method is 405 and names the right ones; HEAD is GET without a body") {
  const process portico("portico", only_health);
  const answer wrong = request(portico.port(), "DELETE", "/api/v2/health");
  CHECK(wrong.status == 405);
  CHECK(wrong.header("allow").find("GET") != std::string::npos);
  CHECK(at(wrong.body, "error.code") == "method_not_allowed");
  const answer full = get(portico.port(), "/api/v2/health"), head = request(portico.port(), "HEAD", "/api/v2/health");
  CHECK(head.status == 200);
  CHECK(head.header("content-length") == std::to_string(full.body.size()));
  CHECK(head.header("content-type") == full.header("content-type"));
}

TEST_CASE("health answers at once, without asking the upstream, and hides its password") {
  const process portico("portico", only_health + "[upstream.comfyui]\nurl = http://joe:secret@127.0.0.1:1/base\n");
  const answer a = get(portico.port(), "/api/v2/health");
  CHECK(a.status == 200);
  CHECK(a.header("content-type") == "application/json; charset=utf-8");
  CHECK(at(a.body, "status") == "healthy");
  CHECK(at(a.body, "upstream") == "http://127.0.0.1:1/base");
  CHECK(portico.log().find("secret") == std::string::npos);
}
