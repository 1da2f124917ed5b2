/**
 * What a person should know before they say yes to a plugin's files. It refuses only what no honest plugin has; everything else it
 * names. It can't prove a plugin harmless: what protects is the sandbox and the rights.
 */
import type { PluginFile } from "./files.ts";

export interface ScanFinding {
  path: string;
  what: string;
  /** It isn't installed. */
  isRefused: boolean;
}

/** As much of a text as is looked at. */
const MOST_TEXT = 1024 * 1024;
const MOST_FINDINGS = 50;
/** Text that a model or a person reads as instructions. */
const READ_AS_WORDS = /(?:^|\/)(?:plugin\.json|mcp\.json|[^/]+\.md)$/i;
/** Tag characters and those that turn the direction of writing: text that nobody sees as it is. */
const DECEIVING = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]/u;
/**
 * Characters without width that break words up. Prose copied from a page may have some; what Lares hands to models must not. A mark at
 * the beginning of a file only says that it is Unicode, and joiners belong to several scripts and to emoji.
 */
const FILLERS = /[\u00ad\u200b\u2060-\u2064]|(?!^)\ufeff/u;
/** What models get as it is. */
const READ_BY_MODELS = /(?:^|\/)(?:plugin\.json|mcp\.json|skill\.md)$/i;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepare"];
const COMPILED: readonly [string, readonly number[]][] = [
  ["Linux", [0x7f, 0x45, 0x4c, 0x46]],
  ["Windows", [0x4d, 0x5a]],
  ["macOS", [0xcf, 0xfa, 0xed, 0xfe]],
];
const WORRYING: readonly [RegExp, string][] = [
  [/\b(?:curl|wget)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/, "tells to download a script and run it at once"],
  [/\bbase64\s+(?:-d|--decode)\b[^\n|]{0,300}\|\s*(?:ba|z|da)?sh\b/, "tells to run a script that is hidden in base64"],
  [/(?:~|\$HOME|\/root|\/home\/[\w.-]+)\/\.(?:ssh|aws|gnupg|netrc|npmrc)\b/, "names files where people keep keys"],
  [
    /\bignore (?:all |any )?(?:previous|prior|earlier) (?:instructions|rules)\b/i,
    "tells a model to ignore its instructions",
  ],
];

export function scanPlugin(files: readonly PluginFile[]): ScanFinding[] {
  return files.flatMap(scanFile).slice(0, MOST_FINDINGS);
}

function scanFile({ path, content }: PluginFile): ScanFinding[] {
  const compiled = COMPILED.find(([, magic]) => magic.every((byte, i) => content[i] === byte));
  if (compiled || path.endsWith(".node"))
    return [
      {
        path,
        what: `is a compiled program${compiled ? ` for ${compiled[0]}` : ""}, which nobody can read`,
        isRefused: false,
      },
    ];
  if (content.subarray(0, 8192).includes(0)) return [];
  const text = content.toString("utf8", 0, MOST_TEXT);
  const found: ScanFinding[] = WORRYING.flatMap(([words, what]) =>
    words.test(text) ? [{ path, what, isRefused: false }] : [],
  );
  if (READ_AS_WORDS.test(path) && (DECEIVING.test(text) || FILLERS.test(text))) {
    const isRefused = DECEIVING.test(text) || READ_BY_MODELS.test(path);
    found.push({ path, what: "has hidden characters, which people don't see and models read", isRefused });
  }
  if (/(?:^|\/)package\.json$/.test(path) && !path.includes("node_modules/") && hasInstallScript(text))
    found.push({ path, what: "has install scripts, which Lares never runs", isRefused: false });
  return found;
}

function hasInstallScript(text: string): boolean {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    return INSTALL_SCRIPTS.some((name) => typeof scripts?.[name] === "string");
  } catch {
    return false;
  }
}
