#!/usr/bin/env python3
"""Checks docs/case.schema.json against case files: the corpus must pass, broken ones must not.

A JSON Schema validator for the keywords that the schema uses, on the standard library alone; a keyword that it does not
know is an error, so that the schema cannot outgrow the test.

Usage: schema_test.py SOURCE_DIR [PTXBRIDGE]
With the command given, it and the schema must agree on each broken file.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
IGNORED = {"$schema", "$defs", "title", "description"}


class Validator:
    def __init__(self, schema):
        self.root = schema

    def valid(self, schema, value):
        for key, want in schema.items():
            if key not in IGNORED and not self.keyword(key, want, value, schema):
                return False
        return True

    def keyword(self, key, want, value, schema):
        is_object, is_list = isinstance(value, dict), isinstance(value, list)
        is_number = TYPES["number"](value)
        if key == "$ref":
            target = self.root
            for part in want.lstrip("#/").split("/"):
                target = target[part]
            return self.valid(target, value)
        if key == "type":
            return TYPES[want](value)
        if key == "const":
            return type(value) is type(want) and value == want
        if key == "enum":
            return value in want
        if key == "properties":
            return not is_object or all(self.valid(s, value[k]) for k, s in want.items() if k in value)
        if key == "additionalProperties":
            extra = [v for k, v in value.items() if k not in schema.get("properties", {})] if is_object else []
            return not extra if want is False else all(self.valid(want, v) for v in extra)
        if key == "required":
            return not is_object or all(k in value for k in want)
        if key == "items":
            return not is_list or all(self.valid(want, v) for v in value)
        if key == "minItems":
            return not is_list or len(value) >= want
        if key == "maxItems":
            return not is_list or len(value) <= want
        if key == "minLength":
            return not isinstance(value, str) or len(value) >= want
        if key == "pattern":
            return not isinstance(value, str) or re.search(want, value) is not None
        if key == "minimum":
            return not is_number or value >= want
        if key == "maximum":
            return not is_number or value <= want
        if key == "dependentRequired":
            return not is_object or all(k in value for given, needed in want.items() if given in value for k in needed)
        if key == "oneOf":
            return sum(self.valid(s, value) for s in want) == 1
        if key == "anyOf":
            return any(self.valid(s, value) for s in want)
        if key == "allOf":
            return all(self.valid(s, value) for s in want)
        raise SystemExit("schema keyword %r is not known to this test" % key)


BASE = {"ptxbridge_case": 1, "ptx": "k.ptx", "entry": "k", "grid": [1], "block": [32]}

# Changes to BASE that are sound.
SOUND = [
    {}, {"cooperative": True}, {"cooperative": False}, {"params": [{"global": "g"}, {"global": "g", "offset": 4}, {"struct": {"size": 8, "fields": [{"offset": 0, "global": "g"}]}}]},
    {"buffers": {"a": {"npy": "a", "pointers": [{"offset": 8, "buffer": "a", "buffer_offset": 8}, {"offset": 0, "global": "g"}]}},
     "globals": {"g": {"npy": "a", "pointers": []}}, "expect": [{"buffer": "a", "npy": "a", "pointers": [{"offset": 8, "buffer": "a"}]}]},
    {"buffers": {"b": {"raw": "a"}, "a": {"raw": "a", "heap": True, "pointers": [{"offset": 0, "texture": "t"}, {"offset": 8, "surface": "s"}, {"offset": 16, "function": "f"}]}},
     "globals": {"g": {"raw": "a", "dtype": "f32"}},
     "expect": [{"buffer": "a", "raw": "a", "dtype": "u64", "pointers": [{"offset": 0, "heap": True}]}],
     "textures": {"t": {"raw": "a", "format": "u8", "shape": [8, 8, 4], "levels": 4, "address": "border", "border": [1, -1, "nan", 0.5],
                        "read": "normalized_float", "srgb": True, "mipmap_filter": "linear", "lod_bias": -1.5, "min_lod": "-inf", "max_lod": 1e9},
                  "v": {"image": "t", "first_level": 1, "last_level": 2, "format": "u32", "channels": 1},
                  "w": {"buffer": "b", "buffer_offset": 4, "format": "f32", "shape": [4, 4, 1], "pitch": 32}},
     "surfaces": {"s": {"npy": "a", "kind": "cube_layered"}, "u": {"image": "s", "first_layer": 1, "last_layer": 1}}},
]

# Changes to BASE that must be refused, by the schema and by the program.
BROKEN = [
    {"ptxbridge_case": 2}, {"ptxbridge_case": True}, {"ptx": ""}, {"ptx": 1}, {"grid": []}, {"grid": [0]}, {"grid": [1, 1, 1, 1]},
    {"grid": [1.5]}, {"block": 32}, {"shared": -1}, {"cooperative": 1}, {"cooperative": "true"}, {"nonsense": 1}, {"mma_model": "pascal"}, {"timeout_ms": "1"},
    {"launches": [{"entry": "k", "grid": [1], "block": [1]}]},
    {"buffers": {"a": {}}}, {"buffers": {"a": {"npy": "a", "raw": "b"}}}, {"buffers": {"a": {"npz": "a"}}},
    {"buffers": {"a": {"zeros": {"dtype": "f8", "shape": [1]}}}}, {"buffers": {"a": {"zeros": {"dtype": "f32", "shape": [-1]}}}},
    {"buffers": {"a": {"zeros": {"dtype": "f32"}}}}, {"buffers": {"a": {"values": {"dtype": "f32", "data": [True]}}}},
    {"buffers": {"a": {"values": {"dtype": "f32", "data": ["x"]}}}}, {"buffers": {"a": {"npy": "a", "filter": "point"}}},
    {"textures": {"a": {"npy": "a", "filter": "cubic"}}}, {"textures": {"a": {"npy": "a", "address": []}}},
    *({"buffers": {"a": {"npy": "a", "pointers": p}}} for p in (
        {}, [{"buffer": "a"}], [{"offset": 0}], [{"offset": -1, "buffer": "a"}], [{"offset": 0, "buffer": "a", "global": "g"}],
        [{"offset": 0, "buffer": "a", "global_offset": 1}], [{"offset": 0, "global": "g", "buffer_offset": 1}])),
    {"surfaces": {"a": {"npy": "a", "pointers": []}}},
    *({"buffers": {"b": {"raw": "a"}}, "surfaces": {"s": {"npy": "a"}}, "textures": {"a": t}} for t in (
        {}, {"image": "s", "npy": "a"}, {"image": "s", "buffer": "b", "format": "u8", "shape": [1, 1]}, {"image": 1}, {"image": "s", "kind": "2d"},
        {"image": "s", "shape": [1, 1]}, {"image": "s", "channels": 3}, {"image": "s", "first_level": -1}, {"image": "s", "pitch": 4},
        {"buffer": "b"}, {"buffer": "b", "format": "u8"}, {"buffer": "b", "format": "u8", "shape": [1, 1, 1, 1]},
        {"buffer": "b", "format": "u8", "shape": [4, 1], "kind": "1d"}, {"buffer": "b", "format": "u8", "shape": [4, 1], "pitch": -1},
        {"buffer": "b", "format": "u8", "shape": [4, 1], "pitch": 0}, {"npy": "a", "kind": "4d"}, {"npy": "a", "kind": ""}, {"npy": "a", "levels": 0}, {"npy": "a", "levels": 17}, {"npy": "a", "levels": 2},
        {"npy": "a", "shape": [1]}, {"npy": "a", "shape": [0, 1]}, {"npy": "a", "shape": [1, 1, 1, 1, 1]}, {"npy": "a", "shape": [1 << 29, 1]},
        {"npy": "a", "first_level": 1}, {"npy": "a", "channels": 1}, {"npy": "a", "pitch": 4}, {"npy": "a", "buffer_offset": 4},
        {"npy": "a", "border": [1, 2, 3]}, {"npy": "a", "border": "black"}, {"npy": "a", "srgb": 1}, {"npy": "a", "mipmap_filter": "cubic"},
        {"npy": "a", "lod_bias": "0"}, {"npy": "a", "max_lod": "wide"}, {"npy": "a", "format": "bf16"})),
    *({"surfaces": {"a": {"npy": "a", **s}}} for s in ({"filter": "point"}, {"border": [0, 0, 0, 0]}, {"srgb": False})),
    *({"textures": {"t": {"npy": "a"}}, "buffers": {"a": {"npy": "a", "pointers": [p]}}} for p in (
        {"offset": 0, "texture": "t", "surface": "t"}, {"offset": 0, "texture": "t", "buffer_offset": 1}, {"offset": 0, "texture": 1}, {"offset": 0, "heap": True},
        {"offset": 0, "function": 1}, {"offset": 0, "function": "f", "texture": "t"})),
    {"buffers": {"a": {"npy": "a", "dtype": "f32"}}}, {"buffers": {"a": {"raw": "a", "dtype": "f8"}}}, {"surfaces": {"s": {"raw": "a", "dtype": "f32"}}},
    {"globals": {"a": {"zeros": {"dtype": "f32", "shape": [1]}, "dtype": "f32"}}}, {"expect": [{"global": "g", "npy": "a", "dtype": "f32"}]},
    {"buffers": {"a": {"npy": "a", "heap": 1}}}, {"globals": {"a": {"npy": "a", "heap": True}}}, {"surfaces": {"a": {"npy": "a", "heap": True}}},
    {"buffers": {"a": {"npy": "a"}}, "expect": [{"buffer": "a", "npy": "a", "pointers": [{"offset": 0, "heap": False}]}]},
    {"params": [{"global": "g", "u64": 1}]}, {"params": [{"global": 1}]},
    {"params": [{}]}, {"params": [{"u32": 1, "f32": 1}]}, {"params": [{"u33": 1}]}, {"params": [{"null": False}]},
    {"params": [{"struct": {"size": 8}}]}, {"params": [{"struct": {"size": 8, "fields": [{"u32": 1}]}}]},
    {"params": [{"struct": {"size": 40000, "fields": []}}]},
    {"expect": [{}]}, {"expect": [{"fault": "oops"}]}, {"expect": [{"printf": 1}]}, {"expect": [{"printf": "a", "fault": "trap"}]},
    {"expect": [{"global": "g"}]}, {"expect": [{"global": "g", "npy": "a", "tolerance": {"ulp": -1}}]},
    {"expect": [{"global": "g", "npy": "a", "tolerance": {"ulp": 1, "abs": 1}}]}, {"expect": [{"global": "g", "npy": "a", "as": "f8"}]},
]


def refused_by_program(command, case):
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump(case, f)
    try:
        done = subprocess.run([command, "run", f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    # A refusal by the reader names the file itself; a missing k.ptx would name that one.
    return done.returncode == 2 and done.stderr.startswith(f.name)


def main():
    source, command = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    with open(os.path.join(source, "docs", "case.schema.json")) as f:
        schema = json.load(f)
    validator = Validator(schema)
    failures = 0
    cases = sorted(glob.glob(os.path.join(source, "ptx_corpus", "**", "*.json"), recursive=True))
    checked = 0
    for path in cases:
        with open(path) as f:
            case = json.load(f)
        if isinstance(case, dict) and "ptxbridge_case" in case:
            checked += 1
            if not validator.valid(schema, case):
                print("FAIL: the schema refuses", path)
                failures += 1
    for sound in SOUND:
        if not validator.valid(schema, {**BASE, **sound}):
            print("FAIL: the schema refuses the base case with", sound)
            failures += 1
        if command and refused_by_program(command, {**BASE, **sound}):
            print("FAIL: the program refuses the base case with", sound)
            failures += 1
    for change in BROKEN:
        case = {**BASE, **change}
        if validator.valid(schema, case):
            print("FAIL: the schema accepts", change)
            failures += 1
        if command and not refused_by_program(command, case):
            print("FAIL: the program accepts", change)
            failures += 1
    print("%d case files and %d broken ones checked, %d failures" % (checked, len(BROKEN), failures))
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
