"""Gets large results, by a client of the Model Context Protocol in Python, and compares them with the files that they are made of.

large_client.py (mcp|fastmcp) (legacy|auto) ROWS COMMAND...   starts a command
large_client.py (mcp|fastmcp) (legacy|auto) ROWS URL TOKEN    goes to an address

A row is `[TOOL, ARGUMENTS, FILE]`. Prints a line for each: `whole` if the result has all of the file, `linked` if a resource that the result
links to has it, read in pieces; else what is wrong. `read` may make a picture smaller.
"""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

import fastmcp
import httpx2
import mcp
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.streamable_http import streamable_http_client

MAX_PIECE = 256 * 1024


def by_mcp(mode, target):
    if target[0].startswith("http"):
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {target[1]}"}, timeout=600)
        server = streamable_http_client(target[0], http_client=http)
    else:
        server = mcp.StdioServerParameters(command=target[0], args=target[1:], env=None)
    client = mcp.Client(server, mode=mode)

    async def contents(uri):
        return (await client.read_resource(uri)).contents

    async def call(name, arguments):
        return await client.call_tool(name, arguments)

    async def names():
        return [tool.name for tool in (await client.list_tools()).tools]

    return client, names, call, contents


def by_fastmcp(mode, target):
    if target[0].startswith("http"):
        server = StreamableHttpTransport(target[0], headers={"Authorization": f"Bearer {target[1]}"})
    else:
        server = StdioTransport(target[0], target[1:])
    client = fastmcp.Client(server, mode=mode)

    async def call(name, arguments):
        return await client.call_tool(name, arguments, raise_on_error=False)

    async def names():
        return [tool.name for tool in await client.list_tools()]

    return client, names, call, client.read_resource


def data_of(contents):
    if getattr(contents, "text", None) is not None:
        return contents.text.encode()
    return base64.b64decode(contents.blob)


async def linked(contents, uri):
    """Reads a resource in pieces."""
    pieces = []
    while uri:
        [piece] = await contents(uri)
        pieces.append(data_of(piece))
        assert len(pieces[-1]) <= MAX_PIECE, f"a piece has {len(pieces[-1])} bytes"
        uri = ((piece.meta or {}) if hasattr(piece, "meta") else {}).get("next")
    return b"".join(pieces)


def is_all(data, expected, suffix, tool):
    if tool == "read" and data.startswith((b"\x89PNG", b"\xff\xd8", b"RIFF")):
        return True
    if suffix != ".json":
        return expected in data
    # A text may say something before and after it.
    at = data.find(b"{")
    if at < 0:
        return False
    try:
        return json.JSONDecoder().raw_decode(data[at:].decode())[0] == json.loads(expected)
    except ValueError:
        return False


async def compare(call, contents, tool, arguments, file):
    path = Path(os.environ["WORKSPACE"]) / file
    expected = path.read_bytes()
    result = await call(tool, arguments)
    if result.is_error:
        return f"an error: {str(result.content)[:300]}"
    structured = result.structured_content
    if path.suffix == ".json" and structured == json.loads(expected):
        return "whole"
    links, shown = [], []
    for block in result.content:
        if block.type == "resource_link":
            links.append(str(block.uri))
        elif block.type == "text":
            shown.append(block.text.encode())
        elif block.type == "resource":
            shown.append(data_of(block.resource))
        else:
            shown.append(base64.b64decode(block.data))
    if any(is_all(data, expected, path.suffix, tool) for data in shown):
        return "whole"
    for uri in links:
        if is_all(await linked(contents, uri), expected, path.suffix, tool):
            return "linked"
    sizes = [(block.type, len(data)) for block, data in zip(result.content, shown)]
    return f"not all of it: {sizes}, {len(links)} links, structured content: {structured is not None}"


def cause(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {str(error)[:300]}"


async def main():
    library, mode, rows, *target = sys.argv[1:]
    make = by_mcp if library == "mcp" else by_fastmcp
    rows = json.loads(rows)
    while rows:
        try:
            client, names, call, contents = make(mode, target)
            async with client:
                # A server that starts slowly has its tools in a later list.
                while "large__text" not in await names():
                    await asyncio.sleep(0.2)
                while rows:
                    row = rows.pop(0)
                    said = await asyncio.wait_for(compare(call, contents, *row), 600)
                    print(f"{row[0]} {row[2]}: {said}".replace("\n", " "), flush=True)
        except Exception as error:
            # An answer that is too large may end the connection: the next row has a new one.
            print(f"{row[0]} {row[2]}: {cause(error)}".replace("\n", " "), flush=True)


asyncio.run(main())
