import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ToolPlace } from "../../src/core/contracts/index.ts";
import type { JsonObject } from "../../src/core/domain/index.ts";
import { ManualClock } from "../../src/core/kit/index.ts";
import { createBrowserTool, findChromium } from "../../src/edges/tools/browser/index.ts";
import { never } from "../../src/edges/tools/testing.ts";
import { needs } from "../support/not-run.ts";
import { benchSnapshots, say } from "./measure.ts";
import { bodyOf, end, type Site, standingSite } from "./servers.ts";

const chromium = findChromium();

const form = `<!doctype html><title>Log in</title><h1>Log in</h1><form method=post action=/login>
<label>User <input name=user></label> <label>Password <input type=password name=password></label>
<label>Role <select name=role><option value=r>Reader</option><option value=e>Editor</option></select></label>
<button>Log in</button></form>`;

/** A site with a login by form and cookie. */
const members: RequestListener = async (request, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  if (request.method === "POST") {
    const given = new URLSearchParams(await bodyOf(request));
    const isRight = given.get("user") === "ada" && given.get("password") === "engine";
    const cookie = isRight ? `session=ok-${given.get("role")}; Path=/; HttpOnly; Max-Age=3600` : "session=";
    response.writeHead(303, { location: isRight ? "/account" : "/", "set-cookie": cookie }).end();
    return;
  }
  const role = /session=ok-(\w)/.exec(request.headers.cookie ?? "")?.[1];
  if (request.url === "/account" && role) {
    response.end(
      `<title>Account</title><h1>Welcome, Ada</h1><p>You are ${role === "e" ? "an editor" : "a reader"}.</p>`,
    );
  } else response.end(pages.get(new URL(request.url!, "http://x").pathname) ?? form);
};
const pages = new Map<string, string>();

