#include "core/http/router.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/text.hpp"
#include "core/http/syntax.hpp"

namespace portico::http {

namespace {

constexpr std::size_t max_depth = 32, max_params = 8, max_methods = 32, max_literal = 200;

// What a segment of a pattern is.
enum class kind { literal, param, rest };
struct pattern_segment {
  kind what;
  std::string_view text;  // the literal, or the name
};

bool is_name(std::string_view s) noexcept {
  for (const char c : s)
    if (!base::is_digit(c) && !(base::lower(c) >= 'a' && base::lower(c) <= 'z') && c != '_') return false;
  return !s.empty() && !base::is_digit(s.front());
}

bool is_literal(std::string_view s) noexcept {
  for (const char c : s)
    if (!syntax::of(syntax::path_char, c) || c == '%' || c == '{' || c == '}') return false;
  return s.size() <= max_literal && s != "." && s != "..";
}

// The segments of a pattern, or why it is none.
std::string split(std::string_view pattern, std::vector<pattern_segment>& out) {
  if (pattern.empty() || pattern.front() != '/') return "it does not begin with '/'";
  for (std::size_t at = 1; at != std::string_view::npos;) {
    const std::size_t slash = pattern.find('/', at);
    std::string_view s = pattern.substr(at, slash == std::string_view::npos ? slash : slash - at);
    at = slash == std::string_view::npos ? slash : slash + 1;
    const bool last = at == std::string_view::npos;
    if (s.empty() && !last) return "it has an empty segment";
    if (s.size() < 2 || s.front() != '{' || s.back() != '}') {
      if (!is_literal(s)) return "`" + std::string(s) + "` is neither a plain segment nor {name} nor {name...}";
      out.push_back({kind::literal, s});
      continue;
    }
    s = s.substr(1, s.size() - 2);
    const bool rest = s.ends_with("...");
    if (rest) s.remove_suffix(3);
    if (!is_name(s)) return "`" + std::string(s) + "` is not a name of a parameter";
    if (rest && !last) return "{" + std::string(s) + "...} is not at the end";
    out.push_back({rest ? kind::rest : kind::param, s});
  }
  if (out.size() > max_depth) return "it has more than " + std::to_string(max_depth) + " segments";
  return {};
}

bool is_method(std::string_view m) noexcept {
  for (const char c : m)
    if (!syntax::of(syntax::method_char, c)) return false;
  return !m.empty();
}

// A segment of a path; text is what it says once decoded.
struct path_segment {
  std::string_view raw, text;
  bool comparable;  // false: too long to be a literal
};

// Room for the decoded segments of one path.
struct decoder {
  std::array<char, 1024> bytes;
  std::size_t used = 0;

  path_segment operator()(std::string_view s) noexcept {
    if (s.find('%') == std::string_view::npos) return {s, s, true};
    char* const begin = bytes.data() + used;
    std::size_t n = 0;
    for (std::size_t i = 0; i < s.size(); ++i, ++n) {
      if (n == max_literal || used + n == bytes.size()) return {s, {}, false};
      begin[n] = s[i] != '%' ? s[i] : static_cast<char>(base::hex_value(s[i + 1]) * 16 + base::hex_value(s[i + 2]));
      if (s[i] == '%') i += 2;
    }
    used += n;
    return {s, {begin, n}, true};
  }
};

bool has_good_escapes(std::string_view path) noexcept {
  for (std::size_t i = path.find('%'); i != std::string_view::npos; i = path.find('%', i + 1))
    if (path.size() - i < 3 || base::hex_value(path[i + 1]) < 0 || base::hex_value(path[i + 2]) < 0) return false;
  return true;
}

}  // namespace

struct router::table {
  // Where a pattern ends, or goes on.
  struct node {
    unsigned methods = 0;
    std::vector<const route*> ends;     // by method
    std::uint32_t param = 0, rest = 0;  // nodes; 0: none
  };
  struct literal {
    std::uint32_t parent = 0, child = 0;  // child 0: an empty place
    std::string text;
  };

