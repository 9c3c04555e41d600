// A stand-in for a model: what it is told says what it does.

import http from "node:http";

/** Time between two pieces of a long answer, in milliseconds. */
const PIECE = 20;

/** Starts it. Returns its address, and what ends it. */
export async function startModel() {
  const server = http.createServer((request, response) => void answer(request, response));
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.closeAllConnections() ?? server.close() };
}

async function answer(request, response) {
  let body = "";
  for await (const piece of request) body += piece;
  const { messages, model } = JSON.parse(body);
  const last = messages.at(-1);
  const text = typeof last.content === "string" ? last.content : last.content.map((part) => part.text ?? "").join("");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, reason = null) => response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
  // A message without an answer stands before the next one in the same text: the last one counts.
  const asked = last.role === "user" ? /^.*\b(call|say) (\S+)(?: (.*))?$/s.exec(text) : null;
  if (asked?.[1] === "call") {
    send({ role: "assistant", tool_calls: [{ index: 0, id: `call-${messages.length}`, type: "function", function: { name: asked[2], arguments: asked[3] } }] });
    send({}, "tool_calls");
  } else {
    const words = asked?.[1] === "say" ? Array.from({ length: Number(asked[2]) }, (_, index) => `word${index} `) : [last.role === "tool" ? "got: " : "heard: ", text];
    for (const word of words) {
      if (response.destroyed) return;
      send({ content: word });
      if (words.length > 2) await new Promise((resolve) => { setTimeout(resolve, PIECE); });
    }
    send({}, "stop");
  }
  response.end(`data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}\n\ndata: [DONE]\n\n`);
}
