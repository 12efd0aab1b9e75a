// tests/e2e/recorder.hpp - what portico answered in the tests, for whoever holds it against the description of the API.
#pragma once
#include <string>

#include "http.hpp"

namespace e2e {

// Appends a line of JSON to the file that the environment variable E2E_EXCHANGES names, if it does: the test case, the
// request, the answer's status, headers and JSON.  Only what was asked below /api/v2/.  Any thread.
void record(const std::string& method, const std::string& target, const answer&);

}  // namespace e2e