  std::vector<std::unique_ptr<route>> all;
  std::map<std::string, const route*> by_shape;  // "GET /jobs/{}"
  std::vector<std::string> methods;
  std::vector<node> nodes;
  std::vector<literal> literals;  // open addressing, a power of two, at most half full
  bool frozen = false;

  static std::size_t hash(std::uint32_t parent, std::string_view text) noexcept {
    std::uint64_t h = (parent + 1) * 0x9e3779b97f4a7c15u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }

  std::uint32_t child(std::uint32_t parent, std::string_view text) const noexcept {
    for (std::size_t i = hash(parent, text);; ++i) {
      const literal& l = literals[i & (literals.size() - 1)];
      if (l.child == 0 || (l.parent == parent && l.text == text)) return l.child;
    }
  }

  std::uint32_t fresh() {
    nodes.emplace_back();
    nodes.back().ends.resize(methods.size());
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }

  std::uint32_t follow(std::uint32_t from, const pattern_segment& s) {
    if (s.what != kind::literal) {
      const auto next = s.what == kind::param ? &node::param : &node::rest;
      if (nodes[from].*next == 0) {
        const std::uint32_t made = fresh();
        nodes[from].*next = made;
      }
      return nodes[from].*next;
    }
    if (const std::uint32_t known = child(from, s.text)) return known;
    std::size_t i = hash(from, s.text);
    while (literals[i & (literals.size() - 1)].child != 0) ++i;
    const std::uint32_t made = fresh();
    literals[i & (literals.size() - 1)] = {from, made, std::string(s.text)};
    return made;
  }

  std::size_t method(std::string_view name) const noexcept {
    std::size_t i = 0;
    while (i < methods.size() && methods[i] != name) ++i;
    return i;
  }
};

namespace {

// One search: the path's segments, and the best so far.
template <class Table>
struct search {
  const Table& t;
  std::string_view path;
  std::size_t method, get;  // get: also fits, for HEAD
  router::result found{};
  decoder decode;
  std::array<path_segment, max_depth> segments;
  std::size_t count = 0;
  bool deeper = false;  // the path has more segments than any pattern

  search(const Table& table, std::string_view p, std::size_t m, std::size_t g) noexcept
      : t(table), path(p), method(m), get(g) {}

  bool cut() noexcept {
    if (path.empty() || path.front() != '/' || !has_good_escapes(path)) return false;
    for (std::size_t at = 1;;) {
      if (count == max_depth) return deeper = true;
      const std::size_t slash = std::min(path.find('/', at), path.size());
      segments[count++] = decode(path.substr(at, slash - at));
      if (slash == path.size()) return true;
      at = slash + 1;
    }
  }

  bool ends_at(std::uint32_t n) noexcept {
    const auto& node = t.nodes[n];
    for (const std::size_t m : {method, get})
      if (m < node.ends.size() && node.ends[m]) {
        found.found = node.ends[m];
        return true;
      }
    found.allowed |= node.methods;
    return false;
  }

  bool with_param(std::string_view raw, std::uint32_t n, std::size_t next, bool rest) noexcept {
    found.raw_params[found.param_count++] = raw;
    if (rest ? ends_at(n) : from(n, next)) return true;
    --found.param_count;
    return false;
  }

