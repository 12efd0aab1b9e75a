#include "plugins/jobs/job.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "plugins/comfy/json.hpp"
#include "plugins/jobs/list_query.hpp"
#include "plugins/jobs/registry.hpp"
#include "plugins/jobs/rejection.hpp"
#include "plugins/jobs/throttle.hpp"
#include "portico/response.hpp"

using jobs::job;
using jobs::status;

namespace {

constexpr std::int64_t t0 = 1'782'907'200'000'000;  // 2026-07-01T12:00:00Z
jobs::id_source ids;

constexpr char base[] = "http://h:1";

std::shared_ptr<job> make(std::int64_t created = t0, std::size_t graph = 2) {
  return std::make_shared<job>(ids.next(), created, std::make_shared<const std::string>(graph, '{'), 3, std::nullopt,
                               std::nullopt);
}

std::string text_of(const job& j, std::int64_t now = t0) {
  std::string out;
  j.append(out, base, now);
  REQUIRE(comfy::json::document(out).ok());
  return out;
}

jobs::ending ended(status s) {
  jobs::ending e;
  e.state = s;
  return e;
}

std::string output_text(const std::string& name, const std::string& id = {}) {
  jobs::output o;
  o.node_id = "9";
  o.type = "image";
  o.content_type = "image/png";
  o.filename = name;
  std::string text;
  jobs::append_output(text, o, id.empty() ? "asset-" + name : id, "J");
  return text;
}

void end(jobs::job& j, const jobs::ending& how, const std::vector<std::string>& outputs) {
  j.end(j.ended_as(how, outputs));
}

}  // namespace

TEST_CASE("only the canonical lower-case spelling is an id") {
  const jobs::job_id id = ids.next();
  const std::string text = jobs::to_text(id);
  CHECK(text.size() == 36);
  CHECK(text[14] == '4');
  CHECK(jobs::parse_job_id(text) == id);
  CHECK_FALSE(ids.next() == id);
  CHECK_FALSE(jobs::id_source().next() == jobs::id_source().next());
  for (const char* bad : {"", "..", "%2e%2e%2fqueue", "x?y=1", "0B8E5D9C-6B0E-4A51-9F6A-3F0D6A1B2C3D",
                          "{0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d}", "0b8e5d9c6b0e4a519f6a3f0d6a1b2c3d",
                          "urn:uuid:0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d", "0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3",
                          "0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3g", "0b8e5d9c_6b0e-4a51-9f6a-3f0d6a1b2c3d"})
    CHECK_FALSE(jobs::parse_job_id(bad));
}

