"""A client of the Model Context Protocol that does what it reads: one JSON object a line, answered by one.

driven_client.py (legacy|modern) URL TOKEN

`session` of an action is the id of a session, the client's own or another one's; `null` is none. The actions with it go by a transport of
the library apart from the client's own.
"""

import asyncio
import contextlib
import json
import sys

import httpx2
import mcp
from mcp.client.streamable_http import StreamableHTTPTransport, streamable_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter

era, url, token = sys.argv[1:4]
VERSION = {"legacy": "2025-11-25", "modern": "2026-07-28"}[era]


def http(headers=None, **hooks):
    headers = {"Authorization": f"Bearer {token}", **(headers or {})}
    hooks = {name: [hook] for name, hook in hooks.items()}
    return httpx2.AsyncClient(headers=headers, timeout=60, event_hooks=hooks)


def outcome(result):
    if getattr(result, "request_state", None):
        return {"state": result.request_state, "names": list(result.input_requests or {})}
    blocks = result.content
    return {
        "text": "".join(getattr(block, "text", "") for block in blocks),
        "is_error": bool(result.is_error),
        "links": [str(block.uri) for block in blocks if block.type == "resource_link"],
    }


class Driven:
    def __init__(self):
        self.own_session = None
        self.sent, self.event = asyncio.Queue(), asyncio.Queue()
        self.asked, self.answers = asyncio.Queue(), asyncio.Queue()
        self.begun = None
        self.was_asked = False
        self.received, self.sending = [], []
        self.news = asyncio.Event()

    async def on_request(self, request):
        message = json.loads(request.content) if request.content else {}
        if message.get("method") == "tools/call":
            self.sent.put_nowait(message["id"])

    async def on_response(self, response):
        self.own_session = response.headers.get("mcp-session-id", self.own_session)

    async def answer_question(self, context, _params):
        self.was_asked = True
        if self.begun is None:
            return mcp.types.ElicitResult(action="decline")
        self.asked.put_nowait(context.request_id)
        content = await self.answers.get()
        action = "decline" if content is None else "accept"
        return mcp.types.ElicitResult(action=action, content=content)

    async def connect(self):
        client = http(request=self.on_request, response=self.on_response)
        mode = "legacy" if era == "legacy" else "auto"
        self.client = mcp.Client(
            streamable_http_client(url, http_client=client), mode=mode, elicitation_callback=self.answer_question
        )
        await self.client.__aenter__()
        assert self.client.protocol_version == VERSION, self.client.protocol_version

    async def called(self, name, arguments, **more):
        result = await self.client.session.call_tool(name, arguments, allow_input_required=era == "modern", **more)
        return outcome(result)

    async def called_resumably(self, name, arguments):
        async def told(event):
            self.event.put_nowait(event)

        params = mcp.types.CallToolRequestParams(name=name, arguments=arguments)
        result = await self.client.session.send_request(
            mcp.types.CallToolRequest(params=params),
            mcp.types.CallToolResult,
            metadata=ClientMessageMetadata(on_resumption_token_update=told),
        )
        return outcome(result)

    async def call(self, name, arguments):
        self.was_asked = False
        done = await self.called(name, arguments)
        return {**done, "was_asked": self.was_asked or "state" in done}

    async def begin(self, name, arguments, resumable=False):
        for queue in (self.sent, self.event, self.asked):
            while not queue.empty():
                queue.get_nowait()
        resumable = resumable and era == "legacy"
        called = self.called_resumably if resumable else self.called
        self.begun = asyncio.create_task(called(name, arguments))
        id = await asyncio.wait_for(self.sent.get(), 30)
        return {"id": id, "event": await asyncio.wait_for(self.event.get(), 30) if resumable else None}

    async def end(self):
        try:
            return await asyncio.wait_for(self.begun, 60)
        finally:
            self.begun = None

    async def abort(self):
        self.begun.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.begun
        self.begun = None

    async def question(self):
        if era == "modern":
            return await self.end()
        return {"id": await asyncio.wait_for(self.asked.get(), 30)}

    async def answer(self, content):
        self.answers.put_nowait(content)

    async def come_back(self, name, arguments, state, names, content):
        action = "decline" if content is None else "accept"
        responses = {each: mcp.types.ElicitResult(action=action, content=content) for each in names}
        return await self.called(name, arguments, input_responses=responses, request_state=state)

    async def resources(self):
        return [str(resource.uri) for resource in (await self.client.list_resources(cache_mode="bypass")).resources]

    async def read(self, uri):
        return {"text": (await self.client.read_resource(uri)).contents[0].text}

    def headers(self, session):
        return {"mcp-protocol-version": VERSION, **({"mcp-session-id": session} if session else {})}

    async def send(self, session, message, event=None):
        """Sends a message, or resumes a stream after an event; what comes back is received."""
        status = asyncio.Queue()

        async def answered(response):
            status.put_nowait(response.status_code)

        async def sending():
            async with http(self.headers(session), response=answered) as client:
                transport = streamable_http_client(url, http_client=client, terminate_on_close=False)
                async with transport as (read, write):
                    metadata = ClientMessageMetadata(resumption_token=event) if event else None
                    await write.send(SessionMessage(jsonrpc_message_adapter.validate_python(message), metadata))
                    async for received in read:
                        if isinstance(received, SessionMessage):
                            self.received.append(received.message.model_dump_json())
                            self.news.set()

        self.sending.append(asyncio.create_task(sending()))
        return {"status": await asyncio.wait_for(status.get(), 30)}

    async def resume(self, session, event):
        request = {"jsonrpc": "2.0", "id": "resumed", "method": "tools/call", "params": {"name": "exec"}}
        return await self.send(session, request, event)

    async def receives(self, text):
        """Waits for a message of a resumed stream."""

        async def waiting():
            while not await self.has_received(text):
                self.news.clear()
                await self.news.wait()

        try:
            await asyncio.wait_for(waiting(), 30)
        except TimeoutError:
            return False
        return True

    async def has_received(self, text):
        return any(text in message for message in self.received)

    async def delete(self, session):
        async with http(self.headers(session)) as client:
            transport = StreamableHTTPTransport(url)
            transport.session_id = session
            await transport.terminate_session(client)

    async def ping(self):
        await self.client.session.send_ping()

    async def own(self):
        return {"session": self.own_session, "version": self.client.protocol_version}


async def main():
    driven = Driven()
    await driven.connect()
    while line := await asyncio.to_thread(sys.stdin.readline):
        action = json.loads(line)
        try:
            said = {"ok": await getattr(driven, action.pop("do"))(**action)}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)
    for task in driven.sending:
        task.cancel()
    await driven.client.__aexit__(None, None, None)


asyncio.run(main())
