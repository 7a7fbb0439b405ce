"""Finds a time and books it with the protocol's own SDK for Python: "auto" in the newest revision that both speak, "legacy" by the older handshake."""
import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

cut, day, key = os.environ["CUT"], os.environ["DAY"], os.environ["IDEMPOTENCY_KEY"]


async def main():
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {os.environ['KEY']}"}, timeout=120) as http:
        transport = streamable_http_client(os.environ["BASE"] + "/mcp", http_client=http)
        async with Client(transport, mode=sys.argv[1]) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("find_slots", {"service_ids": [cut], "date": day})
            assert not found.is_error, found
            slot = found.structured_content["slots"][0]
            order = {
                "service_ids": [cut], "date": slot["date"], "time": slot["time"], "staff_id": slot["staff_id"],
                "customer_name": "Ada Example", "customer_email": "ada@example.com", "idempotency_key": key,
            }
            made = await client.call_tool("book_appointment", order)
            again = await client.call_tool("book_appointment", order)
            taken = await client.call_tool("book_appointment", {**order, "idempotency_key": key + "-other"})
    assert not made.is_error and again.structured_content["replayed"], (made, again)
    assert made.structured_content["booking"]["id"] == again.structured_content["booking"]["id"], (made, again)
    print(json.dumps({"tools": tools, "slot": slot["time"], "booking": made.structured_content["booking"], "refused": taken.structured_content["messageCode"], "isError": taken.is_error}))


asyncio.run(main())
