"""What the libraries of the providers say of requests.

Reads a JSON file: bodies of requests by interface. Prints what the libraries refuse to standard error, and how many bodies they took to
standard output.
"""

import json
import sys

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types as genai
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

# What is checked only when it is looked at needs its adapter until then.
KINDS = {
    "openai-chat": TypeAdapter(CompletionCreateParamsStreaming),
    "openai-responses": TypeAdapter(ResponseCreateParamsStreaming),
    "anthropic": TypeAdapter(MessageCreateParamsStreaming),
}
GEMINI = {
    "contents": list[genai.Content],
    "systemInstruction": genai.Content,
    "tools": list[genai.Tool],
    "toolConfig": genai.ToolConfig,
    "generationConfig": genai.GenerationConfig,
}


def drained(value):
    """The value with what is checked only when it is looked at."""
    if isinstance(value, dict):
        return {key: drained(member) for key, member in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        return [drained(item) for item in value]
    return value


def lost(sent, taken, at=""):
    """Where the library knows nothing of what is sent: types of dictionaries pass over keys that they do not know."""
    if isinstance(sent, dict) and isinstance(taken, dict):
        for key, member in sent.items():
            if key in taken:
                yield from lost(member, taken[key], f"{at}/{key}")
            else:
                yield f"{at}/{key}"
    elif isinstance(sent, list) and isinstance(taken, list) and len(sent) == len(taken):
        for place, (one, other) in enumerate(zip(sent, taken)):
            yield from lost(one, other, f"{at}/{place}")
    elif sent != taken:
        yield at


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    faults, count = [], 0
    for interface, bodies in given.items():
        for number, body in enumerate(bodies):
            what = f"{interface} {number}"
            try:
                if interface == "gemini":
                    for key, value in body.items():
                        TypeAdapter(GEMINI[key]).validate_json(json.dumps(value))
                else:
                    taken = drained(KINDS[interface].validate_python(body))
                    faults += [f"{what}: {place} is not known" for place in lost(body, taken)]
            except Exception as error:
                faults.append(f"{what}: {type(error).__name__} {str(error)[:1500]}")
            count += 1
    if faults:
        sys.exit("\n".join(faults[:40]))
    print(count)


main()
