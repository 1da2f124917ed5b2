"""A plugin in Python: an MCP server on stdin and stdout, one JSON message a line, that also answers `hooks/call`.

Python's standard library is enough.
"""

import json
import os
import sys

# What the owner set under plugins.config.wordcount; Lares has checked it against the schema in plugin.json.
CONFIG = json.loads(os.environ.get("LARES_PLUGIN_CONFIG", "{}"))

TOOLS = [
    {
        "name": "count_words",
        "description": "Counts the words of a text.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        "annotations": {"readOnlyHint": True},
    }
]


def judge(payload):
    """A gate: it can ask for one more pass, or hold the answer back. It can never allow anything."""
    most = CONFIG.get("mostWords")
    words = len(payload["text"].split())
    if most is None or words <= most:
        return {}
    return {"again": f"The answer has {words} words. Say it in at most {most}."}


def answer(method, params):
    """The result of a request, or None for a method that this server doesn't have."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "wordcount", "version": "1.0.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        count = len(params["arguments"]["text"].split())
        return {"content": [{"type": "text", "text": f"{count} words"}]}
    if method == "hooks/list":
        return {"hooks": [{"event": "answer.ready"}]}
    if method == "hooks/call":
        return {"answer": judge(params["payload"])}
    return None


for line in sys.stdin:
    request = json.loads(line)
    # Without an id it is a notification, which nobody waits for.
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": f"There is no method {request['method']}."}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