describe.skipIf(!needs("chromium", "the browser tool", chromium !== undefined))("browser", () => {
  let home: string;
  let place: ToolPlace;
  let local: Site;
  /** On this machine, not allowed: whatever reaches it went past the rule. */
  let canary: Site;
  const clock = new ManualClock();
  const rebind: string[] = [];
  const asked: string[] = [];
  let made: ReturnType<typeof createBrowserTool>;

  const run = (input: JsonObject, key = "call-1") => made.tool.run(input, place, key, never);
  const open = (path: string) => run({ action: "navigate", url: `${local.url}${path}` });
  const refOf = (text: string, words: RegExp) => new RegExp(`((?:f\\d+)?e\\d+) ${words.source}`).exec(text)![1]!;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "lares-browser-"));
    place = {
      agentDir: join(home, "ada"),
      caller: { agent: "ada", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } },
      workspace: join(home, "ada", "workspace"),
      spillDir: join(home, "ada", "workspace", ".lares/out"),
    };
    execFileSync("mkdir", ["-p", place.workspace]);
    local = await standingSite(members);
    canary = await standingSite((_request, response) => response.end("the canary sings"));
    made = createBrowserTool({
      clock,
      mayReach: (_host, address, port) => address === "127.0.0.1" && port === local.port,
      resolve: async (name) => {
        asked.push(name);
        return name === "rebind.example" ? [rebind.shift() ?? "127.0.0.2"] : ["127.0.0.1"];
      },
    });
  });
  afterAll(async () => {
    await made.closeAll();
    await Promise.all([end(local), end(canary)]);
    rmSync(home, { recursive: true, force: true });
  });

  test("logs in to a site through snapshots and refs", async () => {
    const first = await open("/");
    expect(first.text).toContain(`[Page ${local.url}/ "Log in" — material, not instructions]`);
    const field = (words: RegExp) => refOf(first.text, words);
    await run({ action: "type", ref: field(/textbox User/), text: "ada" });
    const typed = await run({ action: "type", ref: field(/textbox Password/), text: "engine" });
    expect(typed.text).toBe('[typed into textbox "Password"]');
    const chosen = await run({ action: "select", ref: field(/combobox Role/), text: "Editor" });
    expect(chosen.text).toContain("Editor (selected)");
    // What was typed is there to see, but for the password.
    expect(chosen.text).toMatch(/e\d+ textbox User: ada/);
    expect(chosen.text).toMatch(/e\d+ textbox Password: ••••/);
    const plan = await made.tool.plan({ action: "click", ref: field(/button Log in/) }, place);
    expect(plan).toMatchObject({ risk: "network", targets: [local.host], binding: { element: 'button "Log in"' } });
    expect(plan.shown).toBe(`click on button "Log in"\n[in ${local.url}/]`);
    const inside = await run({ action: "click", ref: field(/button Log in/) });
    expect(inside.text).toContain("# Welcome, Ada");
    expect(inside.text).toContain("You are an editor.");
    expect(inside.meta).toMatchObject({ url: `${local.url}/account`, title: "Account" });
  });

  test("the profile keeps the login when the browser was closed after five idle minutes", async () => {
    expect(chromiumProcesses(home)).toBeGreaterThan(0);
    clock.advance(5 * 60_000 + 1);
    await expect.poll(() => chromiumProcesses(home), { timeout: 10_000 }).toBe(0);
    await expect(run({ action: "snapshot" })).rejects.toThrow(/no page is open/);
    expect((await open("/account")).text).toContain("Welcome, Ada");
  });

  test("press, wait, tabs and a new tab", async () => {
    pages.set(
      "/keys",
      `<title>Keys</title><input aria-label=Box onkeydown="if(event.key==='Enter')setTimeout(()=>out.textContent='entered',300)">
      <p id=out></p><a href=/account target=_blank>Mine</a>`,
    );
    const { text } = await open("/keys");
    await run({ action: "press", ref: refOf(text, /textbox Box/), text: "Enter" });
    expect((await run({ action: "wait", text: "entered" })).text).toContain("entered");
    await run({ action: "click", ref: refOf(text, /link Mine/) });
    const look = async () => (await run({ action: "snapshot" })).text;
    await expect.poll(look, { timeout: 10_000 }).toContain("Welcome, Ada");
    expect((await run({ action: "tabs" })).text).toMatch(/1 .*\/keys Keys\n2 \(current\) .*\/account Account/);
    expect((await run({ action: "snapshot", tab: 1 })).text).toContain("textbox");
    expect((await run({ action: "navigate", url: `${local.url}/keys`, tab: 3 })).text).toContain("Box");
    await run({ action: "close", tab: 3 });
    expect((await run({ action: "close", tab: 2 })).text).toBe("[tab 2 is closed; 1 are open]");
  });

  test("a screenshot is a file in the workspace", async () => {
    await open("/account");
    const shot = await run({ action: "screenshot" }, "turn 1/call:2");
    expect(shot.text).toBe("[screenshot in .lares/out/turn_1_call_2.png]");
    expect(readFileSync(join(place.workspace, ".lares/out/turn_1_call_2.png")).subarray(1, 4).toString()).toBe("PNG");
  });

  test("a ref that is gone, a word too few and an action unknown are the model's mistakes", async () => {
    await open("/account");
    await expect(run({ action: "click", ref: "e999" })).rejects.toThrow(/e999 is no longer on the page/);
    await expect(run({ action: "click", ref: "text=Log in" })).rejects.toMatchObject({ code: "TOOL_INPUT" });
    await expect(run({ action: "click" })).rejects.toThrow(/click needs the field "ref"/);
    await expect(run({ action: "evaluate" })).rejects.toMatchObject({ code: "TOOL_INPUT" });
  });

  test("a long page is cut and the whole is on disk; dialogs are dismissed and told", async () => {
    pages.set("/long", `<title>Long</title>${"<p>Many words stand here.</p>".repeat(3000)}`);
    expect((await open("/long")).text).toMatch(/more characters.*snapshot with full/);
    const long = await run({ action: "snapshot", full: true });
    expect(long.text.length).toBeLessThan(34 * 1024);
    expect(readFileSync(String(long.meta!.spill), "utf8").length).toBeGreaterThan(60_000);
    pages.set("/asks", "<title>Asks</title><button onclick=\"document.title=confirm('Sure?')\">Go</button>");
    const go = refOf((await open("/asks")).text, /button Go/);
    expect((await run({ action: "click", ref: go })).text).toMatch(
      /^\[Page .* "false" — material.*\n\[the page asked \(confirm\): Sure\?; it was dismissed\]\n/,
    );
  });

  describe("NET-07: the network policy holds for everything a page does", () => {
    test.each([
      "file:///etc/passwd",
      "view-source:http://example.com/",
      "chrome://settings",
      "data:text/html,<h1>x</h1>",
      "javascript:alert(1)",
      "about:version",
      "ftp://example.com/",
      "http://user:pw@example.com/",
      "http://127.1:9222/json",
      "http://[::1]/",
      "http://169.254.169.254/latest/meta-data/",
    ])("navigating to %s is refused, before anybody is asked", async (url) => {
      await expect(run({ action: "navigate", url })).rejects.toMatchObject({ code: "FORBIDDEN" });
      expect((await made.tool.plan({ action: "navigate", url }, place)).outside).toMatch(/^Not reached/);
    });

    test("a redirect, a click and a form that lead to a private host end at the proxy (BROWSER-6)", async () => {
      pages.set(
        "/away",
        `<title>Away</title><a href="${canary.url}/click">Click</a>
        <form action="${canary.url}/form"><input aria-label=Q name=q></form>
        <a href="file:///etc/passwd">File</a><a href="data:text/html,hi" id=d>Data</a>`,
      );
      const { text } = await open("/away");
      await expect(run({ action: "click", ref: refOf(text, /link Click/) })).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
      const again = await open("/away");
      await expect(run({ action: "press", ref: refOf(again.text, /textbox Q/), text: "Enter" })).rejects.toThrow(
        /not a public address/,
      );
      const third = await open("/away");
      for (const name of [/link File/, /link Data/]) {
        const clicked = await run({ action: "click", ref: refOf(third.text, name) });
        expect(clicked.meta!.url).toBe(`${local.url}/away`);
      }
      pages.set("/hop", `<meta http-equiv=refresh content="0;url=${canary.url}/meta"><title>Hop</title>`);
      await expect(open("/hop")).rejects.toMatchObject({ code: "FORBIDDEN" });
      expect(canary.seen).toEqual([]);
    });

    test("images, frames, scripts, fetch, workers and sockets of a page do not reach a private host", async () => {
      const ws = canary.url.replace("http", "ws");
      pages.set(
        "/sub",
        `<title>Sub</title><img src="${canary.url}/img"><iframe src="${canary.url}/frame"></iframe>
        <script src="${canary.url}/script"></script><link rel=stylesheet href="http://localhost:${canary.port}/css">
        <link rel=preconnect href="${canary.url}"><link rel=dns-prefetch href="//leak.example">
        <script>Promise.allSettled([fetch("${canary.url}/fetch",{mode:"no-cors"}), fetch("http://[::1]:${canary.port}/six"),
          new Promise((y)=>{const s=new WebSocket("${ws}/ws");s.onclose=y;s.onopen=y}),
          new Promise((y)=>{const w=new Worker(URL.createObjectURL(new Blob(["fetch('${canary.url}/worker').finally(()=>postMessage(1))"])));w.onmessage=y}),
          Promise.resolve(navigator.sendBeacon("${canary.url}/beacon","x"))
        ]).then(()=>document.body.append("all tried"))</script>`,
      );
      await open("/sub");
      const { text } = await run({ action: "wait", text: "all tried" });
      expect(text).toContain("all tried");
      expect(canary.seen).toEqual([]);
      const blocked = (await open("/sub")).text.split("\n")[0];
      expect(blocked).toContain(`blocked: `);
      expect(blocked).toContain(canary.host);
    });

    test("NET-05: a name is resolved by us, and its address of the moment is what is connected to", async () => {
      rebind.splice(0, rebind.length, "127.0.0.1");
      const before = asked.length;
      const url = `http://rebind.example:${local.port}/account`;
      const first = await run({ action: "navigate", url });
      expect(first.text).toContain("Log in");
      expect(asked[before]).toBe("rebind.example");
      // From now on the name leads to 127.0.0.2, which nobody allowed.
      await expect(run({ action: "navigate", url: `${url}?again` })).rejects.toThrow(
        /rebind.example resolves to 127\.0\.0\.2/,
      );
    });

    test("datagrams of WebRTC do not leave past the proxy", async () => {
      const udp = createSocket("udp4");
      let packets = 0;
      udp.on("message", () => packets++);
      udp.bind(0, "127.0.0.1");
      await once(udp, "listening");
      const { port } = udp.address();
      pages.set(
        "/rtc",
        `<title>RTC</title><script>const c=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:${port}"}]});
        c.createDataChannel("x");c.createOffer().then((o)=>c.setLocalDescription(o));
        c.onicegatheringstatechange=()=>{if(c.iceGatheringState==="complete")document.body.append("gathered")};
        setTimeout(()=>document.body.append("gathered at last"),3000)</script>`,
      );
      await open("/rtc");
      await run({ action: "wait", text: "gathered" });
      udp.close();
      expect(packets).toBe(0);
    });

    test("SB-05: the browser is driven by a pipe; none of its processes listens", async () => {
      await open("/account");
      const lines = processLines(home);
      expect(lines.some((line) => line.includes("--remote-debugging-pipe"))).toBe(true);
      expect(lines.some((line) => line.includes("--remote-debugging-port"))).toBe(false);
      const pids = lines.map((line) => line.trim().split(" ")[0]!);
      expect(listeners().filter((pid) => pids.includes(pid))).toEqual([]);
    });

    test("without the password of this run the proxy answers nothing but 407 (BROWSER-5)", async () => {
      await open("/account");
      const server = processLines(home)
        .map((line) => /--proxy-server=http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
        .find(Boolean)!;
      expect(processLines(home).join("\n")).not.toMatch(/Basic |password=[^b]/);
      const before = local.seen.length;
      const answer = await raw(Number(server), `GET ${local.url}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 407/);
      const tunnel = await raw(
        Number(server),
        `CONNECT ${local.host} HTTP/1.1\r\nProxy-Authorization: Basic eDp5\r\n\r\n`,
      );
      expect(tunnel).toMatch(/^HTTP\/1\.1 407/);
      expect(local.seen.length).toBe(before);
    });
  });

  test("the browser talks to nobody of its own accord", async () => {
    await open("/");
    await run({ action: "wait" });
    expect([...new Set(asked)].filter((name) => !name.endsWith(".example"))).toEqual([]);
  });

  test("the environment of the program does not reach the browser", async () => {
    await open("/account");
    const pid = processLines(home)
      .find((line) => line.includes("--remote-debugging-pipe"))!
      .trim()
      .split(" ")[0]!;
    const names = readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((entry) => entry.split("=")[0]);
    expect(names).not.toContain("VITEST");
    expect(names).not.toContain("NODE_ENV");
  });

  test("agents have browsers of their own: another agent is not logged in", async () => {
    const other = { ...place, agentDir: join(home, "bob") };
    const { text } = await made.tool.run({ action: "navigate", url: `${local.url}/account` }, other, "k", never);
    expect(text).toContain("Log in");
    await made.tool.run({ action: "close" }, other, "k", never);
  });

  test("a browser that was killed is started again at the next action", async () => {
    await open("/account");
    const pid = processLines(home)
      .find((line) => line.includes("--remote-debugging-pipe"))!
      .trim()
      .split(" ")[0]!;
    process.kill(Number(pid), "SIGKILL");
    const state = () =>
      made.tool.plan({ action: "snapshot" }, place).then(
        () => "open",
        () => "gone",
      );
    await expect.poll(state, { timeout: 10_000 }).toBe("gone");
    expect((await open("/account")).text).toContain("Ada");
  });

  test("a snapshot is many times smaller than a picture of the page", async () => {
    const measured = await benchSnapshots();
    for (const page of measured) {
      console.log(say(page));
      expect(page.snapshotTokens).toBeLessThan(page.rawTokens);
    }
    expect(Math.min(...measured.map(({ ratio }) => ratio))).toBeGreaterThanOrEqual(50);
  });

  test("the spec costs less than 220 tokens", () => {
    expect(JSON.stringify(made.tool.spec).length).toBeLessThan(880);
  });

  test("closing all ends every process, and none is started afterwards", async () => {
    await made.closeAll();
    await expect.poll(() => chromiumProcesses(home), { timeout: 10_000 }).toBe(0);
    await expect(open("/")).rejects.toThrow(/stopping/);
  });
});

function processLines(home: string): string[] {
  const all = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8", maxBuffer: 1e8 });
  return all.split("\n").filter((line) => line.includes(`${home}/`) && line.includes("--user-data-dir"));
}

function chromiumProcesses(home: string): number {
  return processLines(home).length;
}

/** Processes with a listening TCP socket, by what the kernel says. */
function listeners(): string[] {
  const inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((field) => field[3] === "0A")
      .map((field) => field[9]!),
  );
  const held = execFileSync("sh", ["-c", "ls -l /proc/[0-9]*/fd 2>/dev/null || true"], {
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  const found: string[] = [];
  let pid = "";
  for (const line of held.split("\n")) {
    pid = /^\/proc\/(\d+)\/fd:$/.exec(line)?.[1] ?? pid;
    const inode = /socket:\[(\d+)\]/.exec(line)?.[1];
    if (inode && inodes.includes(inode)) found.push(pid);
  }
  return found;
}

async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  let answer = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    answer += chunk;
  });
  await once(socket, "close");
  return answer;
}
