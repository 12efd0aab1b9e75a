"""docs/conformance-differences.md: which differences are meant, and why."""
import fnmatch
import re
from dataclasses import dataclass


@dataclass
class Rule:
    """A row of the page: requests and differences as patterns with * in them."""

    line: int
    requests: str
    difference: str
    seen: int = 0

    def covers(self, request, difference):
        return matches(self.requests, request) and matches(self.difference, difference)


def matches(pattern, text):
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))


def rules_of(path):
    """| `requests` | `difference` | why |, with | in a pattern written as \\|."""
    out = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            if len(cells) == 3 and cells[0].startswith("`"):
                requests, difference, _ = (cell.strip("`").replace("\\|", "|") for cell in cells)
                out.append(Rule(number, requests, difference))
    return out
