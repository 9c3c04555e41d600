// The tools with the TypeScript SDK: `sdk_server.mjs MODULES stdio|http`.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, transport] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const { StreamableHTTPServerTransport } = await load("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { z } = await load("zod");

function server() {
  const made = new McpServer({ name: "greeter", version: "1" });
  made.registerTool(
    "greet",
    { description: "Greets somebody.", inputSchema: { name: z.string(), count: z.number().int() } },
    async ({ name, count }) => ({ content: [{ type: "text", text: `hello ${name} ${count}` }] }),
  );
  made.registerTool(
    "read",
    {
      description: "Reads a text file and returns its lines, numbered.",
      inputSchema: {
        file_path: z.string().min(1),
        offset: z.number().int().min(1).default(1),
        limit: z.number().int().min(1).max(2000).default(2000),
      },
    },
    async ({ file_path, offset, limit }) => {
      const lines = (await readFile(file_path, "utf8")).split("\n");
      const shown = lines.slice(offset - 1, offset - 1 + limit);
      const text = shown.map((line, place) => `${String(place + offset).padStart(6)}→${line}`).join("\n");
      return { content: [{ type: "text", text }] };
    },
  );
  return made;
}

if (transport === "stdio") {
  await server().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const listening = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let session = sessions.get(id);
    if (!session) {
      session = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (made) => sessions.set(made, session),
      });
      await server().connect(session);
    }
    await session.handleRequest(request, response);
  });
  listening.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listening.address().port}/mcp`));
}
