"""An A2A peer made of the official Python SDK (a2a-sdk on PyPI), for test/a2a/run.ts.

peer.py serve PORT TOKEN   an agent: what a message says is what it does ("now:WORDS", "ask:WORDS", "wait"; other words end after a second)
peer.py drive URL TOKEN BINDING   a client: one JSON command a line on stdin, one JSON event a line on stdout
"""
import asyncio
import json
import sys

import httpx
import uvicorn
from a2a.client import ClientConfig, create_client
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as a2a
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse


class Agent(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        if context.current_task is None:
            task = a2a.Task(id=context.task_id, context_id=context.context_id, history=[context.message])
            task.status.state = a2a.TASK_STATE_SUBMITTED
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if text.startswith("ask:"):
            return await updater.requires_input(updater.new_agent_message([a2a.Part(text=text[4:])]))
        if text == "wait":
            await asyncio.sleep(600)
        if not text.startswith("now:"):
            await asyncio.sleep(1)
        words = text[4:] if text.startswith("now:") else f"thanks for {text}"
        await updater.add_artifact([a2a.Part(text=words)], name="answer")
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class Guard:
    """Everything but the card needs the token."""

    def __init__(self, app, token):
        self.app, self.token = app, token

    async def __call__(self, scope, receive, send):
        given = dict(scope.get("headers") or []).get(b"authorization", b"").decode()
        is_open = scope["type"] != "http" or scope["path"].startswith("/.well-known/") or given == f"Bearer {self.token}"
        await (self.app if is_open else JSONResponse({"error": "who are you"}, 401))(scope, receive, send)


def serve(port, token):
    base = f"http://127.0.0.1:{port}"
    card = a2a.AgentCard(
        name="Python agent",
        description="Does what the message says.",
        version="1.0.0",
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        capabilities=a2a.AgentCapabilities(streaming=True),
        skills=[a2a.AgentSkill(id="talk", name="talk", description="Talks.", tags=["test"])],
        supported_interfaces=[
            a2a.AgentInterface(url=f"{base}/rpc", protocol_binding="JSONRPC", protocol_version="1.0"),
            a2a.AgentInterface(url=f"{base}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"),
        ],
    )
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/rpc"),
        *create_rest_routes(handler, path_prefix="/rest"),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, token=token)])
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")


async def drive(url, token, binding):
    http = httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60)

    async def connect(streaming):
        config = ClientConfig(
            streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True
        )
        return await create_client(url, config)

    say = lambda value: print(json.dumps(value), flush=True)
    streaming, plain = await connect(True), await connect(False)
    say({"ready": True})

    def message(command):
        request = a2a.SendMessageRequest()
        request.message.message_id = command["message"]
        request.message.role = a2a.ROLE_USER
        request.message.context_id = command.get("context", "")
        request.message.task_id = command.get("task", "")
        request.message.parts.append(a2a.Part(text=command["text"]))
        request.configuration.return_immediately = command.get("now", False)
        if "push" in command:
            request.configuration.task_push_notification_config.url = command["push"]
        return request

    async def events(command):
        op = command["op"]
        if op in ("send", "stream"):
            async for event in (plain if op == "send" else streaming).send_message(message(command)):
                yield event
        elif op == "subscribe":
            async for event in streaming.subscribe(a2a.SubscribeToTaskRequest(id=command["task"])):
                yield event
        elif op == "get":
            yield await plain.get_task(a2a.GetTaskRequest(id=command["task"]))
        elif op == "cancel":
            yield await plain.cancel_task(a2a.CancelTaskRequest(id=command["task"]))
        elif op == "list":
            yield await plain.list_tasks(a2a.ListTasksRequest())
        elif op == "push":
            config = a2a.TaskPushNotificationConfig(task_id=command["task"], url="http://127.0.0.1:1/")
            yield await plain.create_task_push_notification_config(config)

    async def run(command):
        try:
            async for event in events(command):
                say({"id": command["id"], "event": MessageToDict(event)})
            say({"id": command["id"], "end": "done"})
        except Exception as error:
            say({"id": command["id"], "end": "failed", "why": f"{type(error).__name__}: {error}"})

    lines = asyncio.StreamReader(limit=4_000_000)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    running = set()
    while line := await lines.readline():
        task = asyncio.create_task(run(json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)


if sys.argv[1] == "serve":
    serve(sys.argv[2], sys.argv[3])
else:
    asyncio.run(drive(*sys.argv[2:5]))
