"""Two clients of the Model Context Protocol at one server over HTTP, at the same time: nothing of one reaches the other.

two_clients.py (legacy|auto) URL TOKEN_OF_ADA TOKEN_OF_BOB MARK

Ada can be asked, Bob cannot. Each leaves a command running in the background, `sleep MARK1` and `sleep MARK2`. Ada ends her session; Bob
says nothing more, and ends his with the process.
"""

import asyncio
import os
import sys

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client


def connect(mode, url, token, answer=None):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    return mcp.Client(streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=answer)


async def call(client, name, arguments, progress=None):
    result = await client.call_tool(name, arguments, progress_callback=progress)
    return result.is_error, "".join(getattr(block, "text", "") for block in result.content)


async def names(client):
    return {tool.name for tool in (await client.list_tools()).tools}


def runs(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[:2] == [b"sleep", mark.encode()]:
                    return True
        except OSError:
            pass
    return False


async def until(holds):
    for _ in range(400):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not happen in time")


async def main():
    mode, url, token_of_ada, token_of_bob, mark = sys.argv[1:]
    asked, may_answer = asyncio.Event(), asyncio.Event()
    questions = []

    async def answer(_context, params):
        questions.append(params.message)
        asked.set()
        await may_answer.wait()
        return mcp.types.ElicitResult(action="accept", content={"allow": "session"})

    async with connect(mode, url, token_of_bob) as bob:
        async with connect(mode, url, token_of_ada, answer) as ada:
            # Who cannot be asked is not shown what could only be refused.
            changing = {"write", "edit", "apply_patch"}
            of_ada, of_bob = await names(ada), await names(bob)
            assert changing < of_ada and not changing & of_bob, (of_ada, of_bob)
            # The command may be built with a plugin whose tool is asked about too.
            assert of_ada - of_bob <= changing | {"memory_store"}, of_ada - of_bob

            # Progress of both at once.
            told = {"ada": [], "bob": []}

            def hears(who):
                async def progress(_done, _total, message):
                    told[who].append(message or "")

                return progress

            def counting(who):
                return {"command": f"for n in 1 2 3; do echo {who} $n; sleep 0.3; done"}

            said = await asyncio.gather(
                call(ada, "exec", counting("ada"), hears("ada")), call(bob, "exec", counting("bob"), hears("bob"))
            )
            for (is_error, text), who, other in zip(said, ("ada", "bob"), ("bob", "ada")):
                assert not is_error and f"{who} 3" in text and other not in text, text
                assert any(who in message for message in told[who]), told
                assert not any(other in message for message in told[who]), told

            # One waits for an answer, the other goes on, and what one is allowed the other is not.
            new = {"file_path": f"{mode}.txt", "content": "ada\n"}
            writing = asyncio.create_task(call(ada, "write", new))
            await asyncio.wait_for(asked.wait(), 20)
            is_error, text = await asyncio.wait_for(call(bob, "read", {"file_path": "notes.txt"}), 20)
            assert not is_error and "two" in text and not writing.done(), text
            may_answer.set()
            is_error, text = await writing
            assert not is_error, text
            is_error, text = await call(bob, "write", {**new, "content": "bob\n"})
            assert is_error and "elicitation" in text and "--client-approves" in text, text
            is_error, text = await call(ada, "write", {**new, "content": "ada again\n"})
            assert not is_error and len(questions) == 1, (text, questions)

            # Background jobs of one are not there for the other.
            for client, number in ((ada, 1), (bob, 2)):
                background = {"command": f"sleep {mark}{number}", "run_in_background": True}
                is_error, text = await call(client, "exec", background)
                assert not is_error, text
            await until(lambda: runs(f"{mark}1") and runs(f"{mark}2"))
            for client, own, other in ((ada, 1, 2), (bob, 2, 1)):
                is_error, text = await call(client, "process", {"action": "list"})
                assert f"{mark}{own}" in text and f"{mark}{other}" not in text, text
            print("apart", flush=True)
        if mode == "legacy":
            # She left with DELETE: her job ends, and his does not.
            await until(lambda: not runs(f"{mark}1"))
            assert runs(f"{mark}2")
            # His open stream keeps his session for longer than four seconds, though he says nothing more.
            await asyncio.sleep(6)
            assert runs(f"{mark}2")
        else:
            # Her session has no end of its own: it is there for her next connection.
            assert runs(f"{mark}1") and runs(f"{mark}2")
        print("done", flush=True)


asyncio.run(main())
