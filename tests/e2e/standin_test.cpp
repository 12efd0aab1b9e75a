// The stand-in itself: that it behaves as a ComfyUI does, so that what is tested against it means something.
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/WebSocket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "stage.hpp"

using namespace e2e;

namespace {

const char* const ini =
    "[server]\nthreads = 2\ndrain_timeout = 300ms\n[plugins]\nenabled = "
    "comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 10ms\n";
const std::string job_a = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", job_b = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";

answer submit(const process& p, const std::string& graph, const std::string& id, const std::string& client,
              const std::string& rest = {}) {
  return post(p.port(), "/prompt",
              "{\"prompt\":" + graph + ",\"prompt_id\":\"" + id + "\",\"client_id\":\"" + client + "\"" + rest + "}");
}
void knob(const process& p, const std::string& json) { REQUIRE(post(p.port(), "/standin/knobs", json).status == 200); }
std::string history(const process& p, const std::string& id) { return at(get(p.port(), "/history/" + id).body, id); }
bool finished_as(const process& p, const std::string& id, const std::string& status) {
  return eventually([&] { return at(history(p, id), "status.status_str") == status; });
}

class listener {
 public:
  listener(const process& p, const std::string& client, bool metadata = false) : session_("127.0.0.1", p.port()) {
    Poco::Net::HTTPRequest request("GET", "/ws?clientId=" + client, "HTTP/1.1");
    Poco::Net::HTTPResponse response;
    socket_.emplace(session_, request, response);
    socket_->setMaxPayloadSize(64 << 20);
    if (!metadata) return;
    const std::string flags = R"({"type":"feature_flags","data":{"supports_preview_metadata":true}})";
    socket_->sendFrame(flags.data(), static_cast<int>(flags.size()));
  }
  // The next message, of whatever kind; nothing when none comes within the time, or the socket has ended.
  std::optional<std::string> next(std::chrono::milliseconds within = 5s) {
    socket_->setReceiveTimeout(
        Poco::Timespan(within.count() * 1000));  // poll() would not see what came with the handshake
    Poco::Buffer<char> buffer(0);
    int flags = 0, n = 0;
    try {
      n = socket_->receiveFrame(buffer, flags);
    } catch (const Poco::Exception&) {  // too late, or reset
      return std::nullopt;
    }
    if (n <= 0 || (flags & Poco::Net::WebSocket::FRAME_OP_BITMASK) == Poco::Net::WebSocket::FRAME_OP_CLOSE)
      return std::nullopt;
    return std::string(buffer.begin(), static_cast<std::size_t>(n));
  }
  // The next text message of the type, past all others.
  std::optional<std::string> next_of(const std::string& type) {
    while (auto m = next())
      if (at(*m, "type") == type) return m;
    return std::nullopt;
  }
  // The types of all text messages up to `executing` without a node.
  std::vector<std::string> until_the_end(std::vector<std::string>* binary = nullptr) {
    std::vector<std::string> types;
    while (auto m = next()) {
      if (m->front() != '{') {
        if (binary) binary->push_back(*m);
        continue;
      }
      types.push_back(at(*m, "type"));
      if (types.back() == "executing" && at(*m, "data.node") == "null") return types;
    }
    return types;
  }
  void ping() {
    socket_->sendFrame("x", 1, int{Poco::Net::WebSocket::FRAME_FLAG_FIN} | int{Poco::Net::WebSocket::FRAME_OP_PING});
  }
  void close() { socket_->close(); }

 private:
  Poco::Net::HTTPClientSession session_;
  std::optional<Poco::Net::WebSocket> socket_;
};

std::size_t count(const std::vector<std::string>& all, const std::string& one) {
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), one));
}

}  // namespace

TEST_CASE("a socket hears status with its sid first, then the server's features when it tells its own") {
  const process p("standin", ini);
  listener a(p, "me", true);
  const std::string first = a.next().value_or("");
  CHECK(at(first, "type") == "status");
  CHECK(at(first, "data.sid") == "me");
  CHECK(at(first, "data.status.exec_info.queue_remaining") == "0");
  const std::string second = a.next().value_or("");
  CHECK(at(second, "type") == "feature_flags");
  CHECK(at(second, "data.supports_preview_metadata") == "true");
}

TEST_CASE("a run is told in ComfyUI's order, success before the history has it") {
  const process p("standin", ini);
  listener a(p, "me");
  knob(p, "{\"history_delay_ms\":300}");
  submit(p, sampling_graph(3), job_a, "me");
  REQUIRE(a.next_of("execution_success"));
  CHECK(history(p, job_a) == "<absent>");
  CHECK(at(get(p.port(), "/queue").body, "queue_running.0.1") == job_a);
  const std::string status = a.next().value_or("");
  CHECK(at(status, "type") == "status");
  CHECK(at(status, "data.status.exec_info.queue_remaining") == "0");
  const std::string end = a.next().value_or("");
  CHECK(at(end, "type") == "executing");
  CHECK(at(end, "data.node") == "null");
  CHECK(at(end, "data.prompt_id") == job_a);
  CHECK(at(history(p, job_a), "status.status_str") == "success");
}

