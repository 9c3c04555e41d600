/**
 * A client of a gateway: serves tools to a session, sends messages, and follows events, over one WebSocket.
 *
 * An ES module without dependencies, for browsers and Node 22 or later.
 *
 * @module toolkit
 */

/**
 * @typedef {object} ConnectOptions
 * @property {string | (() => string | Promise<string>)} token The token of a person, or a function that returns it.
 * @property {string} [session] The session that gets the tools; `main`, the person's own one, by default.
 * @property {string[]} [sessions] Several sessions, in place of one.
 * @property {string} [name] The name of this client: 1 to 32 letters, digits, `-` or `_`; `client` by default. Rules name its tools
 *   `client:<person>.<name>`.
 * @property {(notice: string) => void} [onNotice] Hears what the gateway says of the tools, such as that a name is taken.
 * @property {(state: "connected" | "disconnected" | "closed", reason?: string) => void} [onState] Hears of the connection.
 */

/**
 * @typedef {object} ToolOptions
 * @property {string} description What the tool does, for the model.
 * @property {object} [inputSchema] The JSON Schema of the arguments, an object; no arguments by default.
 * @property {object} [outputSchema] The JSON Schema of the result, if it is an object.
 * @property {string} [title] A title for people.
 * @property {object} [annotations] Hints, as MCP has them. They are shown, and loosen no rule.
 * @property {boolean} [deferred] The call is answered as pending at once, and the result comes as a message to the session when it is there.
 */

/**
 * @typedef {object} CallContext
 * @property {AbortSignal} signal Aborted when nobody waits for the result any more.
 * @property {(done: number, total?: number, message?: string) => void} progress Tells how far the call is.
 * @property {string} [call] The id of a deferred call.
 */

/**
 * @callback ToolFunction
 * @param {any} args The arguments, which fit the schema.
 * @param {CallContext} context
 * @returns {any} A text, an object, or a result of MCP with `content`; or a promise of one. What it throws is an error for the model.
 */

/**
 * @typedef {object} GatewayEvent
 * @property {number} [id] Its number; events of an answer that is being written have none.
 * @property {string} kind What happened, such as `run.ended`, or `live`.
 * @property {any} data More about it.
 */

/** A connection that has ended, or could not begin. */
export class GatewayError extends Error {
  /**
   * @param {string} message
   * @param {number} [code] The code with which the socket was closed, or the status of an answer.
   */
  constructor(message, code) {
    super(message);
    this.name = "GatewayError";
    this.code = code;
  }
}

/** Codes after which another try would end in the same way: see the gateway's documentation. */
const FINAL = new Set([1002, 1007, 1009, 4400, 4401, 4404, 4409]);
/** The link of the client has ended: it begins anew. */
const BEGIN_ANEW = 4410;
/** Closed by a client that comes back. */
const TOO_MANY = 4429;
/** Messages that are received after which a confirmation is sent, if no message carries it before. */
const CONFIRM_AFTER = 16;
/** Events that wait for a slow reader. */
const MAX_EVENTS = 10_000;
/** Times between two attempts, in milliseconds. */
const [FIRST_WAIT, LONGEST_WAIT, WAIT_WHEN_TOO_MANY] = [250, 15_000, 10_000];
/** Time after which what the gateway could not do is asked for again, in milliseconds. */
const WAIT_AFTER_FAILURE = 2_000;

/**
 * Connects to a gateway.
 *
 * @param {string | URL} address The address of the gateway, such as `http://127.0.0.1:4170`.
 * @param {ConnectOptions} options
 * @returns {Promise<Gateway>} Once the gateway has let the client in.
 */
export async function connect(address, options) {
  const gateway = new Gateway(address, options);
  await gateway._begin();
  return gateway;
}

