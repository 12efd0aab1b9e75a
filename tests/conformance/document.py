"""docs/openapi.yaml as something that answers can be held against."""
import re

import jsonschema_rs
import yaml

METHODS = ("get", "post", "head", "delete")


class Document:
    """What may be answered, by operation and status."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = yaml.safe_load(file)
        self._validators = {}
        self._templates = []  # the most literal first
        for template, item in sorted(self.root["paths"].items(), key=lambda entry: entry[0].count("{")):
            pattern = re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(template)))
            self._templates.append((template, pattern, {m.upper(): item[m] for m in METHODS if m in item}))

    def operations(self):
        for template, _, methods in self._templates:
            for method, operation in methods.items():
                yield f"{method} {template}", operation

    def find(self, method, target):
        """The path's template and its operations by method; a HEAD is its GET.  None: no such path."""
        path = target.split("?")[0]
        for template, pattern, methods in self._templates:
            if pattern.fullmatch(path):
                method = "GET" if method == "HEAD" and "HEAD" not in methods else method
                return template, method, methods
        return None

    def resolved(self, thing):
        while "$ref" in thing:
            here = self.root
            for step in thing["$ref"].removeprefix("#/").split("/"):
                here = here[step]
            thing = here
        return thing

    def faults(self, schema, value):
        """What is wrong with a value, a line each."""
        key = repr(schema)
        if key not in self._validators:
            self._validators[key] = jsonschema_rs.validator_for({**schema, "components": self.root["components"]})
        for error in self._validators[key].iter_errors(value):
            yield f"{'/'.join(str(step) for step in error.instance_path) or 'the whole'}: {error.message}"

    def codes(self, response):
        """The error codes a response may have; [None] where it is no error."""
        found = []

        def look(schema):
            schema = self.resolved(schema)
            code = schema.get("properties", {}).get("error", {}).get("properties", {}).get("code", {})
            found.extend(code.get("enum", []) + ([code["const"]] if "const" in code else []))
            for part in schema.get("allOf", []) + schema.get("oneOf", []):
                look(part)

        for media in self.resolved(response).get("content", {}).values():
            look(media["schema"])
        return found or [None]

    def fields(self, schema, value):
        """Names (object, field) of what is there and not null in a value."""
        name = schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else None
        schema = self.resolved(schema)
        for part in schema.get("allOf", []) + schema.get("oneOf", []):
            if next(self.faults(part, value), None) is None:
                yield from self.fields(part, value)
        if isinstance(value, list) and "items" in schema:
            for item in value:
                yield from self.fields(schema["items"], item)
        if isinstance(value, dict):
            for field, inner in schema.get("properties", {}).items():
                if value.get(field) is not None:
                    if name:
                        yield name, field
                    yield from self.fields(inner, value[field])

    def named_fields(self, names):
        for name in names:
            for field in self.root["components"]["schemas"][name]["properties"]:
                yield name, field