TEST_CASE("times are written with six digits and Z") {
  std::string out;
  jobs::append_time(out, 0);
  jobs::append_time(out += ' ', 1'782'907'200'000'001);
  jobs::append_time(out += ' ', -1);
  CHECK(out == "1970-01-01T00:00:00.000000Z 2026-07-01T12:00:00.000001Z null");
}

TEST_CASE("the answer to a submission is a queued job with every key there") {
  const job j(*jobs::parse_job_id("0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d"), t0, nullptr, 3, "m\"", 7);
  std::string out;
  j.append_as_submitted(out, base);
  CHECK(out ==
        R"({"id":"0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d","status":"queued","created_at":"2026-07-01T12:00:00.000000Z",)"
        R"("expires_at":"2026-07-02T12:00:00.000000Z","started_at":null,"completed_at":null,"queue_position":null,)"
        R"("progress":null,"outputs":[],"error":null,"outputs_reused":false,"urls":{)"
        R"("self":"http://h:1/api/v2/jobs/0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d",)"
        R"("events":"http://h:1/api/v2/jobs/0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d/events",)"
        R"("cancel":"http://h:1/api/v2/jobs/0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d/cancel"},"metadata":"m\"",)"
        R"("priority":7})");
}

TEST_CASE("a job shows its place while it waits, and its progress while it runs") {
  const auto j = make();
  j->queued(4);
  CHECK(text_of(*j).find(R"("queue_position":4,"progress":null)") != std::string::npos);
  CHECK(text_of(*j).find("metadata") == std::string::npos);
  CHECK(text_of(*j).find("priority") == std::string::npos);
  j->running();
  j->started(t0 + 1);
  const std::string running = text_of(*j);
  CHECK(running.find(R"("status":"running")") != std::string::npos);
  CHECK(running.find(
            R"("queue_position":null,"progress":{"value":0,"nodes_done":0,"nodes_total":3,"current_node":null})") !=
        std::string::npos);
  CHECK(running.find(R"("started_at":"2026-07-01T12:00:00.000001Z")") != std::string::npos);
}

TEST_CASE("canceling is shown until the job has ended, whatever ComfyUI still says") {
  const auto j = make();
  j->running();
  j->canceling();
  j->running();
  CHECK(j->state() == status::canceling);
  CHECK(text_of(*j).find(R"("progress":null)") != std::string::npos);
  end(*j, ended(status::canceled), {});
  CHECK(j->state() == status::canceled);
}

TEST_CASE("the outputs of an ended job are found in its text, whatever their names") {
  const auto j = make();
  const std::vector<std::string> outputs = {output_text("a\"]}.png", "1"), output_text("b\\", "2"),
                                            output_text("{[", "3")};
  end(*j, ended(status::succeeded), outputs);
  CHECK(j->outputs() == outputs);
  const auto none = make();
  end(*none, ended(status::canceled), {});
  CHECK(none->outputs().empty());
}

TEST_CASE("a job ComfyUI does not know is expired until it knows it again") {
  const auto j = make();
  j->queued(1);
  j->gone();
  CHECK(j->state() == status::expired);
  CHECK_FALSE(j->ended());
  CHECK(j->forgettable());
  j->running();
  CHECK(j->state() == status::running);
  CHECK_FALSE(j->forgettable());
}

TEST_CASE("an ended job never changes, and fills in links and their ends with each reading") {
  const auto j = make();
  jobs::ending e = ended(status::failed);
  e.error = jobs::job_error{"node_execution_error", "bad\n", "4", std::nullopt};
  e.completed_us = t0 + 5;
  end(*j, e, {output_text("a.png"), output_text("b.png")});
  j->running();
  j->gone();
  end(*j, ended(status::succeeded), {});
  CHECK(j->state() == status::failed);
  const std::string text = text_of(*j, t0 + 3'600'000'000);
  CHECK(text.find(R"("error":{"code":"node_execution_error","message":"bad\n","node_id":"4","class_type":null,)"
                  R"("traceback":null})") != std::string::npos);
  CHECK(text.find(
            R"("url":"http://h:1/api/v2/assets/asset-a.png/content","url_expires_at":"2026-07-02T13:00:00.000000Z",)"
            R"("job_id":"J"})") != std::string::npos);
  CHECK(text.find(R"("size_bytes":0)") != std::string::npos);
  REQUIRE(j->outputs().size() == 2);
  CHECK(j->outputs()[0] == output_text("a.png"));
  CHECK(j->outputs()[1] == output_text("b.png"));
}

TEST_CASE("outputs fill in while the job runs") {
  const auto j = make();
  j->running();
  j->add_output(output_text("a.png"));
  CHECK(text_of(*j).find("asset-a.png/content") != std::string::npos);
}

TEST_CASE("what is known of a job may be given out until a moment, and for ever once it ended") {
  const auto j = make();
  const auto now = jobs::steady::now();
  CHECK_FALSE(j->fresh(now));
  j->fresh_until(now + std::chrono::seconds(1));
  CHECK(j->fresh(now));
  CHECK_FALSE(j->fresh(now + std::chrono::seconds(1)));
  end(*j, ended(status::succeeded), {});
  CHECK(j->fresh(now + std::chrono::hours(1)));
}

TEST_CASE("beyond the number of jobs the oldest that ended are forgotten, never one that has not") {
  jobs::registry r({3, 1 << 20, 30 * jobs::day_us});
  const auto a = make(t0), b = make(t0 + 1), c = make(t0 + 2), d = make(t0 + 3);
  CHECK((r.add(a) && r.add(b) && r.add(c)));
  CHECK_FALSE(r.add(d));
  end(*b, ended(status::succeeded), {});
  CHECK(r.add(d));
  CHECK(r.find(a->id()) == a);
  CHECK_FALSE(r.find(b->id()));
  CHECK(r.size() == 3);
  a->gone();
  CHECK(r.add(make(t0 + 4)));
  CHECK_FALSE(r.find(a->id()));
}

TEST_CASE("where jobs are kept elsewhere, too, only recent ones stay, and no new one is refused for that") {
  jobs::registry r({100, 1 << 20, 30 * jobs::day_us});
  r.keep_recent(2);
  const auto a = make(t0), b = make(t0 + 1), c = make(t0 + 2), d = make(t0 + 3);
  end(*b, ended(status::succeeded), {});
  CHECK((r.add(a) && r.add(b) && r.add(c) && r.add(d)));
  CHECK(r.find(a->id()));
  CHECK_FALSE(r.find(b->id()));
  CHECK(r.find(c->id()));
  r.created_before(std::numeric_limits<std::int64_t>::max() - 10);
  CHECK(r.next_created_us() == std::numeric_limits<std::int64_t>::max() - 9);
}

TEST_CASE("beyond the bytes of graphs those of the oldest ended jobs go, and the jobs stay") {
  jobs::registry r({100, 100, 30 * jobs::day_us});
  const auto a = make(t0, 60), b = make(t0 + 1, 30), c = make(t0 + 2, 50);
  CHECK((r.add(a) && r.add(b)));
  CHECK_FALSE(r.add(c));
  end(*a, ended(status::succeeded), {});
  CHECK(r.add(c));
  CHECK(r.find(a->id()) == a);
  CHECK_FALSE(a->graph());
  CHECK(b->graph());
  CHECK(r.graph_bytes() == 80);
  r.forget(*b);
  CHECK(r.graph_bytes() == 50);
  jobs::registry small({100, 10, 30 * jobs::day_us});
  CHECK(small.add(make(t0, 1000)));
}

TEST_CASE("jobs that ended are forgotten after the time they are kept") {
  jobs::registry r({100, 1 << 20, jobs::day_us});
  const auto a = make(t0), b = make(t0 + 1);
  end(*a, ended(status::succeeded), {});
  CHECK((r.add(a) && r.add(b)));
  CHECK(r.add(make(t0 + 2 * jobs::day_us)));
  CHECK_FALSE(r.find(a->id()));
  CHECK(r.find(b->id()));
}

TEST_CASE("jobs are listed newest first, and no two are of one moment") {
  jobs::registry r({});
  std::vector<std::shared_ptr<job>> all;
  for (int i = 0; i < 5; ++i) all.push_back(make(r.next_created_us()));
  for (const auto& j : all) CHECK(r.add(j));
  const auto newest = r.newest(INT64_MAX, 2);
  REQUIRE(newest.size() == 2);
  CHECK(newest[0] == all[4]);
  CHECK(newest[1] == all[3]);
  CHECK(r.newest(newest[1]->created_us(), 100).size() == 3);
  CHECK(r.newest(all[0]->created_us(), 100).empty());
}

TEST_CASE("a list is asked for by limit and statuses") {
  CHECK(jobs::read_list_query("50", "").wants(status::expired));
  const auto q = jobs::read_list_query("7", "queued, canceled,");
  CHECK(q.limit == 7);
  CHECK(q.wants(status::canceled));
  CHECK_FALSE(q.wants(status::canceling));
  for (const char* limit : {"", "0", "101", "-1", "1.0", "x", " 5", "5 ", "99999999999999999999"})
    CHECK_THROWS_AS(jobs::read_list_query(limit, ""), portico::http_error);
  for (const char* wanted : {"done", "queued,done", "QUEUED", "queued;failed"})
    CHECK_THROWS_AS(jobs::read_list_query("50", wanted), portico::http_error);
}

TEST_CASE("ComfyUI's refusal is passed on, in whatever shape it comes") {
  const auto told = [](const char* body) {
    const portico::http_error e = jobs::read_rejection(400, body);
    CHECK(e.status() == 422);
    CHECK(e.code() == "invalid_workflow");
    const std::string text = e.answer().body();
    REQUIRE(comfy::json::document(text).ok());
    return text;
  };
  CHECK(told(R"({"error":{"type":"t","message":"No outputs","details":"","extra_info":{}},"node_errors":{"3":{)"
             R"("errors":[]}}})")
            .find(R"("message":"No outputs","details":{"node_errors":{"3":{"errors":[]}}})") != std::string::npos);
  CHECK(told(R"({"error":"plain words","node_errors":[]})")
            .find(R"("message":"plain words","details":{"node_errors":{}})") != std::string::npos);
  for (const char* body : {"", "[]", "<html>", "null", R"({"error":5})", R"({"error":{"message":null}})"})
    CHECK(told(body).find("ComfyUI refused the workflow (400)") != std::string::npos);
  CHECK(told("{\"error\":\"x\xFF\",\"node_errors\":{\"a\":NaN}}").find("x\xEF\xBF\xBD") != std::string::npos);
}

TEST_CASE("events of one kind keep their distance, and the last one is told") {
  using jobs::throttle;
  const auto t = jobs::steady::now();
  const auto ms = [](int n) { return std::chrono::milliseconds(n); };
  throttle gate(ms(500), ms(0));
  CHECK(gate.offer(t) == throttle::verdict::now);
  CHECK(gate.offer(t + ms(100)) == throttle::verdict::later);
  CHECK(gate.due() == t + ms(500));
  CHECK(gate.offer(t + ms(200)) == throttle::verdict::wait);
  CHECK(gate.flush(t + ms(500)));
  CHECK_FALSE(gate.flush(t + ms(501)));
  CHECK(gate.offer(t + ms(900)) == throttle::verdict::later);
  CHECK(gate.flush(t + ms(900)));
  CHECK(gate.offer(t + ms(1400)) == throttle::verdict::now);
}

TEST_CASE("two messages about one thing are told as one, and the next one is not late for it") {
  using jobs::throttle;
  const auto t = jobs::steady::now();
  const auto ms = [](int n) { return std::chrono::milliseconds(n); };
  throttle gate(ms(500), ms(5));
  for (int step = 0; step < 3; ++step) {
    const auto cause = t + ms(600) * step;
    CHECK(gate.offer(cause) == throttle::verdict::later);
    CHECK(gate.due() == cause + ms(5));
    CHECK(gate.offer(cause + ms(1)) == throttle::verdict::wait);
    CHECK(gate.flush(cause + ms(5)));
  }
}
