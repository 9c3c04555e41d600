// Gets large results, by a client of the Model Context Protocol in TypeScript, as `large_client.py` does.
//
// large_client.mjs (v1|v2) (legacy|auto) ROWS COMMAND...   starts a command
// large_client.mjs (v1|v2) (legacy|auto) ROWS URL TOKEN    goes to an address

import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const MAX_PIECE = 256 * 1024;
const [library, mode, rows, ...target] = process.argv.slice(2);
const work = process.env.WORKSPACE;

// The packages lie elsewhere than this file.
const require = createRequire(`${process.env.NODE_PATH}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const names =
  library === "v2"
    ? ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"]
    : ["client/index.js", "client/stdio.js", "client/streamableHttp.js"].map((path) => `@modelcontextprotocol/sdk/${path}`);
const loaded = Object.assign({}, ...(await Promise.all(names.map(load))));
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = loaded;

const connect = async () => {
  const transport = target[0].startsWith("http")
    ? new StreamableHTTPClientTransport(new URL(target[0]), {
        requestInit: { headers: { Authorization: `Bearer ${target[1]}` } },
      })
    : new StdioClientTransport({ command: target[0], args: target.slice(1), cwd: work, env: process.env });
  const client = new Client({ name: "node", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  // A server that starts slowly has its tools in a later list.
  const isThere = async () => (await client.listTools()).tools.some((tool) => tool.name === "large__text");
  while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 200));
  return client;
};

const dataOf = (contents) =>
  contents.text === undefined ? Buffer.from(contents.blob, "base64") : Buffer.from(contents.text);

/// Reads a resource in pieces.
const linked = async (client, address) => {
  const pieces = [];
  for (let uri = address; uri; ) {
    const [piece] = (await client.readResource({ uri })).contents;
    pieces.push(dataOf(piece));
    assert.ok(pieces.at(-1).length <= MAX_PIECE, `a piece has ${pieces.at(-1).length} bytes`);
    uri = piece._meta?.next;
  }
  return Buffer.concat(pieces);
};

const isAll = (data, expected, file, tool) => {
  const isPicture = ["\x89PNG", "\xff\xd8", "RIFF"].some((start) => data.toString("latin1", 0, 4).startsWith(start));
  if (tool === "read" && isPicture) return true;
  if (!file.endsWith(".json")) return data.includes(expected);
  // A text may say something before and after it.
  const text = data.toString();
  const json = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  try {
    return isDeepStrictEqual(JSON.parse(json), JSON.parse(expected.toString()));
  } catch {
    return false;
  }
};

const compare = async (client, tool, args, file) => {
  const expected = readFileSync(join(work, file));
  const result = await client.callTool({ name: tool, arguments: args }, ...(library === "v2" ? [] : [undefined]), {
    timeout: 600_000,
  });
  if (result.isError) return `an error: ${JSON.stringify(result.content).slice(0, 300)}`;
  const structured = result.structuredContent;
  if (file.endsWith(".json") && isDeepStrictEqual(structured, JSON.parse(expected.toString()))) return "whole";
  const links = result.content.filter((block) => block.type === "resource_link").map((block) => block.uri);
  const blocks = result.content.filter((block) => block.type !== "resource_link");
  const shown = blocks.map((block) => {
    if (block.type === "text") return Buffer.from(block.text);
    return block.type === "resource" ? dataOf(block.resource) : Buffer.from(block.data, "base64");
  });
  if (shown.some((data) => isAll(data, expected, file, tool))) return "whole";
  for (const uri of links) {
    if (isAll(await linked(client, uri), expected, file, tool)) return "linked";
  }
  const sizes = blocks.map((block, index) => `${block.type} ${shown[index].length}`);
  return `not all of it: ${sizes}, ${links.length} links, structured content: ${structured !== undefined}`;
};

let client;
for (const row of JSON.parse(rows)) {
  let said;
  try {
    client ??= await connect();
    said = await compare(client, ...row);
  } catch (error) {
    // An answer that is too large may end the connection: the next row has a new one.
    said = `${error.name}: ${String(error.message).slice(0, 300)}`;
    await client?.close().catch(() => {});
    client = undefined;
  }
  console.log(`${row[0]} ${row[2]}: ${said}`.replaceAll("\n", " "));
}
await client?.close();
process.exit(0);
