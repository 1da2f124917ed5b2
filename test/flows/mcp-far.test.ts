/** A server elsewhere that is gone, restarted or cut off: what is known about a call is said, and nothing more. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startLares, startModel, toolResults } from "../support/index.ts";
import { callTool, forecast, searchTools } from "../support/mcp.ts";

/** Keeps sessions, as most servers of the older era do: after a restart it knows none of them. */
async function startFar() {
  let sessions = new Set<string>();
  const calls: string[] = [];
  const at = { breaks: false, status: 0, port: 0, calls, stop, start };
  let server: Server | undefined;
  async function start() {
    sessions = new Set();
    server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        if (request.method !== "POST") return response.writeHead(405).end();
        const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString());
        const session = String(request.headers["mcp-session-id"] ?? "");
        if (method === "server/discover")
          return response.writeHead(400, { "content-type": "text/plain" }).end("no session");
        if (method !== "initialize" && !sessions.has(session))
          return response
            .writeHead(404, { "content-type": "application/json" })
            .end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }));
        if (id === undefined) return response.writeHead(202).end();
        if (method === "tools/call") {
          if (at.status !== 0) return response.writeHead(at.status).end("busy");
          calls.push(params.arguments.city);
          if (at.breaks) return request.socket.destroy();
        }
        const results: Record<string, object> = {
          initialize: {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "far", version: "1" },
          },
          "tools/list": { tools: [forecast] },
          "tools/call": { content: [{ type: "text", text: `far says ${params?.arguments?.city}` }] },
        };
        const fresh = `s${Math.random()}`;
        if (method === "initialize") sessions.add(fresh);
        return response
          .writeHead(200, {
            "content-type": "application/json",
            ...(method === "initialize" ? { "mcp-session-id": fresh } : {}),
          })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
      });
    });
    await new Promise<void>((resolve) => server!.listen(at.port, "127.0.0.1", resolve));
    at.port = (server.address() as AddressInfo).port;
  }
  async function stop() {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  }
  await start();
  onTestFinished(() => stop());
  return at;
}

async function begin(sky: object = {}) {
  const far = await startFar();
  const model = await startModel();
  const lares = await startLares({
    env: model.env,
    config: {
      policy: { allow: { mcp: ["sky/*"] } },
      mcp: { servers: { sky: { url: `http://127.0.0.1:${far.port}/mcp`, ...sky } } },
    },
  });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  await lares.chat("ana", `${searchTools} then: say:ok`);
  const call = async (city: string) => {
    const { notices } = await lares.chat("ana", `${callTool({ city })} then: say:done`);
    return { ...toolResults(model.requests.at(-1)!).at(-1)!, notices: notices.join() };
  };
  expect((await call("Rome")).text).toContain("far says Rome");
  return { far, lares, call };
}

it("a call that never left, because nobody listens, is known not to have happened (MCP-8)", async () => {
  const at = await begin();
  await at.far.stop();
  const gone = await at.call("Oslo");
  expect(gone.text).toMatch(/was not called.*could not be reached \(ECONNREFUSED\)/s);
  expect(gone.text).not.toContain("unknown");
  expect(gone.notices).toBe("");
  expect((await at.lares.rpc("attention.list", {})).items.filter(({ kind }) => kind === "effect")).toEqual([]);
});

it("a server that was restarted and forgot the session gets the call once, in a new session (MCP-8)", async () => {
  const at = await begin();
  await at.far.stop();
  await at.far.start();
  expect((await at.call("Oslo")).text).toContain("far says Oslo");
  expect(at.far.calls).toEqual(["Rome", "Oslo"]);
});

it("a call whose connection breaks after it was sent is unknown and never sent again (MCP-8)", async () => {
  const at = await begin();
  at.far.breaks = true;
  expect((await at.call("Oslo")).text).toContain("Outcome unknown");
  expect(at.far.calls).toEqual(["Rome", "Oslo"]);
});

it.each([
  [503, "Outcome unknown"],
  [429, "was not called, or refused"],
])("an answer of HTTP %i to a call counts as: %s", async (status, says) => {
  const at = await begin();
  at.far.status = status;
  expect((await at.call("Oslo")).text).toContain(says);
});
