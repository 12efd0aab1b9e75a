"""What two answers to one request differ in, as lines of text."""
import json
import re

from wire import NO_ANSWER

# Values that must be the same, not only of one type.
EQUAL = {"status", "code", "type", "name", "content_type", "size_bytes", "hash", "created_new", "file_path", "queue_position",
         "node_id", "outputs_reused", "metadata", "priority", "format", "class_type", "missing_ids", "truncated", "job_id"}
# Where only its being there counts: the rest is another in each world.
PRESENT = {"job_id"}
HEADERS = ("allow", "accept-ranges", "cache-control", "content-disposition", "content-range", "retry-after",
           "x-accel-buffering", "x-content-type-options", "access-control-allow-origin", "access-control-allow-methods",
           "access-control-allow-headers", "access-control-expose-headers", "vary", "etag", "last-modified")
ANY_VALUE = {"etag", "last-modified", "content-disposition"}


def type_of(value):
    return {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array",
            dict: "object"}[type(value)]


def differences_of_json(path, left, right):
    if type_of(left) != type_of(right):
        yield f"{path}: {type_of(left)} | {type_of(right)}"
    elif isinstance(left, dict):
        for key in sorted(left.keys() | right.keys()):
            if key not in right:
                yield f"{path}.{key}: {type_of(left[key])} | absent"
            elif key not in left:
                yield f"{path}.{key}: absent | {type_of(right[key])}"
            elif key in ("node_errors", "workflow"):
                if left[key] != right[key]:
                    yield f"{path}.{key}: another value"
            else:
                yield from differences_of_json(f"{path}.{key}", left[key], right[key])
    elif isinstance(left, list):
        if len(left) != len(right):
            yield f"{path}: {len(left)} items | {len(right)} items"
        for one, other in zip(left, right):
            yield from differences_of_json(f"{path}[]", one, other)
    else:
        key = re.sub(r"\[\]$", "", path).rsplit(".", 1)[-1]
        if key in EQUAL - PRESENT and left != right:
            yield f"{path}: {left!r} | {right!r}"


def kind_of(answer):
    return answer.headers.get("content-type", "none").lower()


def outcome(answer):
    """The status, with the error's code, or "text" where an error has none."""
    if answer is NO_ANSWER:
        return "no answer"
    if answer.status < 400 or not answer.body:
        return str(answer.status)
    error = answer.json.get("error") if isinstance(answer.json, dict) else None
    return f"{answer.status} {error['code'] if isinstance(error, dict) else 'text'}"


def header_of(answer, name):
    value = answer.headers.get(name)
    if value and name == "allow":
        return " ".join(sorted(re.split(r", ?", value)))
    return (value and "some") if name in ANY_VALUE else value


def differences_of_headers(left, right):
    if kind_of(left) != kind_of(right):
        yield f"content-type: {kind_of(left)} | {kind_of(right)}"
    for name in HEADERS:
        one, other = header_of(left, name), header_of(right, name)
        if one != other:
            yield f"{name}: {one or 'absent'} | {other or 'absent'}"


def differences(left, right):
    """left: the reference's answer; right: portico's.  Where the outcomes differ, so does everything else."""
    if outcome(left) != outcome(right):
        yield f"outcome: {outcome(left)} | {outcome(right)}"
        return
    yield from differences_of_headers(left, right)
    if left.json is not None and right.json is not None:
        yield from differences_of_json("json", left.json, right.json)
    elif left.digest != right.digest and left.status < 300:
        yield f"body: {left.digest} | {right.digest}"


def events_of(answer):
    """(name, data) of each event of a stream; a status is named with what it says."""
    for frame in answer.body.decode("utf-8", "replace").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in lines:
            data = json.loads(lines.get("data", "null"))
            yield lines["event"] + (f" {data['status']}" if lines["event"] == "status" else ""), data


def fields_of(events):
    """What types each field of each event has; null only where it never has another."""
    out = {}
    for name, data in events:
        for key, value in data.items():
            out.setdefault((name, key), set()).add(type_of(value))
    return {place: " ".join(sorted(types - {"null"} or types)) for place, types in out.items()}


def differences_of_fields(left, right):
    """Of events that both have."""
    one, other = fields_of(left), fields_of(right)
    both = {name for name, _ in left} & {name for name, _ in right}
    for name, key in sorted(one.keys() | other.keys()):
        types = [side.get((name, key), "absent") for side in (one, other)]
        if name in both and types[0] != types[1]:
            yield f"event {name}.{key}: {types[0]} | {types[1]}"


def differences_of_streams(left, right):
    yield from differences(*(type(a)(a.status, a.headers, b"") for a in (left, right)))
    told = [list(events_of(answer)) for answer in (left, right)]
    yield from differences_of_fields(*told)
    one, other = ([name for name, _ in events] for events in told)
    for what, found in (("first event", lambda names: names[0] if names else "none"),
                        ("last event", lambda names: names[-1] if names else "none"),
                        ("events", lambda names: " ".join(sorted({name for name in names if name != "status queued"})))):
        if found(one) != found(other):
            yield f"{what}: {found(one)} | {found(other)}"
