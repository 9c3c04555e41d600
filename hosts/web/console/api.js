/**
 * Requests to the server that the page comes from, and to no other.
 *
 * @module api
 */

import { parse, stringify } from "./json.js";

/** @typedef {import("./types.js").Json} Json */

/** An answer that is a problem (RFC 9457), or a request without an answer. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status 0 if there was no answer.
   * @param {any} [problem]
   */
  constructor(message, status, problem) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
  }
}

/** The path at which a code is exchanged: there, no token is needed. */
export const EXCHANGE = "/console/token";

/** Requests with one token. */
export class Api {
  /**
   * @param {() => string | null} token
   * @param {() => void} onUnknown Hears that the token is not known any more.
   */
  constructor(token, onUnknown) {
    this._token = token;
    this._onUnknown = onUnknown;
  }

  /** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
  async get(path, signal) {
    return read(await this._send("GET", path, undefined, { signal }));
  }

  /** @param {string} path @param {Json} body @param {AbortSignal} [signal] @returns {Promise<any>} */
  async post(path, body, signal) {
    return read(await this._send("POST", path, body, { signal }));
  }

  /** @param {string} path @param {Json} body @returns {Promise<any>} */
  async patch(path, body) {
    return read(await this._send("PATCH", path, body, {}));
  }

  /** @param {string} path @returns {Promise<any>} */
  async remove(path) {
    return read(await this._send("DELETE", path, undefined, {}));
  }

  /** @param {string} path @param {Blob} content @returns {Promise<any>} */
  async upload(path, content) {
    return read(await this._send("POST", path, content, {}));
  }

  /**
   * Follows events until they end.
   *
   * @param {string} path
   * @param {string | null} last The id of the last event that was heard.
   * @param {() => void} onOpen
   * @param {(event: string, data: any, id: string | null) => void} onEvent
   * @param {AbortSignal} signal
   */
  async events(path, last, onOpen, onEvent, signal) {
    const response = await this._send("GET", path, undefined, { accept: "text/event-stream", signal, last });
    if (response.body === null) throw new ApiError("the answer is empty", 0);
    onOpen();
    await readEvents(response.body, onEvent);
  }

  /** @param {string} path @returns {Promise<Blob>} */
  async blob(path) {
    return (await this._send("GET", path, undefined, { accept: "*/*" })).blob();
  }

  /**
   * Sends a request whose answer is events.
   *
   * @param {string} path
   * @param {Json} body
   * @param {(event: string, data: any) => void} onEvent
   * @param {AbortSignal} signal
   */
  async stream(path, body, onEvent, signal) {
    const response = await this._send("POST", path, body, { accept: "text/event-stream", signal });
    if (response.body === null) throw new ApiError("the answer is empty", 0);
    await readEvents(response.body, onEvent);
  }

  /**
   * @param {string} method @param {string} path @param {Json | Blob | undefined} body
   * @param {{ accept?: string, signal?: AbortSignal, last?: string | null }} options
   */
  async _send(method, path, body, { accept = "application/json", signal, last = null }) {
    /** @type {{ [name: string]: string }} */
    const headers = { Accept: accept };
    // A token has signs that a header takes; others are none.
    const token = path === EXCHANGE ? null : this._token();
    if (token !== null && /^[\x21-\x7e]+$/.test(token)) headers.Authorization = `Bearer ${token}`;
    if (body instanceof Blob) headers["Content-Type"] = "application/octet-stream";
    else if (body !== undefined) headers["Content-Type"] = "application/json";
    if (last !== null) headers["Last-Event-ID"] = last;
    let response;
    try {
      response = await fetch(path, {
        method, headers, signal, body: body === undefined || body instanceof Blob ? body : stringify(body), cache: "no-store", credentials: "omit", redirect: "error",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError("The server cannot be reached.", 0);
    }
    if (response.ok) return response;
    if (response.status === 401 && path !== EXCHANGE) this._onUnknown();
    throw await problemOf(response);
  }
}

/** @param {Response} response @returns {Promise<any>} */
async function read(response) {
  const text = await response.text();
  return text === "" ? null : parse(text);
}

/** @param {Response} response */
async function problemOf(response) {
  try {
    const problem = /** @type {any} */ (parse(await response.text()));
    return new ApiError(String(problem.detail ?? problem.title), response.status, problem);
  } catch {
    return new ApiError(`The server answered with status ${response.status}.`, response.status);
  }
}

/**
 * Reads server-sent events.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {(event: string, data: any, id: string | null) => void} onEvent
 */
export async function readEvents(body, onEvent) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  /** Pieces of a line that has not ended. @type {string[]} */
  let pieces = [];
  let isAfterReturn = false;
  let [event, id] = ["message", /** @type {string | null} */ (null)];
  /** @type {string[]} */
  let data = [];
  /** @param {string} line */
  const take = (line) => {
    if (line === "") {
      // A number without an event says how far the stream is.
      if (data.length > 0) onEvent(event, parse(data.join("\n")), id);
      else if (id !== null) onEvent("", null, id);
      [event, id, data] = ["message", null, []];
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id") id = value;
  };
  /** @param {string} value */
  const hear = (value) => {
    // A line's end may be cut between its two signs.
    const text = isAfterReturn && value.startsWith("\n") ? value.slice(1) : value;
    if (value !== "") isAfterReturn = value.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    pieces.push(lines[0]);
    for (const line of lines.slice(1)) {
      take(pieces.join(""));
      pieces = [line];
    }
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      hear(value);
    }
  } finally {
    // After a fault nobody hears the rest, and the server ends what it was for.
    reader.cancel().catch(() => {});
  }
}
