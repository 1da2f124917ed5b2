/** What a dialect can show, for code that writes text for it. Derived from the renderers' own tables, so that it is accurate. */
import type { DialectName } from "./dialect.ts";
import { dialects } from "./dialects/index.ts";

export interface Shows {
  /** `markdown`: as it is meant. `rich`: turned into the platform's own marks. `plain`: marks are left out. */
  text: "markdown" | "rich" | "plain";
  tables: "real" | "narrow" | "lists";
  oneLine: boolean;
}

export function shows(dialect: DialectName | "raw"): Shows {
  if (dialect === "raw") return { text: "markdown", tables: "real", oneLine: false };
  const { strong, table, tableWidth, oneLine = false } = dialects[dialect];
  const withoutTables = tableWidth > 0 ? "narrow" : "lists";
  return {
    text: strong[0] === "" ? "plain" : "rich",
    tables: table ? "real" : withoutTables,
    oneLine,
  };
}
