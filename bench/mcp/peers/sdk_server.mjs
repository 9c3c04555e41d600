// The tool with the TypeScript SDK: `sdk_server.mjs MODULES stdio|http`.

import { randomUUID } from "node:crypto";
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
