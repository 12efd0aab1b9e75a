#include <catch2/catch.hpp>

#include "plugins/comfyui_standin/queue.hpp"

using namespace standin;

namespace {

prompt_ptr made(const std::string& id, double number) {
  prompt p;
  p.id = id;
  p.number = number;
  p.number_text = std::to_string(static_cast<int>(number));
  p.graph = json::object();
  p.extra_data = json::object();
  p.targets = {"9"};
  return std::make_shared<const prompt>(std::move(p));
}

}  // namespace

TEST_CASE("the smallest number runs first, whatever the order of arrival") {
  prompt_queue q(10);
  for (const int n : {5, 1, 4, -2, 3}) q.put(made("p" + std::to_string(n), n));
  std::string order;
  while (const prompt_ptr p = q.take()) {
    order += p->id + ' ';
    q.finish({});
  }
  CHECK(order == "p-2 p1 p3 p4 p5 ");
}

TEST_CASE("nothing is taken while a prompt runs") {
  prompt_queue q(10);
  q.put(made("a", 0));
  q.put(made("b", 1));
  REQUIRE(q.take());
  CHECK_FALSE(q.take());
  CHECK(q.remaining() == 2);
}

TEST_CASE("numbers count up, and are negative for who wants to be first") {
  prompt_queue q(10);
  CHECK(q.next_number(false) == 0);
  CHECK(q.next_number(false) == 1);
  CHECK(q.next_number(true) == -2);
  CHECK(q.next_number(false) == 3);
}

TEST_CASE("the queue is shown in heap order, with the five parts of each item") {
  prompt_queue q(10);
  for (const int n : {3, 2, 1}) q.put(made("p" + std::to_string(n), n));
  CHECK(q.text() ==
        R"({"queue_running":[],"queue_pending":[[1,"p1",{},{},["9"]],[3,"p3",{},{},["9"]],[2,"p2",{},{},["9"]]]})");
  q.take();
  CHECK(q.text().find(R"("queue_running":[[1,"p1")") != std::string::npos);
}

TEST_CASE("a waiting prompt can be taken out, and leaves no trace") {
  prompt_queue q(10);
  for (const int n : {0, 1, 2, 3}) q.put(made("p" + std::to_string(n), n));
  CHECK(q.erase("p1"));
  CHECK_FALSE(q.erase("p1"));
  CHECK_FALSE(q.is_waiting("p1"));
  CHECK(q.find("p1") == nullptr);
  CHECK(q.take()->id == "p0");
  CHECK_FALSE(q.erase("p0"));  // it runs
}

TEST_CASE("history keeps the newest, in order") {
  prompt_queue q(2);
  for (const int n : {0, 1, 2}) {
    q.put(made("p" + std::to_string(n), n));
    q.take();
    q.finish({});
  }
  CHECK(q.find("p0") == nullptr);
  REQUIRE(q.find("p2") != nullptr);
  CHECK(q.history_text(-1).find("\"p1\"") < q.history_text(-1).find("\"p2\""));
  CHECK(q.history_text(1).find("\"p1\"") == std::string::npos);
  CHECK(q.history_text(0) == "{}");
}

TEST_CASE("the status tells success from error, with the messages in order") {
  prompt_queue q(2);
  q.put(made("a", 0));
  q.take();
  outcome o;
  o.completed = true;
  o.messages.emplace_back("execution_start", json::object());
  o.messages.emplace_back("execution_success", json::object());
  q.finish(std::move(o));
  CHECK(q.find("a")->status_text() ==
        R"({"status_str":"success","completed":true,"messages":[["execution_start",{}],["execution_success",{}]]})");
  CHECK(history_entry{made("b", 1), {}}.status_text() == R"({"status_str":"error","completed":false,"messages":[]})");
}

TEST_CASE("forget empties queue, running prompt and history") {
  prompt_queue q(2);
  q.put(made("a", 0));
  q.take();
  q.finish({});
  q.put(made("b", 1));
  q.put(made("c", 2));
  q.take();
  q.forget();
  CHECK(q.remaining() == 0);
  CHECK(q.find("a") == nullptr);
  q.finish({});  // of the forgotten one
  CHECK(q.history_text(-1) == "{}");
}