/** A client of a gateway. {@link connect} makes one. It comes back by itself when the connection drops. */
export class Gateway {
  /**
   * @param {string | URL} address
   * @param {ConnectOptions} options
   */
  constructor(address, options) {
    const url = new URL(String(address));
    url.protocol = url.protocol.replace(/^http/, "ws");
    if (url.pathname === "/") url.pathname = "/ws";
    this._url = url.href;
    this._options = options;
    this._sessions = options.sessions ?? [options.session ?? "main"];
    /** @type {Map<string, { definition: object, deferred: boolean, run: ToolFunction }>} */
    this._tools = new Map();
    /** Calls that are waited for, by the id of the request. @type {Map<string | number, AbortController>} */
    this._calls = new Map();
    /** Deferred calls, with the result once it is there. @type {Map<string, { abort: AbortController, result?: object }>} */
    this._deferred = new Map();
    /** Messages that wait for their answers, by `ref`. @type {Map<string, { frame: object, resolve: Function, reject: Function }>} */
    this._sent = new Map();
    this._references = 0;
    /** @type {Follower | null} */
    this._follower = null;
    this._notices = new Set();
    this._closed = false;
    this._reset();
    /**
     * Settles when the connection has ended for good: with `undefined` after {@link close}, or with the error.
     * @type {Promise<GatewayError | undefined>}
     */
    this.closed = new Promise((resolve) => (this._resolveClosed = resolve));
  }

  /** The name of the person of the token. @type {string | undefined} */
  person = undefined;

  /**
   * Adds a tool, in place of one of the same name.
   *
   * @param {string} name
   * @param {ToolOptions} options
   * @param {ToolFunction} run
   * @returns {() => void} Removes the tool.
   */
  tool(name, options, run) {
    const { description, inputSchema = { type: "object", properties: {} }, deferred = false } = options;
    const { title, annotations, outputSchema } = options;
    const _meta = deferred ? { "toolkit/deferred": true } : undefined;
    // As it is sent: what cannot be sent is an error of whoever adds the tool.
    const definition = sendable({ name, description, inputSchema, title, annotations, outputSchema, _meta });
    const tool = { definition, deferred, run };
    this._tools.set(name, tool);
    this._listChanged();
    return () => {
      if (this._tools.get(name) === tool && this._tools.delete(name)) this._listChanged();
    };
  }

  /**
   * Sends a message of the person to the session. It is stored once, also if the connection drops meanwhile.
   *
   * @param {string} text
   * @param {{ session?: string, id?: string }} [options] Another session; an id of its own, which makes a repetition the same message.
   * @returns {Promise<any>} The message as it is stored, with its number as `id`.
   */
  send(text, { session = this._sessions[0], id = crypto.randomUUID() } = {}) {
    if (this._closed) return Promise.reject(new GatewayError("the connection is closed"));
    const ref = String(++this._references);
    const frame = { type: "send", ref, session, text, id };
    return new Promise((resolve, reject) => {
      this._sent.set(ref, { frame, resolve, reject });
      this._frame(frame);
    });
  }

  /**
   * Follows the events of the session: with a function, which hears each of them, or with `for await`. A later call takes the place of an
   * earlier one.
   *
   * @overload
   * @param {(event: GatewayEvent) => void} hear
   * @param {{ session?: string | null, since?: number }} [options]
   * @returns {() => void} Ends it.
   */
  /**
   * @overload
   * @param {{ session?: string | null, since?: number }} [options] Another session, or null for all that the person sees; the number of the
   *   event after which to begin, by default the last one.
   * @returns {AsyncIterableIterator<GatewayEvent>}
   */
  events(hear, options) {
    if (typeof hear !== "function") [hear, options] = [undefined, hear];
    const { session = this._sessions[0], since } = options ?? {};
    this._follower?.end();
    const ref = `events-${++this._references}`;
    const follower = new Follower(ref, session, since, hear, () => {
      if (this._follower !== follower) return;
      this._follower = null;
      this._frame({ type: "unfollow" });
    });
    if (this._closed) {
      follower.end(new GatewayError("the connection is closed"));
    } else {
      this._follower = follower;
      this._frame(follower.frame());
    }
    return hear ? () => follower.end() : follower;
  }

  /** Closes the connection. The tools are gone then, and calls end. */
  close() {
    this._end();
  }

  // From here on: the connection.

