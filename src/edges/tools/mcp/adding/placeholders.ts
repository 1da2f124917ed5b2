/**
 * `${…}` in a definition that somebody else's program would fill in: variables and questions become references to the vault, folders
 * become paths. Nothing of the kind is ever passed on as it stands. Pure.
 */
import { basename } from "node:path";
import { isVariableName, secretReference } from "../../../../core/domain/index.ts";
import { defined, visibleLine } from "../../../../core/kit/index.ts";
import type { ServerConfig } from "../config.ts";
import { secretName } from "./hide.ts";

/** A secret that a definition needs and that isn't there. */
export interface NeededSecret {
  /** Its name in the vault. */
  secret: string;
  /** What the definition says about it. */
  about?: string;
}

export interface FillingPlace {
  hasSecret(name: string): boolean;
  /** What `${workspaceFolder}` stands for. */
  workspace: string;
  userHome: string;
}

export interface Filled {
  config: ServerConfig;
  needs: NeededSecret[];
  /** What can't be filled in at all, as the end of a sentence. */
  why?: string;
}

/** PastedQuestions that a definition asks, by their id (VS Code's `inputs`). */
export type PastedQuestions = ReadonlyMap<string, string>;

/** `server`: whose answers they are: another server's question of the same name is another one. */
export function fillPlaceholders(
  server: string,
  config: ServerConfig,
  { place, questions = new Map() }: { place: FillingPlace; questions?: PastedQuestions },
): Filled {
  const needs = new Map<string, NeededSecret>();
  let why: string | undefined;
  const fill = (text: string) => {
    return text.replace(PLACEHOLDER, (whole: string, inner: string, at: number) => {
      const found = look(inner, { server, place, questions });
      if ("why" in found) {
        why ??= found.why;
        return whole;
      }
      if ("text" in found) return found.text;
      if (!place.hasSecret(found.secret)) needs.set(found.secret, found);
      // A letter right after a reference would become part of its name.
      const next = text[at + whole.length] ?? "";
      if (/\w/.test(next) || (at === 0 && next !== ""))
        why ??= `"${visibleLine(whole)}" is followed by "${visibleLine(next)}"; put the whole value into a secret`;
      return secretReference(found.secret);
    });
  };
  const each = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value)]));
  const { command, url, cwd } = config;
  const filled: ServerConfig = {
    ...config,
    ...(command === undefined ? {} : { command: fill(command) }),
    ...(url === undefined ? {} : { url: fill(url) }),
    ...(cwd === undefined ? {} : { cwd: fill(cwd) }),
    args: config.args.map(fill),
    env: each(config.env),
    headers: each(config.headers),
  };
  return { config: filled, needs: [...needs.values()], ...defined({ why }) };
}

/** Why a definition waits, as the end of a sentence. Undefined: it doesn't. */
export function tellNeeds(needs: readonly NeededSecret[]): string | undefined {
  if (needs.length === 0) return undefined;
  const each = needs.map(({ secret, about }) => (about === undefined ? secret : `${secret} ("${about}")`));
  const [first] = needs;
  return `it needs ${each.join(" and ")}, and the vault doesn't have that: lares secrets set ${first!.secret}`;
}

const PLACEHOLDER = /\$\{([^{}]{0,200})\}/g;

type Filling = { text: string } | NeededSecret | { why: string };

function look(
  inner: string,
  { server, place, questions }: { server: string; place: FillingPlace; questions: PastedQuestions },
): Filling {
  const { workspace, userHome } = place;
  const input = /^input:(.+)$/.exec(inner)?.[1];
  if (input !== undefined) {
    const about = questions.get(input);
    return { secret: secretName(server, input), ...(about === undefined ? {} : { about: visibleLine(about) }) };
  }
  const [, named = "", usual] = /^(?:env:)?([^:]*)(?::-(.*))?$/.exec(inner) ?? [];
  const folders: Readonly<Record<string, string>> = {
    workspaceFolder: workspace,
    workspaceRoot: workspace,
    workspaceFolderBasename: basename(workspace),
    userHome,
    HOME: userHome,
    pathSeparator: "/",
    "/": "/",
  };
  if (Object.hasOwn(folders, named)) return { text: folders[named]! };
  if (!isVariableName(named))
    return { why: `it has "${visibleLine(`\${${inner}}`)}" in it, which Lares can't fill in` };
  return usual !== undefined && !place.hasSecret(named) ? { text: usual } : { secret: named };
}
