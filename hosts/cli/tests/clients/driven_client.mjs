// A client of the Model Context Protocol that does what it reads, as `driven_client.py`.
//
// driven_client.mjs legacy URL TOKEN    by the library's first version
// driven_client.mjs modern URL TOKEN    by its second version

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [era, url, token] = process.argv.slice(2);
const isModern = era === "modern";
const version = isModern ? "2026-07-28" : "2025-11-25";

// The packages lie elsewhere than this file.
const require = createRequire(`${process.env.NODE_PATH}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client, StreamableHTTPClientTransport } = isModern
  ? await load("@modelcontextprotocol/client")
  : {
      ...(await load("@modelcontextprotocol/sdk/client/index.js")),
      ...(await load("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    };

/// A value that is waited for, or that waits.
class Queue {
  values = [];
  waiting = [];
  put(value) {
    const next = this.waiting.shift();
    if (next) next(value);
    else this.values.push(value);
  }
  get() {
    if (this.values.length) return Promise.resolve(this.values.shift());
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

let [sent, event, asked, answers] = [new Queue(), new Queue(), new Queue(), new Queue()];
let begun;
let abort;
let wasAsked = false;
const received = [];
let news = [];

const headers = { Authorization: `Bearer ${token}` };

/// A transport apart from the client's own, with the session of an action and the status of its last answer.
const apart = async (sessionId) => {
  const status = new Queue();
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers, "mcp-protocol-version": version } },
    sessionId: sessionId ?? undefined,
    fetch: async (...args) => {
      const response = await fetch(...args);
      status.put(response.status);
      return response;
    },
  });
  transport.onerror = () => {};
  transport.onmessage = (message) => {
    received.push(JSON.stringify(message));
    news.splice(0).forEach((wake) => wake());
  };
  await transport.start();
  transport.setProtocolVersion?.(version);
  return { transport, status };
};

const client = new Client(
  { name: "node", version: "1" },
  { capabilities: { elicitation: {} }, versionNegotiation: isModern ? { mode: { pin: version } } : undefined },
);
const onQuestion = async (id) => {
  wasAsked = true;
  if (!begun) return { action: "decline" };
  asked.put(id);
  const content = await answers.get();
  return content === null ? { action: "decline" } : { action: "accept", content };
};
if (isModern) {
  client.setRequestHandler("elicitation/create", (_request, context) => onQuestion(context.mcpReq.id));
} else {
  const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");
  client.setRequestHandler(ElicitRequestSchema, (_request, extra) => onQuestion(extra.requestId));
}
const own = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers },
  fetch: (address, init) => {
    if (typeof init?.body === "string") {
      const message = JSON.parse(init.body);
      if (message.method === "tools/call") sent.put(message.id);
    }
    return fetch(address, init);
  },
});

const outcome = (result) => {
  if (result.requestState) return { state: result.requestState, names: Object.keys(result.inputRequests ?? {}) };
  return {
    text: result.content.map((block) => block.text ?? "").join(""),
    is_error: result.isError === true,
    links: result.content.filter((block) => block.type === "resource_link").map((block) => block.uri),
  };
};

const called = async (name, args, more = {}) => {
  const params = { name, arguments: args, ...more };
  abort = new AbortController();
  const options = { signal: abort.signal, onresumptiontoken: (id) => event.put(id), allowInputRequired: true };
  return outcome(isModern ? await client.callTool(params, options) : await client.callTool(params, undefined, options));
};

const hasReceived = (text) => received.some((message) => message.includes(text));

const within = (promise) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error("timeout")), 30_000).unref())]);

const actions = {
  own: () => ({ session: own.sessionId ?? null, version: client.getNegotiatedProtocolVersion?.() ?? own.protocolVersion }),
  call: async ({ name, arguments: args }) => {
    wasAsked = false;
    const done = await called(name, args);
    return { ...done, was_asked: wasAsked || "state" in done };
  },
  begin: async ({ name, arguments: args, resumable }) => {
    [sent, event, asked] = [new Queue(), new Queue(), new Queue()];
    begun = called(name, args);
    begun.catch(() => {});
    const id = await within(sent.get());
    return { id, event: resumable && !isModern ? await within(event.get()) : null };
  },
  end: async () => {
    try {
      return await begun;
    } finally {
      begun = undefined;
    }
  },
  abort: async () => {
    abort.abort();
    await begun.catch(() => {});
    begun = undefined;
  },
  question: async () => (isModern ? await actions.end() : { id: await within(asked.get()) }),
  answer: ({ content }) => answers.put(content),
  come_back: ({ name, arguments: args, state, names, content }) => {
    const response = content === null ? { action: "decline" } : { action: "accept", content };
    const inputResponses = Object.fromEntries(names.map((each) => [each, response]));
    return called(name, args, { requestState: state, inputResponses });
  },
  resources: async () => (await client.listResources()).resources.map((resource) => resource.uri),
  read: async ({ uri }) => ({ text: (await client.readResource({ uri })).contents[0].text }),
  send: async ({ session, message }) => {
    const { transport, status } = await apart(session);
    transport.send(message).catch(() => {});
    return { status: await within(status.get()) };
  },
  resume: async ({ session, event: last }) => {
    const { transport, status } = await apart(session);
    transport.resumeStream(last).catch(() => {});
    return { status: await within(status.get()) };
  },
  receives: async ({ text }) => {
    const waiting = async () => {
      while (!hasReceived(text)) await new Promise((resolve) => news.push(resolve));
      return true;
    };
    return within(waiting()).catch(() => false);
  },
  has_received: ({ text }) => hasReceived(text),
  delete: async ({ session }) => {
    const { transport } = await apart(session);
    await transport.terminateSession().catch(() => {});
    await transport.close();
  },
  ping: async () => {
    await client.ping();
  },
};

await client.connect(own);
for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...action } = JSON.parse(line);
  let said;
  try {
    assert.ok(name in actions, name);
    said = { ok: (await actions[name](action)) ?? null };
  } catch (error) {
    said = { error: `${error.name}: ${error.message}` };
  }
  console.log(JSON.stringify(said));
}
process.exit(0);