  bool from(std::uint32_t n, std::size_t at) noexcept {
    if (at == count) return !deeper && ends_at(n);
    const path_segment& s = segments[at];
    if (s.comparable)
      if (const std::uint32_t next = t.child(n, s.text); next != 0 && from(next, at + 1)) return true;
    const auto& node = t.nodes[n];
    if (node.param != 0 && !s.raw.empty() && with_param(s.raw, node.param, at + 1, false)) return true;
    if (node.rest == 0) return false;
    const std::string_view rest = path.substr(static_cast<std::size_t>(s.raw.data() - path.data()));
    return !rest.empty() && with_param(rest, node.rest, 0, true);
  }
};

}  // namespace

router::router() : table_(std::make_unique<table>()) {}
router::~router() = default;

std::string router::add(route r) {
  const std::string quoted = "`" + r.method + " " + r.pattern + "` of \"" + r.owner + "\"";
  if (table_->frozen) return quoted + " comes too late: the server is running";
  if (!is_method(r.method)) return quoted + " has a method that is not one; it is written in capital letters";
  std::vector<pattern_segment> segments;
  if (const std::string why = split(r.pattern, segments); !why.empty())
    return "the pattern of " + quoted + " is not one: " + why;
  std::string shape = r.method + " ";
  r.param_names.clear();
  for (const pattern_segment& s : segments) {
    shape.append("/").append(s.what == kind::literal ? s.text : s.what == kind::param ? "{}" : "{...}");
    if (s.what == kind::literal) continue;
    if (std::find(r.param_names.begin(), r.param_names.end(), s.text) != r.param_names.end())
      return "the pattern of " + quoted + " has two parameters called `" + std::string(s.text) + "`";
    r.param_names.emplace_back(s.text);
  }
  if (r.param_names.size() > max_params)
    return "the pattern of " + quoted + " has more than " + std::to_string(max_params) + " parameters";
  if (const auto other = table_->by_shape.find(shape); other != table_->by_shape.end())
    return quoted + " is already a route of \"" + other->second->owner + "\"" +
           (other->second->pattern == r.pattern ? "" : " (as `" + other->second->pattern + "`)");
  if (table_->method(r.method) == table_->methods.size()) {
    if (table_->methods.size() == max_methods) return quoted + " has one method too many for this server";
    table_->methods.push_back(r.method);
  }
  table_->all.push_back(std::make_unique<route>(std::move(r)));
  table_->by_shape.emplace(std::move(shape), table_->all.back().get());
  return {};
}

void router::remove_owner(std::string_view owner) {
  std::erase_if(table_->by_shape, [&](const auto& entry) { return entry.second->owner == owner; });
  std::erase_if(table_->all, [&](const auto& r) { return r->owner == owner; });
}

void router::freeze() {
  table& t = *table_;
  if (std::exchange(t.frozen, true)) return;
  std::vector<std::pair<const route*, std::vector<pattern_segment>>> cut;
  std::size_t most = 1;
  for (const auto& r : t.all) {
    cut.emplace_back(r.get(), std::vector<pattern_segment>());
    split(r->pattern, cut.back().second);
    most += cut.back().second.size();
  }
  t.literals.resize(std::bit_ceil(most * 2));
  t.fresh();
  for (const auto& [r, segments] : cut) {
    std::uint32_t at = 0;
    for (const pattern_segment& s : segments) at = t.follow(at, s);
    const std::size_t m = t.method(r->method);
    t.nodes[at].ends[m] = r;
    t.nodes[at].methods |= 1u << m;
  }
}

std::vector<const route*> router::routes() const {
  std::vector<const route*> out;
  for (const auto& r : table_->all) out.push_back(r.get());
  std::sort(out.begin(), out.end(), [](const route* a, const route* b) {
    return std::tie(a->method, a->pattern) < std::tie(b->method, b->pattern);
  });
  return out;
}

router::result router::find(std::string_view method, std::string_view path) const noexcept {
  const table& t = *table_;
  if (t.nodes.empty()) return {};
  search<table> s(t, path, t.method(method), method == "HEAD" ? t.method("GET") : t.methods.size());
  if (!s.cut() || !s.from(0, 0)) s.found.param_count = 0;
  return s.found;
}

std::string router::allow(unsigned bits) const {
  std::vector<std::string_view> names;
  for (std::size_t m = 0; m < table_->methods.size(); ++m)
    if (bits & (1u << m)) names.push_back(table_->methods[m]);
  for (const std::string_view also : {"HEAD", "OPTIONS"}) {
    const bool serves = also == "OPTIONS" || std::find(names.begin(), names.end(), "GET") != names.end();
    if (serves && std::find(names.begin(), names.end(), also) == names.end()) names.push_back(also);
  }
  // In the order people write them; others behind, by name.
  constexpr std::string_view usual[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  const auto rank = [&](std::string_view n) {
    return std::find(std::begin(usual), std::end(usual), n) - std::begin(usual);
  };
  std::sort(names.begin(), names.end(),
            [&](std::string_view a, std::string_view b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a < b; });
  std::string out;
  for (const std::string_view n : names) out.append(out.empty() ? "" : ", ").append(n);
  return out;
}

}  // namespace portico::http
