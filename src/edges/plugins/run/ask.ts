/**
 * Requests to a plugin's code beside tools and hooks: what it does as a channel or as a model. One that doesn't answer in time is ended,
 * and counts as a failure (PLUGINS-6).
 *
 * PLUGINS-10: a plugin that is a model is reached over a socket in its data folder, after it said that it listens. Only a socket that lies
 *     there itself is opened: a link could lead to another program's.
 */
import { lstatSync } from "node:fs";
import { AppError } from "../../../core/domain/index.ts";
import { deadline } from "../../../core/kit/index.ts";
import type { PluginRole, Plugins } from "../plugins.ts";
import { followHooks, type PluginHooksParts } from "./hooks.ts";

export interface PluginAskParts {
  plugins: Pick<Plugins, "serverFor" | "modelSocket" | "hooks" | "onChange">;
  /** Asks a plugin's server. Throws when it can't be reached. */
  request(server: string, method: string, params: object, signal: AbortSignal): Promise<unknown>;
  /** It was asked and didn't answer in time. */
  silent(server: string, why: string): void;
}

/** A little less than a call may stay silent, so that this is what ends it. */
const MOST_MS = 29_000;

export type AskPlugin = (
  to: { plugin: string; right: PluginRole },
  method: string,
  params: object,
  signal: AbortSignal,
) => Promise<unknown>;

export interface PluginCalls {
  ask: AskPlugin;
  /** Where a plugin that is a model listens; it is started if it isn't running. */
  modelSocket(plugin: string, signal: AbortSignal): Promise<string>;
  /** Keeps the registry the same as the plugins' hooks. Once they are open. */
  follow(registry: PluginHooksParts["registry"]): void;
}

export function makePluginCalls(parts: PluginAskParts): PluginCalls {
  const ask = makeAskPlugin(parts);
  return {
    ask,
    modelSocket: (plugin, signal) => openModelSocket(ask, parts.plugins, plugin, signal),
    follow: (registry) => followHooks({ ...parts, registry }),
  };
}

function makeAskPlugin({ plugins, request, silent }: PluginAskParts): AskPlugin {
  return async ({ plugin, right }, method, params, signal) => {
    const server = plugins.serverFor(plugin, right);
    const within = deadline(signal, MOST_MS);
    try {
      return await request(server, method, params, within.signal);
    } catch (error) {
      if (within.signal.aborted && !signal.aborted) silent(server, `it didn't answer ${method} in time`);
      throw error;
    } finally {
      within.done();
    }
  };
}

/** What the kernel takes as the path of a socket. */
const LONGEST_PATH = 107;

/** Starts the plugin where it isn't running, and returns where it listens. */
async function openModelSocket(
  ask: AskPlugin,
  plugins: PluginAskParts["plugins"],
  plugin: string,
  signal: AbortSignal,
): Promise<string> {
  const path = plugins.modelSocket(plugin);
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    throw new AppError("CONFIG_INVALID", {
      message: `The plugin ${plugin} can't be a model here: the path ${path} is too long for a socket.`,
      hint: "Move the home to a shorter path.",
    });
  }
  await ask({ plugin, right: "model" }, "models/start", {}, signal);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) return path;
  throw new AppError("NOT_READY", { message: `The plugin ${plugin} doesn't listen at model.sock.`, retry: "later" });
}