TEST_CASE("messages of a prompt go to its client alone, status goes to all") {
  const process p("standin", ini);
  listener mine(p, "me"), other(p, "you");
  submit(p, sampling_graph(2), job_a, "me");
  const std::vector<std::string> heard = mine.until_the_end();
  CHECK(count(heard, "execution_start") == 1);
  CHECK(count(heard, "execution_cached") == 1);
  CHECK(count(heard, "progress") == 2);
  CHECK(count(heard, "progress_state") >= 2);
  CHECK(count(heard, "executed") == 1);
  CHECK(count(heard, "execution_success") == 1);
  while (const auto m = other.next(300ms)) CHECK(at(*m, "type") == "status");
}

TEST_CASE("previews come in the old form, or with metadata to who asked for that") {
  const process p("standin", ini);
  listener plain(p, "plain"), rich(p, "rich", true);
  std::vector<std::string> old_form, new_form;
  submit(p, sampling_graph(2, 1), job_a, "plain");
  plain.until_the_end(&old_form);
  submit(p, sampling_graph(2, 2), job_b, "rich");
  rich.until_the_end(&new_form);
  REQUIRE(old_form.size() == 2);
  REQUIRE(new_form.size() == 2);
  CHECK(old_form[0].substr(0, 8) == std::string("\0\0\0\1\0\0\0\2", 8));
  CHECK(old_form[0].substr(8, 4) == "\x89PNG");
  CHECK(new_form[0].substr(0, 4) == std::string("\0\0\0\4", 4));
  const auto size = static_cast<std::size_t>(static_cast<unsigned char>(new_form[0][6])) * 256 +
                    static_cast<unsigned char>(new_form[0][7]);
  const std::string metadata = new_form[0].substr(8, size);
  CHECK(at(metadata, "prompt_id") == job_b);
  CHECK(at(metadata, "node_id") == "3");
  CHECK(at(metadata, "image_type") == "image/png");
  CHECK(new_form[0].substr(8 + size, 4) == "\x89PNG");
}

TEST_CASE("a second socket of one client takes over, and when the first ends the second goes deaf but answers pings") {
  const process p("standin", ini);
  std::optional<listener> first(std::in_place, p, "me");
  first->next();
  listener second(p, "me");
  CHECK(at(second.next().value_or(""), "data.sid") == "me");
  submit(p, quick_graph(1), job_a, "me");
  CHECK(count(second.until_the_end(), "execution_success") == 1);
  CHECK_FALSE(first->next(200ms));
  first->close();
  first.reset();
  CHECK(eventually([&] { return at(get(p.port(), "/standin/counters").body, "websockets.open") == "1"; }));
  submit(p, quick_graph(2), job_b, "me");
  CHECK(finished_as(p, job_b, "success"));
  CHECK_FALSE(second.next(200ms));
  second.ping();
  CHECK(second.next() == "x");  // the pong
}

TEST_CASE("a graph run again is cached, and its outputs are told again") {
  const process p("standin", ini);
  listener a(p, "me");
  submit(p, quick_graph(), job_a, "me");
  CHECK(at(a.next_of("execution_cached").value_or(""), "data.nodes") == "[]");
  a.until_the_end();
  submit(p, quick_graph(), job_b, "me");
  CHECK(at(a.next_of("execution_cached").value_or(""), "data.nodes").find("\"9\"") != std::string::npos);
  CHECK(at(a.next_of("executed").value_or(""), "data.output.images.0.filename") == "e2e_00001_.png");
  a.until_the_end();
  CHECK(at(history(p, job_b), "outputs.9.images.0.filename") == "e2e_00001_.png");
}

TEST_CASE("an interrupt ends the running prompt, or only the one it names") {
  const process p("standin", ini);
  listener a(p, "me");
  knob(p, "{\"hang\":true}");
  submit(p, sampling_graph(2, 1), job_a, "me");
  submit(p, sampling_graph(2, 2), job_b, "me");
  CHECK(eventually([&] { return at(get(p.port(), "/queue").body, "queue_running.0.1") == job_a; }));
  CHECK(post(p.port(), "/interrupt", "{\"prompt_id\":\"" + job_b + "\"}").status == 200);
  std::this_thread::sleep_for(100ms);
  CHECK(history(p, job_a) == "<absent>");
  CHECK(post(p.port(), "/interrupt", "").status == 200);
  const std::string told = a.next_of("execution_interrupted").value_or("");
  CHECK(at(told, "data.prompt_id") == job_a);
  CHECK(at(told, "data.node_id") == "3");
  CHECK(finished_as(p, job_a, "error"));
  CHECK(at(history(p, job_a), "status.completed") == "false");
  CHECK(at(get(p.port(), "/api/jobs/" + job_a).body, "status") == "cancelled");
  CHECK(at(post(p.port(), "/api/jobs/" + job_b + "/cancel", "").body, "cancelled") == "true");
  CHECK(finished_as(p, job_b, "error"));
  CHECK(at(post(p.port(), "/api/jobs/" + job_b + "/cancel", "").body, "cancelled") == "false");
}

