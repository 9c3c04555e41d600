"""The tool with FastMCP: `fastmcp_server.py stdio|http`."""

import socket
import sys

from fastmcp import FastMCP

server = FastMCP("greeter")


@server.tool
async def greet(name: str, count: int) -> str:
    """Greets somebody."""
    return f"hello {name} {count}"


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")
