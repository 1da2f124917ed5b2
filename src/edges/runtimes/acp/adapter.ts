/** Any agent that speaks ACP, driven by its profile. A program for each run: what outlives a run is the agent's own session. */
import { join } from "node:path";
import type { RuntimeAdapter, RuntimeCapabilities, RuntimeProbe } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { defined, replaceFile } from "../../../core/kit/index.ts";
import { RunChild } from "../child.ts";
import { absent, claim } from "../claims.ts";
import type { DriverParts } from "../driver.ts";
import { findProgram, readVersion } from "../program.ts";
import { absentWords, runWords as words } from "../words.ts";
import { type AcpProfile, fillEnvironment, fillFiles } from "./profile.ts";
import { AcpSession } from "./session.ts";

export function makeAcpAdapter(profile: AcpProfile, parts: DriverParts): RuntimeAdapter {
  /** As the last probe found it. */
  let known: string | null = null;
  return {
    name: profile.name,
    async probe(signal, patienceMs): Promise<RuntimeProbe> {
      const program = await findProgram(profile.command, parts.searchPath());
      if (program === undefined) return { state: "missing", fix: words.missing(profile.title, profile.install) };
      try {
        const argv: [string, ...string[]] = [program, ...profile.version];
        const version = await readVersion({ argv, folders: parts.searchPath(), signal, ...defined({ patienceMs }) });
        known = version;
        return { state: "ready", version };
      } catch (error) {
        return { state: "broken", fix: words.broken(profile.title, (error as Error).message.split("\n")[0]!) };
      }
    },
    capabilities: () => listCapabilities(profile),
    async open(request, ports, signal) {
      const program = await findProgram(profile.command, parts.searchPath());
      if (program === undefined)
        throw new AppError("NOT_READY", { message: words.missing(profile.title, profile.install) });
      const places = defined({
        home: ports.home ?? undefined,
        tmp: ports.tmp,
        url: ports.models?.baseUrl,
        token: ports.models?.token,
        model: request.model ?? undefined,
      });
      const own = fillEnvironment(profile, places);
      if (ports.home !== null)
        for (const [name, text] of Object.entries(fillFiles(profile, places)))
          await replaceFile(join(ports.home, name), text);
      const command = await ports.confine({
        argv: [program, ...profile.args],
        cwd: request.workspace?.path ?? ports.tmp,
        env: { ...own, ...ports.env },
      });
      const spec = {
        ...command,
        key: ports.env[parts.tag] ?? request.run,
        endsWithInput: profile.endsWithInput,
      };
      const child = new RunChild(spec, parts);
      const session = new AcpSession({ profile, request, ports, child, clock: parts.clock, version: known });
      await session.open(signal);
      return session;
    },
    // Its program ended with the process that started it: the conversation goes on in a new attempt, by its token.
    reattach: async () => null,
  };
}

/** What the profile says. ACP says the same of every agent where it isn't mentioned. */
function listCapabilities(profile: AcpProfile): RuntimeCapabilities {
  const { asks, denied, resume, tokens, money, apis } = profile;
  return {
    class: "one-shot",
    stream: claim("token"),
    thinking: claim(true),
    steer: claim("next-turn"),
    interrupt: claim(true),
    resume: resume === "none" ? absent(absentWords.noResume) : claim("same-host"),
    approvals: asks === "never" ? absent(absentWords.neverAsks) : claim({ covers: asks, denied, waits: "forever" }),
    questions: absent(absentWords.notInProtocol),
    mcp: claim(["http"]),
    usage: tokens === "none" && !money ? absent(absentWords.noUsage) : claim({ tokens: "per-run", money }),
    proxy: apis.length === 0 ? absent(absentWords.ownAddress) : claim(apis),
    rateLimits: absent(absentWords.notInProtocol),
    children: absent(absentWords.notInProtocol),
    boundary: claim(["none", "worktree", "sandbox"]),
    home: claim({ scope: "identity", keeps: ["sessions"] }),
    ownScheduler: absent(absentWords.startsAlone),
    ownChannels: absent(absentWords.startsAlone),
  };
}