TEST_CASE("a failing node is told with its words, and fails the prompt") {
  const process p("standin", ini);
  listener a(p, "me");
  knob(p, R"({"fail_node":"KSampler","error_text":"out of luck","error_type":"ValueError"})");
  submit(p, sampling_graph(2), job_a, "me");
  const std::string told = a.next_of("execution_error").value_or("");
  CHECK(at(told, "data.exception_message") == "out of luck");
  CHECK(at(told, "data.exception_type") == "ValueError");
  CHECK(at(told, "data.node_type") == "KSampler");
  CHECK(finished_as(p, job_a, "error"));
  CHECK(at(get(p.port(), "/api/jobs/" + job_a).body, "status") == "failed");
}

TEST_CASE("the queue has the smallest number first; one that wants to be first is; deleted ones leave no trace") {
  const process p("standin", ini);
  knob(p, "{\"hang\":true}");
  const auto id = [](int n) { return "00000000-0000-4000-8000-00000000000" + std::to_string(n); };
  submit(p, sampling_graph(2), id(0), "x");
  CHECK(eventually([&] { return at(get(p.port(), "/queue").body, "queue_running.0.1") == id(0); }));
  for (int i = 1; i <= 3; ++i) submit(p, quick_graph(i), id(i), "x");
  submit(p, quick_graph(4), id(4), "x", ",\"front\":true");
  CHECK(at(get(p.port(), "/queue").body, "queue_pending.0.1") == id(4));
  CHECK(at(get(p.port(), "/prompt").body, "exec_info.queue_remaining") == "5");
  post(p.port(), "/queue", "{\"delete\":[\"" + id(2) + "\"]}");
  knob(p, "{\"hang\":false}");
  CHECK(finished_as(p, id(3), "success"));
  CHECK(history(p, id(2)) == "<absent>");
  CHECK(get(p.port(), "/api/jobs/" + id(2)).status == 404);
  const std::string all = get(p.port(), "/history").body;
  CHECK(all.find(id(0)) < all.find(id(4)));
  CHECK(all.find(id(4)) < all.find(id(1)));
  CHECK(all.find(id(1)) < all.find(id(3)));
}

TEST_CASE("an upload under a taken name is renamed, and can be used and seen") {
  const process p("standin", ini);
  const auto upload = [&](const std::string& bytes) {
    const std::string body = "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"photo.png\"\r\n\r\n" +
                             bytes + "\r\n--b--\r\n";
    return at(post(p.port(), "/upload/image", body, {{"Content-Type", "multipart/form-data; boundary=b"}}).body,
              "name");
  };
  CHECK(upload("one") == "photo.png");
  CHECK(upload("two") == "photo (1).png");
  CHECK(upload("one") == "photo.png");
  CHECK(get(p.port(), "/view?type=input&filename=photo%20(1).png").body == "two");
  const std::string graph = R"({"1":{"class_type":"LoadImage","inputs":{"image":"photo (1).png"}},)"
                            R"("2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})";
  CHECK(submit(p, graph, job_a, "me").status == 200);
  CHECK(finished_as(p, job_a, "success"));
  CHECK(at(history(p, job_a), "outputs.2.images.0.type") == "temp");
}

TEST_CASE("view keeps to its rules") {
  const process p("standin", ini);
  submit(p, quick_graph(), job_a, "me");
  REQUIRE(finished_as(p, job_a, "success"));
  const auto view = [&](const std::string& query, const fields& headers = {}) {
    return get(p.port(), "/view?" + query, headers);
  };
  const answer whole = view("filename=e2e_00001_.png");
  CHECK(whole.status == 200);
  CHECK(whole.header("content-disposition") == "filename=\"e2e_00001_.png\"");
  CHECK(view("filename=e2e_00001_.png&subfolder=&type=output").body == whole.body);
  CHECK(view("filename=x/e2e_00001_.png").body == whole.body);
  CHECK(view("filename=%2Fetc%2Fpasswd").status == 400);
  CHECK(view("filename=..%2Fe2e_00001_.png").status == 400);
  CHECK(view("filename=").status == 400);
  CHECK(view("filename=a&type=other").status == 400);
  CHECK(view("filename=a&subfolder=..%2F..").status == 403);
  CHECK(view("filename=none.png").status == 404);
  CHECK(view("filename=e2e_00001_.png", {{"If-None-Match", whole.header("etag")}}).status == 304);
  const answer part = view("filename=e2e_00001_.png", {{"Range", "bytes=1-3"}});
  CHECK(part.status == 206);
  CHECK(part.body == "PNG");
  CHECK(part.header("content-range") == "bytes 1-3/" + std::to_string(whole.body.size()));
  CHECK(view("filename=e2e_00001_.png", {{"Range", "bytes=999999-"}}).status == 416);
  CHECK(view("filename=e2e_00001_.png", {{"Range", "bytes=1-3"}, {"If-Range", "\"other\""}}).status == 200);
}

