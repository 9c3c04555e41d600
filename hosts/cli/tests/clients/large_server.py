"""A server whose results are as large as the files that they are made of: `large_server.py DIRECTORY PORT`."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

directory = Path(sys.argv[1])
server = MCPServer("large")


def encoded(file: str) -> str:
    return base64.b64encode((directory / file).read_bytes()).decode()


@server.tool()
def text(file: str) -> CallToolResult:
    """The text of a file."""
    return CallToolResult(content=[TextContent(type="text", text=(directory / file).read_text())])


@server.tool()
def document(file: str) -> CallToolResult:
    """A file as an embedded resource of text."""
    contents = TextResourceContents(uri=f"large://{file}", mime_type="text/plain", text=(directory / file).read_text())
    return CallToolResult(content=[EmbeddedResource(type="resource", resource=contents)])


@server.tool()
def data(file: str) -> CallToolResult:
    """A file as an embedded resource of bytes."""
    contents = BlobResourceContents(uri=f"large://{file}", mime_type="application/zip", blob=encoded(file))
    return CallToolResult(content=[EmbeddedResource(type="resource", resource=contents)])


@server.tool()
def picture(file: str) -> CallToolResult:
    """A file as a picture."""
    return CallToolResult(content=[ImageContent(type="image", mime_type="image/png", data=encoded(file))])


@server.tool()
def pictures(file: str, count: int) -> CallToolResult:
    """A file as several pictures."""
    return CallToolResult(content=[ImageContent(type="image", mime_type="image/png", data=encoded(file))] * count)


@server.tool()
def structured(file: str) -> dict[str, Any]:
    """Structured content, with the same in text, and a schema."""
    return json.loads((directory / file).read_text())


@server.tool()
def summarised(file: str) -> CallToolResult:
    """Structured content without a schema, with a text that says less."""
    content = json.loads((directory / file).read_text())
    said = f"{len(content['items'])} items"
    return CallToolResult(content=[TextContent(type="text", text=said)], structured_content=content)


@server.resource("large://text/{file}", mime_type="text/plain")
def text_resource(file: str) -> str:
    """A file as text."""
    return (directory / file).read_text()


@server.resource("large://data/{file}", mime_type="application/zip")
def data_resource(file: str) -> bytes:
    """A file as bytes."""
    return (directory / file).read_bytes()


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
