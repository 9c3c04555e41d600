"""What the libraries of the providers and a maker of grammars say of definitions, results and calls.

Reads a JSON file: `tools`, `results`, `calls` by dialect. Prints what they refuse to standard error, and to standard output answers
with calls as the libraries' own types write them: whole, and as events.
"""

import copy
import json
import sys
import typing

import llguidance
from anthropic.types import Message, MessageParam, RawMessageStreamEvent, ToolParam
from google.genai import types as genai
from mcp.types import CallToolResult, Tool as McpTool
from openai.lib._pydantic import _ensure_strict_json_schema
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.shared_params import FunctionDefinition
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam, ResponseStreamEvent
from pydantic import TypeAdapter

CHAT = ("openai-chat", "openai-chat-strict")
RESPONSES = ("openai-responses", "openai-responses-strict")
faults = []


def accepts(kind, value, what):
    """The type takes the value, and knows all its keys."""
    try:
        TypeAdapter(kind).validate_python(copy.deepcopy(value))
    except Exception as error:
        return faults.append(f"{what}: {str(error)[:500]}")
    # Types of dictionaries pass over keys that they do not know.
    parts = [part for part in typing.get_args(kind) or (kind,) if typing.is_typeddict(part)]
    unknown = set(value) - {key for part in parts for key in typing.get_type_hints(part)}
    if parts and unknown:
        faults.append(f"{what}: unknown keys {unknown}")


def strict(schema, what):
    """The library that makes schemas strict finds nothing to change."""
    own = copy.deepcopy(schema)
    if _ensure_strict_json_schema(own, path=(), root=own) != schema:
        faults.append(f"{what}: not strict")


def grammar(schema, what):
    """A grammar can be made of it."""
    text = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
    fault = llguidance.LLMatcher.validate_grammar(text)
    if fault:
        faults.append(f"{what}: {fault[:500]} in {json.dumps(schema)[:2000]}")


def check_tool(dialect, tool):
    if dialect in CHAT:
        what = f"{dialect} {tool['function']['name']}"
        accepts(ChatCompletionToolParam, tool, what)
        accepts(FunctionDefinition, tool["function"], what)
        function, schema = tool["function"], tool["function"]["parameters"]
    elif dialect in RESPONSES:
        what = f"{dialect} {tool['name']}"
        accepts(FunctionToolParam, tool, what)
        function, schema = tool, tool["parameters"]
    elif dialect == "anthropic":
        return accepts(ToolParam, tool, f"{dialect} {tool['name']}")
    elif dialect == "mcp":
        return accepts(McpTool, tool, f"{dialect} {tool['name']}")
    else:
        what = f"{dialect} {tool['name']}"
        accepts(genai.FunctionDeclaration, tool, what)
        return grammar(tool.get("parametersJsonSchema", {}), what)
    if function["strict"]:
        strict(schema, what)
    grammar(schema, what)


def check_result(dialect, message):
    if dialect in CHAT:
        accepts(ChatCompletionMessageParam, message, f"{dialect} result")
    elif dialect in RESPONSES:
        accepts(ResponseInputItemParam, message, f"{dialect} result")
    elif dialect == "anthropic":
        accepts(MessageParam, message, f"{dialect} result")
    elif dialect == "mcp":
        accepts(CallToolResult, message, f"{dialect} result")
    else:
        accepts(genai.Content, message, f"{dialect} result")


def pieces(text):
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def dump(kind, value):
    return TypeAdapter(kind).validate_python(value).model_dump(mode="json", by_alias=True)


def chat(calls):
    tool_calls = [
        {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}} for c in calls
    ]
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": tool_calls}
    head = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
    whole = dump(ChatCompletion, {**head, "object": "chat.completion", "choices": [choice]})

    def chunk(delta, finish=None):
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return dump(ChatCompletionChunk, {**head, "object": "chat.completion.chunk", "choices": choices})

    events = [chunk({"role": "assistant", "content": ""})]
    for index, call in enumerate(calls):
        function = {"name": call["name"], "arguments": ""}
        events.append(chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]}))
        for piece in pieces(call["arguments"]):
            events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    return whole, events + [chunk({}, "tool_calls")]


def responses(calls):
    def item(index, call, arguments, status):
        return {"type": "function_call", "id": f"fc_{index}", "call_id": call["id"], "name": call["name"],
                "arguments": arguments, "status": status}

    output = [item(index, call, call["arguments"], "completed") for index, call in enumerate(calls)]
    response = {"id": "resp_1", "created_at": 1.0, "model": "m", "object": "response", "output": output,
                "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "completed"}
    number = iter(range(1_000_000))

    def event(value):
        return dump(ResponseStreamEvent, {**value, "sequence_number": next(number)})

    events = [event({"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}})]
    for index, call in enumerate(calls):
        place = {"item_id": f"fc_{index}", "output_index": index}
        events.append(event({"type": "response.output_item.added", "output_index": index, "item": item(index, call, "", "in_progress")}))
        for piece in pieces(call["arguments"]):
            events.append(event({"type": "response.function_call_arguments.delta", **place, "delta": piece}))
        events.append(event({"type": "response.function_call_arguments.done", **place, "arguments": call["arguments"], "name": call["name"]}))
        events.append(event({"type": "response.output_item.done", "output_index": index, "item": output[index]}))
    events.append(event({"type": "response.completed", "response": response}))
    return dump(Response, response), events


def anthropic(calls):
    blocks = [{"type": "text", "text": "So.", "citations": None}]
    blocks += [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": json.loads(c["arguments"])} for c in calls]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks,
               "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}

    def event(value):
        return dump(RawMessageStreamEvent, value)

    events = [event({"type": "message_start", "message": {**message, "content": [], "stop_reason": None}})]
    for index, block in enumerate(blocks):
        start = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
        events.append(event({"type": "content_block_start", "index": index, "content_block": start}))
        if block["type"] == "tool_use":
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(calls[index - 1]["arguments"])]]
        else:
            deltas = [{"type": "text_delta", "text": block["text"]}]
        events += [event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas]
        events.append(event({"type": "content_block_stop", "index": index}))
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append(event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}))
    events.append(event({"type": "message_stop"}))
    return dump(Message, message), events


def gemini(calls, has_ids=True):
    def response(parts):
        content = genai.Content(role="model", parts=parts)
        candidate = genai.Candidate(content=content, finish_reason="STOP", index=0)
        return genai.GenerateContentResponse(candidates=[candidate])

    parts = [
        genai.Part(function_call=genai.FunctionCall(id=c["id"] if has_ids else None, name=c["name"], args=json.loads(c["arguments"])))
        for c in calls
    ]
    # As the interface writes it, and as the library does.
    whole = response(parts).model_dump(mode="json", by_alias=True, exclude_none=True)
    return whole, [response([part]).model_dump(mode="json") for part in parts]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    for dialect, tools in given["tools"].items():
        if dialect == "gemini":
            accepts(genai.Tool, tools[0], "gemini tools")
            tools = tools[0]["functionDeclarations"]
        for tool in tools:
            check_tool(dialect, tool)
    for dialect, messages in given["results"].items():
        for message in messages:
            check_result(dialect, message)
    answers = {}
    for dialect, calls in given["calls"].items():
        made = chat if dialect in CHAT else responses if dialect in RESPONSES else anthropic if dialect == "anthropic" else gemini
        answers[dialect] = made(calls)
    for fault in faults[:40]:
        print(fault, file=sys.stderr)
    if faults:
        sys.exit(f"{len(faults)} faults")
    json.dump(answers, sys.stdout)


main()