TEST_CASE("one socket that is not read holds up all, unless the knob says otherwise") {
  const process p("standin", ini);
  knob(p, "{\"preview_bytes\":2000000,\"step_delay_ms\":0}");
  listener reader(p, "reader");
  raw_socket sleeper(p.port(), 4096);
  sleeper.send("GET /ws?clientId=sleeper HTTP/1.1\r\nHost: " + p.authority() +
               "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  CHECK(sleeper.receive(12) == "HTTP/1.1 101");
  submit(p, sampling_graph(8, 1), job_a, "sleeper");
  CHECK(finished_as(p, job_a, "success"));
  while (reader.next(300ms)) {
  }
  submit(p, quick_graph(), job_b, "reader");
  CHECK(finished_as(p, job_b, "success"));
  CHECK_FALSE(reader.next(300ms));  // not even a status
  sleeper.reset();
  CHECK(count(reader.until_the_end(), "execution_success") == 1);
}

TEST_CASE("faults happen on the routes they are set for, as often as they say") {
  const process p("standin", ini);
  knob(p, R"({"faults":{"GET /queue":{"status":503,"body":"busy","times":2},"GET /history":{"drop":true},)"
          R"("GET /system_stats":{"cut_at":10}}})");
  CHECK(get(p.port(), "/queue").status == 503);
  CHECK(get(p.port(), "/queue").body == "busy");
  CHECK(get(p.port(), "/queue").status == 200);
  CHECK_THROWS_AS(get(p.port(), "/history"), std::runtime_error);
  CHECK_THROWS_AS(get(p.port(), "/system_stats"), std::runtime_error);
  CHECK(post(p.port(), "/standin/knobs", "{\"hnag\":true}").status == 400);
  CHECK(post(p.port(), "/standin/reset", "").status == 204);
  CHECK(get(p.port(), "/history").status == 200);
  CHECK(at(get(p.port(), "/standin/counters").body, "calls.GET /history") == "1");
}

TEST_CASE("a restart forgets queue and history and closes the sockets, files stay") {
  const process p("standin", ini);
  submit(p, quick_graph(), job_a, "me");
  REQUIRE(finished_as(p, job_a, "success"));
  knob(p, "{\"hang\":true}");
  listener a(p, "me");
  submit(p, sampling_graph(2), job_b, "me");
  CHECK(a.next_of("progress"));
  CHECK(post(p.port(), "/standin/restart", "").status == 204);
  while (a.next(2s)) {
  }
  a.close();
  CHECK(eventually([&] { return at(get(p.port(), "/standin/counters").body, "websockets.open") == "0"; }));
  CHECK(get(p.port(), "/history").body == "{}");
  CHECK(at(get(p.port(), "/queue").body, "queue_running") == "[]");
  CHECK(get(p.port(), "/view?filename=e2e_00001_.png").status == 200);
  knob(p, "{\"hang\":false}");
  submit(p, quick_graph(5), job_b, "me");
  CHECK(finished_as(p, job_b, "success"));
}

TEST_CASE("a deaf socket is open and answers nothing, not even a ping; other sockets are as ever") {
  const process p("standin", ini);
  knob(p, "{\"websocket\":\"deaf\"}");
  listener deaf(p, "me", true);
  knob(p, "{\"websocket\":\"normal\"}");
  listener other(p, "you");
  CHECK(other.next());
  deaf.ping();
  submit(p, quick_graph(), job_a, "me");
  CHECK(finished_as(p, job_a, "success"));
  CHECK_FALSE(deaf.next(300ms));
  CHECK(other.next());
  CHECK(at(get(p.port(), "/standin/counters").body, "websockets.open") == "2");
}

TEST_CASE("a socket that is told to close does so after its first message") {
  const process p("standin", ini);
  knob(p, "{\"websocket\":\"close\"}");
  listener a(p, "me");
  CHECK(at(a.next().value_or(""), "type") == "status");
  CHECK_FALSE(a.next());
  a.close();
  CHECK(eventually([&] { return at(get(p.port(), "/standin/counters").body, "websockets.open") == "0"; }));
}