  async _begin() {
    const ended = await this._socket();
    if (ended !== null) {
      const error = new GatewayError(ended.reason || "the gateway cannot be reached", ended.code);
      this._end(error);
      throw error;
    }
  }

  /** Forgets the messages of MCP of an earlier link. */
  _reset() {
    this._last = 0;
    this._received = 0;
    this._confirmed = 0;
    this._isInitialized = false;
    /** Messages that the gateway has not confirmed. @type {{ n: number, message: object }[]} */
    this._kept = [];
    for (const abort of this._calls.values()) abort.abort();
    this._calls.clear();
    // The numbers of requests begin anew.
    for (const waiting of this._deferred.values()) waiting.request = undefined;
  }

  /**
   * Opens a socket. Returns null once the gateway has let the client in, and else why it did not.
   *
   * @returns {Promise<{ code: number, reason: string } | null>}
   */
  async _socket() {
    const { token, name } = this._options;
    const text = typeof token === "function" ? await token() : token;
    if (this._closed) return { code: 1000, reason: "the connection is closed" };
    return new Promise((resolve) => {
      const socket = new WebSocket(this._url);
      let isIn = false;
      this._opening = socket;
      socket.onopen = () => {
        const hello = { type: "hello", token: text, sessions: this._sessions };
        if (name !== undefined) hello.name = name;
        if (this._resume !== undefined) Object.assign(hello, { resume: this._resume, received: this._received });
        socket.send(JSON.stringify(hello));
      };
      socket.onmessage = ({ data }) => {
        const frame = JSON.parse(data);
        if (isIn) return this._read(frame);
        isIn = frame.type === "welcome";
        if (isIn) {
          this._welcome(socket, frame);
          resolve(null);
        }
      };
      socket.onclose = ({ code, reason }) => {
        if (!isIn) return resolve({ code, reason });
        if (this._present === socket) this._dropped(code, reason);
      };
    });
  }

  _welcome(socket, welcome) {
    this._present = socket;
    this.person = welcome.person;
    let lost = [];
    this._resume = welcome.resume;
    if (!welcome.resumed) {
      this._reset();
      const waiting = new Set(welcome.calls);
      for (const [call, { abort }] of this._deferred) {
        if (waiting.delete(call)) continue;
        abort.abort();
        this._deferred.delete(call);
      }
      // Their requests were lost with an earlier link, and do not come again.
      lost = [...waiting];
    }
    this._wait = FIRST_WAIT;
    this._options.onState?.("connected");
    this._confirm(welcome.received);
    for (const { n, message } of this._kept) this._sendMcp(n, message);
    for (const [call, { result }] of this._deferred) if (result) this._frame({ type: "result", call, result });
    for (const call of lost) this._frame({ type: "result", call, result: failure("the call was lost before it began") });
    for (const { frame } of this._sent.values()) this._frame(frame);
    if (this._follower) this._frame(this._follower.frame());
  }

  /** Comes back, unless that would end in the same way. */
  async _dropped(code, reason) {
    this._present = null;
    if (this._closed) return;
    this._options.onState?.("disconnected", reason);
    let ended = { code, reason };
    while (!this._closed) {
      if (FINAL.has(ended.code)) return this._end(new GatewayError(ended.reason, ended.code));
      if (ended.code === BEGIN_ANEW) this._resume = undefined;
      const wait = ended.code === TOO_MANY ? WAIT_WHEN_TOO_MANY : this._wait;
      this._wait = Math.min(this._wait * 2, LONGEST_WAIT);
      // Clients that were cut off together do not all come back at once.
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
      if (this._closed) return;
      try {
        ended = await this._socket();
      } catch (error) {
        ended = { code: 1006, reason: String(error) };
      }
      if (ended === null) return;
    }
  }

  _end(error) {
    if (this._closed) return;
    this._closed = true;
    for (const socket of [this._present, this._opening]) socket?.close(1000);
    this._present = null;
    this._reset();
    for (const { abort } of this._deferred.values()) abort.abort();
    this._deferred.clear();
    const why = error ?? new GatewayError("the connection is closed");
    for (const { reject } of this._sent.values()) reject(why);
    this._sent.clear();
    this._follower?.end(error);
    this._options.onState?.("closed", error?.message);
    this._resolveClosed(error);
  }

