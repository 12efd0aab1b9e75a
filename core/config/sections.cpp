#include "core/config/sections.hpp"

#include <algorithm>
#include <utility>

#include "core/base/address.hpp"
#include "core/base/text.hpp"
#include "core/config/origin.hpp"

namespace portico::config {
namespace {

template <class Section>
struct key_spec {
  key_info info;
  std::string (*set)(Section&, value&&);
};

template <auto Member, class Section>
std::string number(Section& s, value&& v) {
  s.*Member = static_cast<std::remove_reference_t<decltype(s.*Member)>>(v.number);
  return {};
}

template <auto Member, class Section>
std::string flag(Section& s, value&& v) {
  s.*Member = v.number != 0;
  return {};
}

bool has_control(std::string_view text) { return std::any_of(text.begin(), text.end(), base::is_control); }

std::string set_host(server_section& s, value&& v) {
  if (has_control(v.text) || v.text.find_first_of(" /@") != std::string::npos)
    return "\"" + v.text +
           "\" is not an address; allowed: an IPv4 or IPv6 address, localhost, or empty for all addresses";
  s.host = std::move(v.text);
  return {};
}

// An empty token would look like protection and be none.
std::string set_token(server_section& s, value&& v) {
  if (v.text.empty()) return "the token is empty; leave it out to serve without one";
  if (has_control(v.text)) return "the token holds a control character, which no client can send";
  s.token = std::move(v.text);
  return {};
}

std::string set_token_file(server_section& s, value&& v) {
  s.token_file = std::move(v.text);
  return {};
}

std::string set_access_log(server_section& s, value&& v) {
  if (v.text == "json" || v.text == "text") {
    s.access_log = std::move(v.text);
    return {};
  }
  const value yes = parse_value(kind::boolean, v.text);
  if (!yes) return "\"" + v.text + "\" is no form of a log; allowed: no, text, json (yes is text)";
  s.access_log = yes.number != 0 ? "text" : "no";
  return {};
}

std::string set_forwarded(server_section& s, value&& v) {
  for (const std::string& item : v.items)
    if (!base::parse_network(item))
      return "\"" + item +
             "\" is no address and no network; allowed: 192.0.2.1, 192.0.2.0/24, 2001:db8::/32, with no bit " +
             "set behind the prefix";
  s.forwarded = std::move(v.items);
  return {};
}

std::string set_log_level(server_section& s, value&& v) {
  for (std::string_view known : {"debug", "info", "warning", "error"})
    if (v.text == known) {
      s.log_level = std::move(v.text);
      return {};
    }
  return "\"" + v.text + "\" is not a level; allowed: debug, info, warning, error";
}

std::string set_cors(server_section& s, value&& v) {
  std::vector<std::string> origins;
  for (const std::string& item : v.items) {
    checked origin = normalize_origin(item);
    if (!origin.error.empty()) return "invalid origin \"" + without_user_info(item) + "\": " + origin.error;
    if (std::find(origins.begin(), origins.end(), origin.text) == origins.end())
      origins.push_back(std::move(origin.text));
  }
  s.cors = std::move(origins);
  return {};
}

std::string set_hosts(server_section& s, value&& v) {
  std::vector<std::string> hosts;
  for (const std::string& item : v.items) {
    checked host = normalize_host_name(item);
    if (!host.error.empty()) return "\"" + item + "\" is not a host name: " + host.error;
    hosts.push_back(std::move(host.text));
  }
  s.hosts = std::move(hosts);
  return {};
}

std::string set_url(upstream_section& s, value&& v) {
  checked url = normalize_upstream_url(v.text);
  if (!url.error.empty()) return url.error;
  s.url = std::move(url.text);
  return {};
}

constexpr std::int64_t any = INT64_MAX;
constexpr std::int64_t day = 86'400'000;
using server = server_section;
using upstream = upstream_section;

const key_spec<server> server_keys[] = {
    {{"host", kind::text, "127.0.0.1", 0, 0,
      "address to listen on; localhost is both loopback addresses, empty is all"},
     set_host},
    {{"port", kind::integer, "8189", 0, 65535, "port to listen on; 0: the system chooses"}, number<&server::port>},
    {{"threads", kind::integer, "0", 0, 1024, "event loops; 0: one per core"}, number<&server::threads>},
    {{"workers", kind::integer, "0", 0, 1024, "threads for work that blocks; 0: chosen by the number of cores"},
     number<&server::workers>},
    {{"token", kind::secret, "", 0, 0, "bearer token every request must bring"}, set_token},
    {{"token_file", kind::path, "", 0, 0, "file that holds the token, instead of the key token"}, set_token_file},
    {{"allow_insecure_bind", kind::boolean, "no", 0, 0, "serve a network address without a token"},
     flag<&server::allow_insecure_bind>},
    {{"cors", kind::list, "", 0, 0, "origins of web pages that may use this server"}, set_cors},
    {{"hosts", kind::list, "", 0, 0, "further names this server answers to on a loopback address"}, set_hosts},
    {{"log_level", kind::text, "info", 0, 0, "debug, info, warning or error"}, set_log_level},
    {{"access_log", kind::text, "no", 0, 0, "a line on standard output for each request: no, text or json"},
     set_access_log},
    {{"server_timing", kind::boolean, "no", 0, 0, "answers say in Server-Timing how long they took"},
     flag<&server::server_timing>},
    {{"forwarded", kind::list, "", 0, 0, "reverse proxies whose X-Forwarded headers are believed"}, set_forwarded},
    {{"requests_per_client", kind::integer, "0", 0, 1'000'000, "requests a second from one address; 0: no limit"},
     number<&server::requests_per_client>},
    {{"burst_per_client", kind::integer, "0", 0, 1'000'000,
      "requests at once from one address; 0: twice requests_per_client"},
     number<&server::burst_per_client>},
    {{"connections_per_client", kind::integer, "0", 0, 1'000'000, "connections from one address; 0: no limit"},
     number<&server::connections_per_client>},
    {{"max_body", kind::size, "101M", 0, any, "largest request body, where a route says nothing"},
     number<&server::max_body>},
    {{"drain_timeout", kind::duration, "3s", 0, day, "time for requests to end when the server stops"},
     number<&server::drain_timeout_ms>},
    {{"head_timeout", kind::duration, "10s", 1, day, "time for a request's head to arrive"},
     number<&server::head_timeout_ms>},
    {{"keep_alive", kind::duration, "75s", 1, day, "time a connection may be idle between requests"},
     number<&server::keep_alive_ms>},
    {{"body_timeout", kind::duration, "30s", 1, day, "longest silence inside a request's body"},
     number<&server::body_timeout_ms>},
    {{"write_timeout", kind::duration, "30s", 1, day, "longest time a client may take no byte of an answer"},
     number<&server::write_timeout_ms>},
    {{"request_timeout", kind::duration, "0", 0, day, "time for a whole request; 0: no limit"},
     number<&server::request_timeout_ms>},
    {{"max_connections", kind::integer, "0", 0, 10'000'000, "connections at a time; 0: as many as the system allows"},
     number<&server::max_connections>},
};

const key_spec<upstream> upstream_keys[] = {
    {{"url", kind::text, "", 0, 0, "where the upstream is: http://host:port"}, set_url},
    {{"connect_timeout", kind::duration, "10s", 1, day, "time to connect"}, number<&upstream::connect_timeout_ms>},
    {{"response_timeout", kind::duration, "25s", 1, day, "time from the request's last byte to the answer's head"},
     number<&upstream::response_timeout_ms>},
    {{"idle_timeout", kind::duration, "30s", 1, day, "longest silence inside an answer's body"},
     number<&upstream::idle_timeout_ms>},
    {{"max_idle", kind::integer, "32", 0, 4096, "idle connections each event loop keeps"}, number<&upstream::max_idle>},
};

constexpr key_info plugins_keys[] = {
    {"enabled", kind::list, "", 0, 0, "names of the plugins to load"},
    {"directory", kind::path, "", 0, 0, "where plugins are looked for by name"},
};

constexpr key_info plugin_keys[] = {
    {"library", kind::path, "", 0, 0, "the plugin's file, instead of NAME in the directory"},
    {"optional", kind::boolean, "no", 0, 0, "serve without this plugin when it cannot be started"},
};

template <class Specs>
auto infos(const Specs& specs) {
  std::vector<key_info> out;
  for (const auto& spec : specs) out.push_back(spec.info);
  return out;
}

template <class Specs, class Section>
std::string apply_to(const Specs& specs, std::string_view key, value&& v, Section& section) {
  for (const auto& spec : specs)
    if (spec.info.name == key) return spec.set(section, std::move(v));
  return "is not a key of this section";
}

}  // namespace

std::span<const key_info> known_keys(std::string_view section) {
  static const std::vector<key_info> of_server = infos(server_keys), of_upstream = infos(upstream_keys);
  if (section == "server") return of_server;
  if (section.starts_with("upstream.")) return of_upstream;
  if (section == "plugins") return plugins_keys;
  if (section.starts_with("plugin.")) return plugin_keys;
  return {};
}

const key_info* find_key(std::string_view section, std::string_view key) {
  for (const key_info& info : known_keys(section))
    if (info.name == key) return &info;
  return nullptr;
}

std::string apply(std::string_view key, value&& v, server_section& s) {
  return apply_to(server_keys, key, std::move(v), s);
}
std::string apply(std::string_view key, value&& v, upstream_section& s) {
  return apply_to(upstream_keys, key, std::move(v), s);
}

}  // namespace portico::config
