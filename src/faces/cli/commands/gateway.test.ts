import { describe, expect, it } from "vitest";
import { AppError } from "../../../core/domain/index.ts";
import type { RunningGateway } from "../index.ts";
import { cli, until } from "../testing.ts";

function fake(over: Partial<RunningGateway> = {}) {
  const asked: unknown[] = [];
  const state = { stops: 0 };
  const gateway: RunningGateway = {
    url: "http://127.0.0.1:7717",
    home: "/elsewhere",
    model: { id: "practice/practice", practice: true, because: "no key was found" },
    tokenFile: "/elsewhere/token",
    stop: async () => void state.stops++,
    done: new Promise(() => {}),
    ...over,
  };
  const runGateway = async (options: object) => {
    asked.push(options);
    return gateway;
  };
  return { runGateway, asked, state };
}

describe("gateway run", () => {
  it("prints six lines, waits for a signal and stops cleanly", async () => {
    const { runGateway, asked, state } = fake();
    const ran = cli(["gateway", "run", "--port", "0", "--bind", "::1", "--home", "/elsewhere"], {
      home: "/h",
      runGateway,
    });
    await until(() => ran.out().includes("Next"));
    expect(ran.out().trimEnd().split("\n")).toEqual([
      "● Lares is running.",
      "  Link   http://127.0.0.1:7717",
      "  Model  the practice model (no key was found)",
      "  Home   /elsewhere",
      "  Stop   Ctrl-C",
      "  Next   lares --home /elsewhere chat",
    ]);
    expect(asked).toEqual([{ home: "/elsewhere", port: 0, bind: "::1" }]);
    expect(state.stops).toBe(0);
    ran.signal("SIGTERM");
    expect(await ran.code).toBe(0);
    expect(state.stops).toBe(1);
    expect(ran.err()).toContain("Stopped.");
  });

  it("a second signal does not wait for the stop", async () => {
    const { runGateway } = fake({ stop: () => new Promise(() => {}) });
    const ran = cli(["gateway", "run"], { home: "/h", runGateway });
    await until(() => ran.out().includes("Next"));
    ran.signal("SIGINT");
    await until(() => ran.err().includes("Stopping."));
    ran.signal("SIGINT");
    expect(await ran.code).toBe(130);
  });

  it("ends with the gateway's own code when it ends by itself", async () => {
    const { runGateway } = fake({ done: Promise.resolve(1) });
    expect(await cli(["gateway", "run"], { home: "/h", runGateway }).code).toBe(1);
  });

  it("a start that fails is told", async () => {
    const runGateway = () =>
      Promise.reject(new AppError("HOME_LOCKED", { message: "Lares runs there already.", hint: "Stop it first." }));
    const ran = cli(["gateway", "run"], { home: "/h", runGateway });
    expect(await ran.code).toBe(1);
    expect(ran.err()).toBe("Lares runs there already. Stop it first.\n");
  });

  it("--json is one document", async () => {
    const { runGateway } = fake({ done: Promise.resolve(0) });
    const ran = cli(["gateway", "run", "--json"], { home: "/h", runGateway });
    await ran.code;
    expect(JSON.parse(ran.out())).toMatchObject({ url: "http://127.0.0.1:7717", model: { practice: true } });
  });

  it("lares alone in a terminal starts it", async () => {
    const { runGateway } = fake({ done: Promise.resolve(0) });
    const ran = cli([], { home: "/h", tty: true, runGateway });
    await ran.code;
    expect(ran.out()).toContain("Lares is running.");
  });
});
