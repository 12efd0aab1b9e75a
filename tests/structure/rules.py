"""The rules of the source tree that a text search can hold: who may include whom, and what never occurs.

Each rule is a function of (path, text) that yields (line, what is wrong).  path is relative to the root of the tree, with
slashes.  docs/architecture.md tells what the rules are for; self_test.py shows that each can fail.
"""
import re

SOURCE = (".cpp", ".hpp", ".h", ".c", ".cpp.in")
TEXT = SOURCE + (".py", ".sh", ".js", ".mjs", ".ts", ".go", ".cmake", ".txt", ".md", ".ini", ".conf", "/dev", "/run", "dev")
LONGEST = 420  # lines

# Which folders of core each folder of core may include, besides itself.
CORE_MAY_INCLUDE = {
    "base": (),
    "loop": ("base",),
    "http": ("loop", "base"),
    "gate": ("http", "loop", "base"),
    "upstream": ("http", "loop", "base"),
    "config": ("base",),
    "plugin": ("gate", "upstream", "http", "loop", "config", "base"),
    "service": ("plugin", "gate", "upstream", "http", "loop", "config", "base"),
}
# Which headers of other makers each folder of core may include.  What is not named here is the standard library's.
CORE_MAY_USE = {
    "base": r"Poco/\w+\.h",
    "loop": r"(?!)",
    "http": r"sha1\.h|Poco/\w+\.h|Poco/Net/\w+\.h",
    "gate": r"Poco/\w+\.h",
    "upstream": r"Poco/\w+\.h|Poco/Net/\w+\.h",
    "config": r"Poco/\w+\.h|Poco/Util/\w+\.h|Poco/Net/\w+\.h",
    "plugin": r"Poco/\w+\.h|portico/abi\.h|portico/abi/\w+\.h",
    "service": r"Poco/\w+\.h|Poco/(Util|Net)/\w+\.h",
}
# What only one file may include, wherever it is.
ONE_FILE_ONLY = {
    r"llhttp\.h|boost/beast": r"core/http/parser\.cpp",
    r"boost/dll": r"core/plugin/library\.cpp",
}
STANDARD = re.compile(r"[a-z_0-9]+|(stddef|stdint|string|stdlib|stdio|errno)\.h")
OF_ONE_SYSTEM = re.compile(r"_(posix|epoll|windows|wsapoll)(_test)?\.(cpp|hpp)$")
SYSTEM_HEADER = re.compile(
    r"(sys|netinet|arpa|net|linux)/.*|(unistd|fcntl|pthread|poll|netdb|signal|dlfcn|elf|link|pwd|grp|spawn|syslog|ifaddrs"
    r"|windows|winsock2|ws2tcpip|winsvc|bcrypt|io|process|direct)\.h")
HEAVY = re.compile(r"boost/.*|rapidjson/.*|simdjson\.h|catch2/.*|iostream|regex")

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]", re.M)


def is_source(path):
    return path.endswith(SOURCE)


def is_header(path):
    return path.endswith((".hpp", ".h"))


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def includes(path, text):
    if is_source(path):
        for match in INCLUDE.finditer(text):
            yield line_of(text, match.start()), match[1] == '"', match[2]


