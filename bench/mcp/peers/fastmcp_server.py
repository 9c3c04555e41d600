"""The tools with FastMCP: `fastmcp_server.py stdio|http`."""

import socket
import sys

from fastmcp import FastMCP

server = FastMCP("greeter")


@server.tool
async def greet(name: str, count: int) -> str:
    """Greets somebody."""
    return f"hello {name} {count}"


@server.tool
async def read(file_path: str, offset: int = 1, limit: int = 2000) -> str:
    """Reads a text file and returns its lines, numbered."""
    with open(file_path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    shown = enumerate(lines[offset - 1 : offset - 1 + limit], offset)
    return "\n".join(f"{number:6}→{line}" for number, line in shown)


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")