  /** Sends a frame, if the client is connected; else it is sent after the welcome. */
  _frame(frame) {
    if (this._present?.readyState === WebSocket.OPEN) this._present.send(JSON.stringify(frame));
  }

  _read(frame) {
    switch (frame.type) {
      case "mcp":
        this._confirm(frame.ack);
        if (frame.n !== this._received + 1) return;
        this._received = frame.n;
        this._handle(frame.message);
        if (this._received >= this._confirmed + CONFIRM_AFTER) {
          this._confirmed = this._received;
          this._frame({ type: "ack", n: this._received });
        }
        return;
      case "ack":
        return this._confirm(frame.n);
      case "tools":
        for (const notice of frame.notices) {
          if (this._notices.has(notice)) continue;
          this._notices.add(notice);
          this._options.onNotice?.(notice);
        }
        return;
      case "sent":
        this._sent.get(frame.ref)?.resolve(frame.message);
        this._sent.delete(frame.ref);
        return;
      case "done":
        this._deferred.delete(frame.call);
        return;
      case "cancelled":
        this._deferred.get(frame.call)?.abort.abort();
        this._deferred.delete(frame.call);
        return;
      case "error":
        return this._failed(frame);
      // The gateway may have sent more for an earlier follower before it heard of this one.
      case "seen":
        if (this._follower?.ref === frame.ref) this._follower.since = frame.id;
        return;
      case "event":
        if (this._follower?.ref === frame.ref) this._follower.push(frame);
        return;
    }
  }

  _failed({ ref, call, status, detail }) {
    const error = new GatewayError(detail, status);
    if (call !== undefined && status < 500) this._deferred.delete(call);
    if (call !== undefined && status >= 500) {
      this._later(() => {
        const { result } = this._deferred.get(call) ?? {};
        if (result) this._frame({ type: "result", call, result });
      });
    }
    if (ref === undefined) return;
    const follower = this._follower;
    if (ref === follower?.ref) {
      if (status < 500) return follower.end(error);
      return this._later(() => {
        if (this._follower === follower) this._frame(follower.frame());
      });
    }
    this._sent.get(ref)?.reject(error);
    this._sent.delete(ref);
  }

  /** Does something after a while, unless the connection has ended for good, or dropped: then it is done after the welcome. */
  _later(again) {
    const socket = this._present;
    setTimeout(() => {
      if (this._present === socket) again();
    }, WAIT_AFTER_FAILURE);
  }

  // MCP: this end is the server.

  _mcp(message) {
    const n = ++this._last;
    this._kept.push({ n, message });
    this._sendMcp(n, message);
  }

  _sendMcp(n, message) {
    this._confirmed = this._received;
    this._frame({ type: "mcp", n, ack: this._received, message: { jsonrpc: "2.0", ...message } });
  }

  _confirm(n) {
    while (this._kept.length && this._kept[0].n <= n) this._kept.shift();
  }

  _listChanged() {
    if (this._isInitialized) this._mcp({ method: "notifications/tools/list_changed" });
  }

