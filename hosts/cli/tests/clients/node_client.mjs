// Calls every builtin tool by the client of the Model Context Protocol in TypeScript.
//
// node_client.mjs CALLS COMMAND...   starts a command
// node_client.mjs CALLS URL TOKEN    goes to an address

import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The packages lie elsewhere than this file.
const require = createRequire(`${process.env.NODE_PATH}/`);
const load = (path) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { ElicitRequestSchema } = await load("types.js");

const [calls, ...target] = process.argv.slice(2);
const work = process.env.WORKSPACE;
const transport = target[0].startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target[0]), {
      requestInit: { headers: { Authorization: `Bearer ${target[1]}` } },
    })
  : new StdioClientTransport({ command: target[0], args: target.slice(1), cwd: work, env: process.env });
const client = new Client({ name: "node", version: "1" }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: {} };
});
const text = (result) => result.content.map((block) => block.text ?? "").join("");

await client.connect(transport);
const there = (await client.listTools()).tools.map((tool) => tool.name);
for (const [name, args, expected] of JSON.parse(readFileSync(calls, "utf8"))) {
  assert.ok(there.includes(name), name);
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError && text(result).includes(expected), `${name}: ${text(result)}`);
}
assert.ok(asked.length >= 3, String(asked));

const told = [];
const slowly = { command: "for n in 1 2 3; do echo number $n; sleep 0.7; done" };
const counted = await client.callTool({ name: "exec", arguments: slowly }, undefined, {
  onprogress: (progress) => told.push(progress.message),
});
assert.ok(text(counted).includes("number 3"), text(counted));
assert.ok(told.some((message) => message?.includes("number")), JSON.stringify(told));

const abort = new AbortController();
setTimeout(() => abort.abort(), 2000);
const endless = { command: "echo $$ >pid; exec sleep 98765" };
await assert.rejects(client.callTool({ name: "exec", arguments: endless }, undefined, { signal: abort.signal }));
await new Promise((resolve) => setTimeout(resolve, 1000));
await client.close();
console.log("done");
