"""A server with tools, resources and prompts: `python_server.py LIBRARY TRANSPORT [PORT]`."""

import sys

library, transport = sys.argv[1:3]
if library == "fastmcp":
    from fastmcp import FastMCP as Server
else:
    from mcp.server import MCPServer as Server

server = Server("python")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.resource("test://greeting")
def greeting() -> str:
    """Says hello."""
    return "hello from Python"


@server.resource("test://data", mime_type="application/octet-stream")
def data() -> bytes:
    """Three bytes."""
    return b"\x01\x02\x03"


@server.resource("test://users/{name}")
def user(name: str) -> str:
    """A user."""
    return f"user {name}"


@server.prompt()
def review(code: str) -> str:
    """Reviews code."""
    return f"Please review: {code}"


options = {} if transport == "stdio" else {"host": "127.0.0.1", "port": int(sys.argv[3])}
server.run(transport, **options)
