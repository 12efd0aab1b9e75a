// core/config/server_settings.hpp - everything the ini, the environment and the flags say, validated.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace portico::config {

// A value of a plugin's section as it was written, and where: "portico.ini:12", "environment
// PORTICO_PLUGIN__JOBS__KEEP", "flag --state-dir", "built-in default:40".  base: the folder a relative path in it
// starts from.
struct setting {
  std::string value;
  std::string where;
  std::string base;
};

// Durations in milliseconds, sizes in bytes.
struct server_section {
  std::string host = "127.0.0.1";  // empty: all addresses of the machine
  std::uint16_t port = 8189;       // 0: the system chooses
  std::uint32_t threads = 0;       // loops; 0: one per core
  std::uint32_t workers = 0;       // pool threads; 0: chosen
  std::string token;               // empty: no bearer token asked
  std::string token_file;          // absolute; what it holds is in token; empty: none
  bool allow_insecure_bind = false;
  std::vector<std::string> cors;   // normalised origins
  std::vector<std::string> hosts;  // further names this server answers to on a loopback bind; lower case
  std::string log_level = "info";  // debug, info, warning or error
  std::string access_log = "no";   // no, text or json
  bool server_timing = false;
  std::vector<std::string> forwarded;  // trusted proxies: addresses and networks
  std::uint32_t requests_per_client = 0, burst_per_client = 0, connections_per_client = 0;  // 0: no limit
  std::int64_t max_body = 101 * 1024 * 1024;
  std::int64_t drain_timeout_ms = 3'000;
  std::int64_t head_timeout_ms = 10'000, keep_alive_ms = 75'000, body_timeout_ms = 30'000, write_timeout_ms = 30'000,
               request_timeout_ms = 0;  // 0: none
  std::uint32_t max_connections = 0;    // 0: as many as there are descriptors
};

// url: "http://[user:password@]host[:port][/path]", without a trailing slash.  May hold a password: never print it
// whole.
struct upstream_section {
  std::string name, url, where;
  std::int64_t connect_timeout_ms = 10'000, response_timeout_ms = 25'000, idle_timeout_ms = 30'000;
  std::uint32_t max_idle = 32;
};

// One enabled plugin, in the order of `enabled`.  Its own keys are not looked at here: core/plugin checks them against
// the table the library brings.
struct plugin_section {
  std::string name;     // as enabled: "jobs"
  std::string library;  // absolute path, or empty: NAME in the directory
  bool optional = false;
  std::string where;                    // of the `enabled` line or of the section
  std::map<std::string, setting> keys;  // without library and optional
};

struct settings {
  server_section server;
  std::vector<upstream_section> upstreams;
  std::string plugin_directory;  // absolute
  std::vector<plugin_section> plugins;
  std::string only;                   // the one plugin that is started, with those it uses, and nothing is served
  std::string ini_path;               // empty: the built-in default
  std::string base_directory;         // absolute; relative paths in the ini are against this
  std::vector<std::string> warnings;  // for the log, one line each: what is accepted and has no effect
};

}  // namespace portico::config