  _handle({ id, method, params }) {
    if (id === undefined) {
      if (method === "notifications/initialized") this._isInitialized = true;
      if (method === "notifications/cancelled") {
        this._calls.get(params?.requestId)?.abort();
        for (const [call, waiting] of this._deferred) {
          if (waiting.request !== params?.requestId) continue;
          // The gateway does not know it any more.
          waiting.abort.abort();
          this._deferred.delete(call);
        }
      }
      return;
    }
    switch (method) {
      case "initialize": {
        const capabilities = { tools: { listChanged: true } };
        const serverInfo = { name: this._options.name ?? "client", version: "1" };
        return this._mcp({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
      }
      case "ping":
        return this._mcp({ id, result: {} });
      case "tools/list":
        return this._mcp({ id, result: { tools: [...this._tools.values()].map((tool) => tool.definition) } });
      case "tools/call":
        return this._call(id, params);
      default:
        // An answer has no method.
        if (method !== undefined) this._mcp({ id, error: { code: -32601, message: `no method ${method}` } });
    }
  }

  async _call(id, params) {
    const tool = this._tools.get(params.name);
    if (!tool) return this._mcp({ id, error: { code: -32602, message: `no tool ${params.name}` } });
    const abort = new AbortController();
    const call = tool.deferred ? params._meta?.["toolkit/call"] : undefined;
    if (call !== undefined) {
      this._deferred.set(call, { abort, request: id });
      this._mcp({ id, result: { content: [] } });
      // A cancellation that came with the request, after the connection had stalled, is read first: then the tool does not begin.
      await new Promise((resolve) => setTimeout(resolve));
      if (abort.signal.aborted || !this._deferred.has(call)) return;
      const result = await outcome(tool, params.arguments, { signal: abort.signal, progress: () => {}, call });
      const waiting = this._deferred.get(call);
      if (!waiting) return;
      waiting.result = result;
      return this._frame({ type: "result", call, result });
    }
    this._calls.set(id, abort);
    const progressToken = params._meta?.progressToken;
    const progress = (done, total, message) => {
      if (progressToken === undefined || !this._calls.has(id)) return;
      const params = { progressToken, progress: Number(done) };
      if (total !== undefined) params.total = Number(total);
      if (message !== undefined) params.message = String(message);
      this._mcp({ method: "notifications/progress", params });
    };
    const result = await outcome(tool, params.arguments, { signal: abort.signal, progress });
    // One that was cancelled, or is of an earlier link, has no answer.
    if (this._calls.get(id) === abort && this._calls.delete(id) && !abort.signal.aborted) this._mcp({ id, result });
  }
}

/** Runs a tool, and returns its result as MCP has it. */
async function outcome(tool, args, context) {
  try {
    const value = await tool.run(args ?? {}, context);
    // As it is sent: what cannot be sent is an error of the tool, and a later change of the value counts no more.
    if (Array.isArray(value?.content)) return sendable(value);
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    const result = { content: [{ type: "text", text }] };
    if (tool.definition.outputSchema && typeof value === "object") result.structuredContent = sendable(value);
    return result;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return failure(text || "the tool failed");
  }
}

/** A value as it is sent. Throws a `TypeError` for one that cannot be, such as one with a circle or a `BigInt`. */
function sendable(value) {
  return JSON.parse(JSON.stringify(value));
}

/** An error as MCP has it. */
function failure(text) {
  return { content: [{ type: "text", text }], isError: true };
}

/** Events that are followed. @implements {AsyncIterableIterator<GatewayEvent>} */
class Follower {
  constructor(ref, session, since, hear, ended) {
    Object.assign(this, { ref, session, since, hear, ended, waiting: [], readers: [], isEnded: false, error: undefined });
  }

  frame() {
    const frame = { type: "events", ref: this.ref };
    if (this.session !== null) frame.session = this.session;
    if (this.since !== undefined) frame.since = this.since;
    return frame;
  }

  push({ id, kind, data }) {
    if (this.isEnded) return;
    if (id !== undefined) this.since = id;
    const event = { id, kind, data };
    if (this.hear) return this.hear(event);
    const reader = this.readers.shift();
    if (reader) return reader.resolve({ value: event, done: false });
    if (this.waiting.length >= MAX_EVENTS) return this.end(new GatewayError(`${MAX_EVENTS} events wait to be read`));
    this.waiting.push(event);
  }

  end(error) {
    if (this.isEnded) return;
    this.isEnded = true;
    this.error = error;
    this.ended();
    for (const { resolve, reject } of this.readers.splice(0)) {
      if (error) reject(error);
      else resolve({ value: undefined, done: true });
    }
  }

  next() {
    const value = this.waiting.shift();
    if (value) return Promise.resolve({ value, done: false });
    if (this.isEnded) {
      const { error } = this;
      this.error = undefined;
      return error ? Promise.reject(error) : Promise.resolve({ value: undefined, done: true });
    }
    return new Promise((resolve, reject) => this.readers.push({ resolve, reject }));
  }

  return() {
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}
