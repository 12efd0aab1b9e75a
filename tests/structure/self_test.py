#!/usr/bin/env python3
"""Each rule of rules.py finds what it is for, and leaves what is right."""
import unittest

import rules

# rule -> [(path, text that breaks it)]
BAD = {
    "core_includes_downwards": [
        ("core/http/a.cpp", '#include "core/plugin/manager.hpp"\n'),
        ("core/loop/a.hpp", '#include "core/http/message.hpp"\n'),
        ("core/base/a.hpp", '#  include "core/loop/loop.hpp"\n'),
        ("core/config/a.cpp", '#include "core/http/message.hpp"\n'),
    ],
    "core_uses_named_libraries": [
        ("core/loop/a.cpp", "#include <Poco/Thread.h>\n"),
        ("core/http/a.cpp", "#include <portico/abi.h>\n"),
        ("core/base/a.cpp", "#include <Poco/Net/SocketAddress.h>\n"),
        ("core/gate/a.cpp", '#include "gate.hpp"\n'),
    ],
    "one_file_only": [
        ("core/http/connection.cpp", "#include <llhttp.h>\n"),
        ("core/plugin/manager.cpp", "#include <boost/dll/shared_library.hpp>\n"),
    ],
    "core_knows_no_product": [("core/http/a.cpp", "// for Comf" "yUI\n"), ("core/CMakeLists.txt", "comf" "y\n")],
    "core_includes_no_sdk": [("core/plugin/a.cpp", "#include <portico/task.hpp>\n")],
    "abi_is_bare_c": [
        ("sdk/include/portico/abi.h", "#include <string>\n"),
        ("sdk/include/portico/abi/http.h", "#include <stdbool.h>\n"),
    ],
    "sdk_is_self_contained": [
        ("sdk/include/portico/a.hpp", "#include <Poco/Thread.h>\n"),
        ("sdk/include/portico/a.hpp", '#include "core/base/log.hpp"\n'),
    ],
    "plugins_stay_apart": [
        ("plugins/jobs/a.cpp", '#include "plugins/uploads/names.hpp"\n'),
        ("plugins/jobs/a.cpp", '#include "../uploads/names.hpp"\n'),
        ("plugins/jobs/a.cpp", '#include "core/base/log.hpp"\n'),
    ],
    "systems_stay_apart": [
        ("core/loop/poller.hpp", "#ifdef _WIN32\n#endif\n"),
        ("core/http/socket_posix.cpp", "#if defined(_WIN64)\n#endif\n"),
    ],
    "system_headers_in_system_files": [
        ("core/http/server.cpp", "#include <sys/socket.h>\n"),
        ("plugins/uploads/a.cpp", "#include <unistd.h>\n"),
    ],
    "headers_are_light": [("core/http/a.hpp", "#include <iostream>\n"), ("sdk/include/portico/a.hpp", "#include <regex>\n")],
    "files_are_short": [("core/http/a.cpp", "\n" * (rules.LONGEST + 1)), ("dev", "\n" * (rules.LONGEST + 1))],
    "nothing_is_left_to_do": [("docs/a.md", "TO" "DO: write it\n"), ("core/http/a.cpp", "// FIX" "ME\n")],
    "awaited_lambdas_capture_by_reference": [
        ("plugins/jobs/a.cpp", "co_await work(host, [text] { use(text); });"),
        ("plugins/jobs/a.cpp", "auto n = co_await work(host,\n  [&, s = std::move(s)]() mutable { use(s); });"),
        ("sdk/examples/a.cpp", "if (co_await work(h, [=] { f(x); }) != 0) return;"),
    ],
}

GOOD = [
    ("core/http/parser.cpp", '#include <llhttp.h>\n#include "core/base/text.hpp"\n'),
    ("core/plugin/library.cpp", "#include <boost/dll/shared_library.hpp>\n#include <portico/abi.h>\n"),
    ("core/loop/poller_wsapoll.cpp", "#ifdef _WIN32\n#endif\n#include <winsock2.h>\n"),
    ("core/http/socket_posix.cpp", "#include <sys/socket.h>\n#include <string>\n"),
    ("core/base/a.cpp", "#include <Poco/Timestamp.h>\n"),
    ("sdk/include/portico/abi.h", "#include <stddef.h>\n#ifdef _WIN32\n#endif\n"),
    ("sdk/include/portico/abi/http.h", '#include "../abi.h"\n'),
    ("sdk/include/portico/a.hpp", '#include <coroutine>\n#include "abi/http.h"\n#include <portico/task.hpp>\n'),
    ("plugins/jobs/a.cpp", '#include "plugins/jobs/b.hpp"\n#include "plugins/comfy/jobs.h"\n#include <portico/sdk.hpp>\n'),
    ("plugins/jobs/a.cpp", "co_await work(host, [&text, this] { use(text); });\nlater([x] { f(x); });"),
    ("plugins/jobs/a.cpp", "auto v = co_await read(table[key], names[0]);\nco_await f([] { g(); });"),
    ("core/http/a.cpp", "\n" * rules.LONGEST),
]


class EachRule(unittest.TestCase):
    def test_finds_what_it_is_for(self):
        for name, samples in BAD.items():
            for path, text in samples:
                with self.subTest(rule=name, path=path, text=text[:60]):
                    self.assertIn(name, [rule for rule, _, _ in rules.violations(path, text)])

    def test_has_a_sample(self):
        self.assertEqual(set(BAD), {rule.__name__ for rule in rules.RULES})

    def test_leaves_what_is_right(self):
        for path, text in GOOD:
            with self.subTest(path=path, text=text[:60]):
                self.assertEqual([], list(rules.violations(path, text)))

    def test_names_the_line(self):
        found = list(rules.violations("core/http/a.cpp", '#include <string>\n\n#include "core/plugin/keys.hpp"\n'))
        self.assertEqual([("core_includes_downwards", 3)], [(rule, line) for rule, line, _ in found])


if __name__ == "__main__":
    unittest.main()
