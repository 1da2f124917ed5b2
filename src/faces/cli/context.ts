/** What every command gets: its flags, where to write, whom to call. */
import { resolve } from "node:path";
import type { HookEventName } from "../../core/contracts/index.ts";
import { type Clock, defined, systemClock } from "../../core/kit/index.ts";
import type { Client } from "../../core/protocol/index.ts";
import { type FindGateway, findGateway, rpcClient } from "./connection.ts";
import { makeOutput, type Output } from "./output.ts";
import { type CliPorts, type OnSignal, processSignals } from "./ports.ts";

/** All flags of all commands, as commander names them. */
export interface Options {
  home?: string;
  url?: string;
  token?: string;
  json?: boolean;
  quiet?: boolean;
  input?: boolean;
  yes?: boolean;
  port?: number;
  bind?: string;
  message?: string;
  session?: string;
  user?: string;
  agent?: string;
  idempotencyKey?: string;
  limit?: number;
  search?: string;
  output?: string;
  olderThan?: number;
  dryRun?: boolean;
  sessions?: boolean;
  remove?: boolean;
  replace?: boolean;
  tokenStdin?: boolean;
  command?: string;
  address?: string;
  jsonFile?: string;
  only?: string;
  ended?: string;
  digest?: string;
  event?: HookEventName;
  facts?: string;
  deleteData?: boolean;
  fresh?: boolean;
  accept?: boolean;
  withSecrets?: boolean;
  trusted?: boolean;
  list?: boolean;
  all?: boolean;
  open?: boolean;
  finished?: boolean;
  always?: boolean;
  reason?: string;
  unset?: boolean;
  exposed?: boolean;
  follow?: boolean;
  lines?: number;
  level?: "debug" | "info" | "warn" | "error";
  days?: number;
  scope?: string | string[];
  about?: string[];
  except?: string[];
  soul?: string;
  file?: string;
  name?: string;
  at?: string;
  in?: string;
  every?: string;
  cron?: string;
  zone?: string;
  prompt?: string;
  model?: string;
  catchUp?: "once" | "all" | "skip";
  anchor?: string;
  script?: string;
  if?: string;
  ifChanged?: string;
  ifExists?: string;
  from?: string;
  thinking?: "off" | "low" | "medium" | "high";
  timeout?: number;
  budget?: number;
  bestEffort?: boolean;
  once?: boolean;
  keep?: number;
  alertAfter?: number;
  mayPlan?: boolean;
  mayBeQuiet?: boolean;
  deliver?: string;
  title?: string;
  template?: string;
  members?: string;
  after?: number;
  proof?: string;
  stop?: string;
  turns?: number;
  dollars?: number;
  tokens?: number;
  thread?: string;
  pause?: boolean;
  resume?: boolean;
  source?: string;
  provider?: string;
  channel?: string;
  set?: string[];
  to?: string;
  passphraseFile?: string;
  owner?: boolean;
  chat?: string;
  key?: string;
  keyEnv?: string;
  baseUrl?: string;
  practice?: boolean;
  notes?: boolean;
  request?: boolean;
  say?: string;
  compact?: boolean;
  focus?: string;
  undo?: boolean;
  state?: string;
  assignee?: string;
  team?: string;
  text?: string;
  check?: string;
  schema?: string;
  delivered?: boolean;
  role?: string;
  for?: string;
  runtime?: string;
  parent?: string;
  needs?: string[];
  priority?: string;
  review?: boolean;
  draft?: boolean;
}

export interface Context {
  ports: CliPorts;
  options: Options;
  home: string;
  out: Output;
  clock: Clock;
  find: FindGateway;
  rpc: Client;
  onSignal: OnSignal;
  /** Whether a person can be asked. */
  canAsk: boolean;
}

/** Does one command; returns the exit code. */
export type Action = (ctx: Context, args: string[]) => Promise<number>;

export function makeContext(ports: CliPorts, options: Options): Context {
  const home = options.home === undefined ? ports.env.home : resolve(options.home);
  const token = options.token ?? ports.env.token;
  const find = () =>
    findGateway({
      home,
      ...defined({ url: options.url, token }),
      readToken: (at) => ports.readToken(at),
    });
  const clock = ports.clock ?? systemClock;
  return {
    ports,
    options,
    home,
    out: makeOutput(ports, { json: options.json ?? false, quiet: options.quiet ?? false, home }),
    clock,
    find,
    rpc: rpcClient(find, options.url !== undefined, clock),
    onSignal: ports.onSignal ?? processSignals,
    canAsk: options.input !== false && ports.stdin.isTTY === true && ports.stderr.isTTY === true,
  };
}
