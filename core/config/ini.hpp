// core/config/ini.hpp - reads ini text strictly and keeps the place of every line.
//
// UTF-8, with or without a byte order mark; lines end in LF or CRLF.  A line is empty, a comment (its first character
// is # or ;), a section ([name]) or `key = value`; there is no other form, no continuation, and no comment behind a
// value. Blanks around names and values do not count; a value in "double quotes" keeps its own.  Keys and section names
// are lower case. Before the first section, `include = conf.d/*.ini, more.ini` reads further files: against the
// including file's folder, with * and ? in the last part only, in the order of their names.  An included file cannot
// include.  A section may be continued in another file, and a key may be said only once over all of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace portico::config {

struct ini_entry {
  std::string key, value;
  std::string where;  // "portico.ini:12"
};

struct ini_section {
  std::string name;   // "server", "plugin.jobs"
  std::string where;  // of its first line
  std::vector<ini_entry> entries;
};

struct ini_document {
  std::vector<ini_section> sections;  // in order of appearance, names unique
};

// Adds what the text says to the document.  name: how the text is called in messages; folder: what an include starts
// from.  What is wrong is added to problems, one line each with its place and without any value, and reading goes on.
void read_ini_text(std::string_view text, std::string_view name, std::string_view folder, ini_document&,
                   std::vector<std::string>& problems);

// The same for a file; its path is its name.  One that cannot be read is a problem.
void read_ini_file(const std::string& path, ini_document&, std::vector<std::string>& problems);

}  // namespace portico::config
