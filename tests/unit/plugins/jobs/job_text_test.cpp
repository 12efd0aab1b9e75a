// A job as JSON.
#include "plugins/jobs/job_text.hpp"

#include <catch2/catch.hpp>

TEST_CASE("what ComfyUI did in the millisecond of the submission is not told as done before it") {
  jobs::job_facts f;
  f.id = "486a07be-216f-414d-a55e-83bb13bc6b9d";
  f.created_us = 1'700'000'000'123'456;
  f.started_us = f.completed_us = 1'700'000'000'123'000;
  std::string text;
  jobs::append_job(text, f, {});
  CHECK(text.find(R"("created_at":"2023-11-14T22:13:20.123456Z")") != text.npos);
  CHECK(text.find(R"("started_at":"2023-11-14T22:13:20.123456Z")") != text.npos);
  CHECK(text.find(R"("completed_at":"2023-11-14T22:13:20.123456Z")") != text.npos);
  f.started_us = 0;
  text.clear();
  jobs::append_job(text, f, {});
  CHECK(text.find(R"("started_at":null)") != text.npos);
}
