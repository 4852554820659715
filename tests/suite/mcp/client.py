"""Drives `seechange mcp` with the reference Python client and prints a transcript.

Usage: client.py SURFACE SEECHANGE [ARGUMENT ...]
"""

import os
import sys

import anyio
from mcp import Client, ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

SURFACE, COMMAND, *ARGUMENTS = sys.argv[1:]
SERVER = StdioServerParameters(
    command=COMMAND, args=["mcp", "--surface", SURFACE, *ARGUMENTS], env=dict(os.environ)
)


def shown(result):
    """A result as lines: whether it is an error, the words, and how many pictures follow."""
    texts = [block.text for block in result.content if block.type == "text"]
    images = [block for block in result.content if block.type == "image"]
    assert all(image.mime_type == "image/png" for image in images)
    head = "error" if result.is_error else "ok"
    return f"  {head}, {len(images)} images\n" + "\n".join(f"  | {line}" for line in "\n".join(texts).split("\n"))


async def call(session, tool, arguments, **options):
    print(f"> {tool} {arguments}")
    try:
        # The client holds every structured result against the tool's output schema.
        result = await session.call_tool(tool, arguments, **options)
    except MCPError as error:
        print(f"  protocol error {error.code}: {error.message.split(':')[0]}")
        return None
    print(shown(result))
    return result


async def cancelled_wait(session):
    """A wait that never comes true, given up by the client once it has heard of it twice."""
    heard = anyio.Event()

    async def progress(done, total, message):
        if done >= 2:
            heard.set()

    never = {"condition": "changed", "hold_ms": 299_000, "timeout_ms": 300_000}
    print(f"> wait_for {never}, cancelled")
    async with anyio.create_task_group() as group:

        async def wait():
            answer = await session.call_tool("wait_for", never, progress_callback=progress)
            raise AssertionError(f"it was answered: {answer}")

        group.start_soon(wait)
        await heard.wait()
        group.cancel_scope.cancel()


async def session_on_demo(session):
    opened = await session.initialize()
    print(f"{opened.server_info.name} speaks {opened.protocol_version}")
    tools = await session.list_tools()
    print("tools:", ", ".join(tool.name for tool in tools.tools))
    await call(session, "observe", {})
    await call(session, "click", {"x": 300, "y": 105, "observation": "obs-1"})
    await call(session, "type_text", {"text": "Plums", "observation": "obs-2", "screenshot": False})
    await call(session, "click", {"x": 1412, "y": 230, "observation": "obs-3"})
    await call(session, "click", {"x": 1, "y": 1, "observation": "obs-3", "speed": 9})
    await call(session, "click", {"x": 1, "y": 1, "observation": "obs-1"})
    await call(session, "shell", {"command": "true"})
    found = {"observation": "obs-1", "region": {"x": 560, "y": 30, "width": 60, "height": 30}}
    await call(session, "wait_for", {"condition": "appears", "image": found, "screenshot": False})
    await call(session, "diff", {"before": "obs-1", "after": "obs-3", "screenshot": False})
    await call(session, "doctor", {})


async def session_in_real_time(session):
    await session.initialize()
    await session.call_tool("observe", {})
    await cancelled_wait(session)
    result = await session.call_tool("observe", {"screenshot": False})
    print(shown(result))


async def session_on_display(session):
    """Clicks into an editor, types, and reads back what changed."""
    await session.initialize()
    seen = await session.call_tool("observe", {"screenshot": False})
    size = seen.structured_content["observation"]["image"]
    x, y = size["width"] // 2, size["height"] // 2
    typed = {"text": "Jaipur Kites won by 6 wickets.\n", "delay_ms": 0}
    for tool, arguments in [("click", {"x": x, "y": y}), ("type_text", typed)]:
        current = seen.structured_content["observation"]["after"]
        seen = await session.call_tool(tool, {**arguments, "observation": current})
        receipt = seen.structured_content
        held = receipt["held_after"]
        # A click where the focus is already moves a caret at most.
        changed = f", {receipt['change']['verdict']}" if tool == "type_text" else ""
        print(f"{tool} {receipt['status']}, held: {held['keys']} {held['buttons']}{changed}")
    await cancelled_wait(session)
    after = await session.call_tool("observe", {"screenshot": False})
    print(after.content[0].text.split("\n")[0].split(";")[0])


async def with_session(run):
    async with stdio_client(SERVER) as (read, write):
        async with ClientSession(read, write) as session:
            await run(session)


async def main():
    if SURFACE == "demo":
        await with_session(session_on_demo)
        # The newest protocol has no handshake: the client finds out by itself.
        async with Client(SERVER) as client:
            print(f"a client of its own choice speaks {client.protocol_version}")
            await call(client, "observe", {})
    elif SURFACE == "demo:live":
        await with_session(session_in_real_time)
    else:
        await with_session(session_on_display)


anyio.run(main)
