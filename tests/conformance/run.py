"""Runs one of the scripts beside this one with the interpreter that has its tools; skipped where there is none.

usage: run.py INTERPRETER SCRIPT ARGUMENT...
"""
import os
import sys

interpreter, script, *arguments = sys.argv[1:]
if not os.path.exists(interpreter):
    print("SKIP: the tools for OpenAPI are not installed in .deps; ./dev deps installs them")
    sys.exit(77)
beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), script)
os.execv(interpreter, [interpreter, "-B", beside, *arguments])
