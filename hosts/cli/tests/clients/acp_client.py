"""An editor that holds a session with an agent, by the official Python library of the Agent Client Protocol."""

import asyncio
import os
import sys

import acp
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    RequestPermissionResponse,
    ToolCallProgress,
    ToolCallStart,
    UserMessageChunk,
)


class Editor(acp.Client):
    def __init__(self):
        self.updates = []
        self.asked = []
        self.outcome = "allow_once"
        self.arrived = asyncio.Event()

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        self.asked.append((tool_call, options))
        if self.outcome == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        option = next(option for option in options if option.kind == self.outcome)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option.option_id))

    async def session_update(self, session_id, update, **kwargs):
        self.updates.append(update)
        self.arrived.set()

    async def read_text_file(self, session_id, path, line=None, limit=None, **kwargs):
        with open(path) as file:
            return acp.ReadTextFileResponse(content=file.read())

    async def write_text_file(self, session_id, path, content, **kwargs):
        raise acp.RequestError.method_not_found("fs/write_text_file")

    async def ext_method(self, method, params):
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method, params):
        pass

    def on_connect(self, conn):
        pass

    def text(self, kind):
        chunks = (update for update in self.updates if isinstance(update, kind))
        return "".join(chunk.content.text for chunk in chunks)


async def fails(code, call):
    try:
        await call
    except acp.RequestError as error:
        assert error.code == code, (error.code, str(error))
    else:
        raise AssertionError(f"the call does not fail with {code}")


async def main(program, work):
    editor = Editor()
    async with acp.spawn_agent_process(editor, program, "acp", cwd=work, env=dict(os.environ)) as (agent, process):
        capabilities = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True)
        about = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=capabilities)
        assert about.protocol_version == acp.PROTOCOL_VERSION and about.agent_capabilities.load_session
        session = await agent.new_session(cwd=work, mcp_servers=[])
        assert [mode.id for mode in session.modes.available_modes] == ["ask", "read-only"]
        id = session.session_id

        answer = await agent.prompt(session_id=id, prompt=[acp.text_block("Hello")])
        assert answer.stop_reason == "end_turn", answer
        assert editor.text(AgentMessageChunk) == "Good day.", editor.updates

        # A change, with permission and diff.
        answer = await agent.prompt(session_id=id, prompt=[acp.text_block("Write it")])
        assert answer.stop_reason == "end_turn", answer
        tool_call, options = editor.asked[0]
        assert {option.kind for option in options} >= {"allow_once", "allow_always", "reject_once", "reject_always"}
        path = os.path.join(os.path.realpath(work), "new.txt")
        [diff] = tool_call.content
        assert (diff.type, diff.path, diff.old_text, diff.new_text) == ("diff", path, None, "new\n"), diff
        assert open(path).read() == "new\n"
        starts = [update for update in editor.updates if isinstance(update, ToolCallStart)]
        assert starts[0].kind == "edit" and starts[0].tool_call_id == tool_call.tool_call_id, starts
        ends = [update for update in editor.updates if isinstance(update, ToolCallProgress) and update.status == "completed"]
        assert ends[0].content[0].new_text == "new\n", ends
        assert ends[0].locations[0].path == path, ends

        # Rejected, once and for the session: the second change is not asked for.
        editor.outcome = "reject_always"
        answer = await agent.prompt(session_id=id, prompt=[acp.text_block("Write again")])
        assert answer.stop_reason == "end_turn" and len(editor.asked) == 2, editor.asked
        assert open(path).read() == "new\n"

        # Cancelled while the model answers, and two prompts at once.
        running = asyncio.ensure_future(agent.prompt(session_id=id, prompt=[acp.text_block("Think long")]))
        await asyncio.sleep(0.2)
        await fails(-32600, agent.prompt(session_id=id, prompt=[acp.text_block("At once")]))
        await agent.cancel(session_id=id)
        assert (await running).stop_reason == "cancelled"

        # Bad input.
        await fails(-32002, agent.prompt(session_id="nope", prompt=[acp.text_block("x")]))
        await fails(-32602, agent.new_session(cwd="relative", mcp_servers=[]))
        await fails(-32601, agent.ext_method("fly", {}))

        sessions = await agent.list_sessions(cwd=work)
        assert [session.session_id for session in sessions.sessions] == [id], sessions

    # Another process loads the session.
    editor = Editor()
    async with acp.spawn_agent_process(editor, program, "acp", cwd=work, env=dict(os.environ)) as (agent, process):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        await fails(-32002, agent.load_session(cwd=work, session_id="nope", mcp_servers=[]))
        await agent.load_session(cwd=work, session_id=id, mcp_servers=[])
        assert editor.text(UserMessageChunk).startswith("HelloWrite it"), editor.updates
        assert editor.text(AgentMessageChunk).startswith("Good day.Written."), editor.updates
        states = [update.status for update in editor.updates if isinstance(update, ToolCallStart)]
        assert states == ["completed", "failed", "failed"], states
        await agent.set_session_mode(session_id=id, mode_id="read-only")
        answer = await agent.prompt(session_id=id, prompt=[acp.text_block("And?")])
        assert answer.stop_reason == "end_turn", answer
        assert editor.text(AgentMessageChunk).endswith("The end."), editor.updates
    print("the session was held")


asyncio.run(main(*sys.argv[1:]))
