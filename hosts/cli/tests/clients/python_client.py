"""Calls every builtin tool by a client of the Model Context Protocol in Python.

python_client.py (mcp|fastmcp) (legacy|auto) CALLS COMMAND...   starts a command
python_client.py (mcp|fastmcp) (legacy|auto) CALLS URL TOKEN    goes to an address
"""

import asyncio
import json
import sys

import fastmcp
import httpx2
import mcp
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.streamable_http import streamable_http_client

ASKED = []


async def by_mcp(mode, target):
    async def answer(_context, params):
        ASKED.append(params.message)
        return mcp.types.ElicitResult(action="accept", content={})

    if target[0].startswith("http"):
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {target[1]}"}, timeout=60)
        server = streamable_http_client(target[0], http_client=http)
    else:
        server = mcp.StdioServerParameters(command=target[0], args=target[1:], env=None)
    client = mcp.Client(server, mode=mode, elicitation_callback=answer)

    async def call(name, arguments, progress=None):
        result = await client.call_tool(name, arguments, progress_callback=progress)
        return result.is_error, text(result)

    async def names():
        return [tool.name for tool in (await client.list_tools()).tools]

    return client, names, call


async def by_fastmcp(mode, target):
    async def answer(message, _response_type, _params, _context):
        ASKED.append(message)
        return {}

    if target[0].startswith("http"):
        server = StreamableHttpTransport(target[0], headers={"Authorization": f"Bearer {target[1]}"})
    else:
        server = StdioTransport(target[0], target[1:])
    client = fastmcp.Client(server, mode=mode, elicitation_handler=answer)

    async def call(name, arguments, progress=None):
        result = await client.call_tool(name, arguments, progress_handler=progress, raise_on_error=False)
        return result.is_error, text(result)

    async def names():
        return [tool.name for tool in await client.list_tools()]

    return client, names, call


def text(result):
    return "".join(getattr(block, "text", "") for block in result.content)


async def main():
    library, mode, calls, *target = sys.argv[1:]
    make = by_mcp if library == "mcp" else by_fastmcp
    client, names, call = await make(mode, target)
    with open(calls) as file:
        calls = json.load(file)
    async with client:
        there = await names()
        for name, arguments, expected in calls:
            assert name in there, (name, there)
            is_error, said = await call(name, arguments)
            assert not is_error and expected in said, (name, said)
        # To write and to run something is asked for.
        assert len(ASKED) >= 3, ASKED

        told = []

        async def progress(done, total, message):
            told.append((done, message))

        slowly = "for n in 1 2 3; do echo number $n; sleep 0.7; done"
        is_error, said = await call("exec", {"command": slowly}, progress)
        assert not is_error and "number 3" in said, said
        assert any("number" in (message or "") for _, message in told), told

        # Cancelled, its process ends: whoever started this looks for it.
        running = asyncio.create_task(call("exec", {"command": "echo $$ >pid; exec sleep 98765"}))
        await asyncio.sleep(2)
        running.cancel()
        try:
            await running
        except asyncio.CancelledError:
            pass
        await asyncio.sleep(1)
        print("done")


asyncio.run(main())