def core_folder(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "core" and len(parts) > 2 else None


def core_includes_downwards(path, text):
    folder = core_folder(path)
    if folder is None:
        return
    for line, _, name in includes(path, text):
        if not name.startswith("core/"):
            continue
        other = name.split("/")[1]
        if other != folder and other not in CORE_MAY_INCLUDE.get(folder, ()):
            allowed = ", ".join(CORE_MAY_INCLUDE.get(folder, ())) or "nothing else of core"
            yield line, f"core/{folder} includes {name}; it may include {allowed}"


def core_uses_named_libraries(path, text):
    folder = core_folder(path)
    if folder is None:
        return
    allowed = re.compile(CORE_MAY_USE.get(folder, r"(?!)"))
    for line, quoted, name in includes(path, text):
        if name.startswith("core/") or STANDARD.fullmatch(name) or SYSTEM_HEADER.fullmatch(name):
            continue
        if any(re.match(what, name) for what in ONE_FILE_ONLY):
            continue  # a rule of its own
        if quoted or not allowed.fullmatch(name):
            yield line, f"core/{folder} includes {name}, which is neither core's own nor a library of this folder"


def one_file_only(path, text):
    for line, _, name in includes(path, text):
        for what, where in ONE_FILE_ONLY.items():
            if re.match(what, name) and path.startswith("core/") and not re.fullmatch(where, path):
                yield line, f"{name} is for {where.replace(chr(92), '')} alone"


def core_knows_no_product(path, text):
    if path.startswith("core/"):
        for match in re.finditer(r"comfy", text, re.I):
            yield line_of(text, match.start()), "core names the product that a plugin is for"


def core_includes_no_sdk(path, text):
    if path.startswith("core/"):
        for line, _, name in includes(path, text):
            if name.startswith(("portico/", "sdk/")) and name.endswith(".hpp"):
                yield line, f"core includes {name}: the C interface is all it may see of the SDK"


def abi_is_bare_c(path, text):
    if not re.fullmatch(r"sdk/include/portico/(abi\.h|abi/\w+\.h)", path):
        return
    for line, quoted, name in includes(path, text):
        if not re.fullmatch(r"(\.\./abi|(abi/)?\w+)\.h" if quoted else r"(stddef|stdint|portico/abi|portico/abi/\w+)\.h", name):
            yield line, f"the plugin interface includes {name}; it may include <stddef.h> and <stdint.h>"


def sdk_is_self_contained(path, text):
    if not path.startswith("sdk/include/") or not path.endswith(".hpp"):
        return
    for line, quoted, name in includes(path, text):
        if not quoted and not STANDARD.fullmatch(name) and not name.startswith("portico/"):
            yield line, f"the SDK includes {name}; it may include the plugin interface and the standard library"
        if name.startswith(("core/", "plugins/")):
            yield line, f"the SDK includes {name}"


def plugins_stay_apart(path, text):
    parts = path.split("/")
    if parts[0] != "plugins" or len(parts) < 3:
        return
    for line, _, name in includes(path, text):
        if name.startswith("core/") or "../" in name:
            yield line, f"plugin {parts[1]} includes {name}"
        elif name.startswith("plugins/") and name.split("/")[1] not in (parts[1], "comfy"):
            yield line, f"plugin {parts[1]} includes {name} of another plugin; plugins meet in services"


def systems_stay_apart(path, text):
    if not is_source(path) or not path.startswith(("core/", "plugins/", "sdk/")):
        return
    if path == "sdk/include/portico/abi.h" or re.search(r"_(windows|wsapoll)(_test)?\.cpp$", path):
        return
    for match in re.finditer(r"^[ \t]*#.*\b(_WIN32|_WIN64|WIN32|__linux__|__unix__)\b", text, re.M):
        yield line_of(text, match.start()), f"{match[1]} outside the files of one system"


def system_headers_in_system_files(path, text):
    if not path.startswith(("core/", "plugins/")) or OF_ONE_SYSTEM.search(path):
        return
    for line, _, name in includes(path, text):
        if SYSTEM_HEADER.fullmatch(name):
            yield line, f"{name} belongs to one system: put what needs it into x_posix.cpp and x_windows.cpp"


def headers_are_light(path, text):
    if path.startswith(("core/", "sdk/include/")) and is_header(path):
        for line, _, name in includes(path, text):
            if HEAVY.fullmatch(name):
                yield line, f"a header includes {name}: every file that sees it pays for that"


def files_are_short(path, text):
    lines = text.count("\n")
    if not path.endswith(".md") and lines > LONGEST:
        yield lines, f"{lines} lines; find the missing name and split it (at most {LONGEST})"


def nothing_is_left_to_do(path, text):
    for match in re.finditer(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", text):
        yield line_of(text, match.start()), f"{match[1]}: finish it, or write it down where work is planned"


def statement_end(text, at):
    """Where the statement that goes on at `at` ends: its semicolon outside all brackets opened since, or a bracket too many."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth < 0:
                return i
        elif text[i] == ";" and depth == 0:
            return i
    return len(text)


# A '[' that begins a lambda, not an index: what stands before it is no name and no closing bracket.
LAMBDA = re.compile(r"(?<![\w\])])\s*(?<!\[)\[(?!\[)([^\[\]]*)\]\s*(?=[({]|mutable|noexcept|->)")


def awaited_lambdas_capture_by_reference(path, text):
    if not path.startswith(("plugins/", "sdk/", "tests/abi/", "demo/")) or not is_source(path):
        return
    bare = re.sub(r"//[^\n]*", "", text)
    for await_ in re.finditer(r"\bco_await\b", bare):
        statement = bare[await_.end():statement_end(bare, await_.end())]
        for match in LAMBDA.finditer(statement):
            for item in filter(None, (i.strip() for i in match[1].split(","))):
                if not item.startswith("&") and item != "this":
                    at = await_.end() + match.start(1)
                    yield line_of(bare, at), f"[{match[1]}] inside co_await: g++ 12 destroys such captures twice; capture by reference"
                    break


RULES = [
    core_includes_downwards, core_uses_named_libraries, one_file_only, core_knows_no_product, core_includes_no_sdk,
    abi_is_bare_c, sdk_is_self_contained, plugins_stay_apart, systems_stay_apart, system_headers_in_system_files,
    headers_are_light, files_are_short, nothing_is_left_to_do, awaited_lambdas_capture_by_reference,
]


def violations(path, text):
    for rule in RULES:
        for line, what in rule(path, text):
            yield rule.__name__, line, what
