/**
 * Contracts are read by people who implement them, so each member says what it promises. In `core/contracts`, which is the whole
 * promise to extension authors, that goes for every member of an exported interface; in the rooms' ports for every method.
 */
import { describe, expect, test } from "vitest";
import { type Ast, lineOf, parse, visit } from "../architecture/syntax.ts";
import { repositoryFiles, repositoryText } from "../support/repository.ts";

const CONTRACTS = repositoryFiles(["src/core/contracts"], /(?<!\.test|index)\.ts$/);
const PORTS = repositoryFiles(["src"], /^(?:.*\/)?ports?\.ts$/);

test("there are contracts and ports to look at", () => {
  expect(CONTRACTS.length).toBeGreaterThan(4);
  expect(PORTS.length).toBeGreaterThan(5);
});

test.each(CONTRACTS)("every member of an exported interface in %s has a contract sentence", (file) => {
  expect(undocumented(repositoryText(file), () => true)).toEqual([]);
});

test.each(PORTS)("every method of an exported interface in %s has a contract sentence", (file) => {
  expect(undocumented(repositoryText(file), isMethod)).toEqual([]);
});

describe("the finder", () => {
  const source = `
    export interface Seen {
      /** Said. */
      said: string;
      mute: number;
      // Only a note for ourselves.
      note(): void;
    }
    interface Hidden { free: string }`;

  test("sees members without a doc comment, and only those of exported interfaces", () => {
    expect(undocumented(source, () => true)).toEqual(["line 5: Seen.mute", "line 7: Seen.note"]);
  });

  test("can be asked for methods alone", () => {
    expect(undocumented(source, isMethod)).toEqual(["line 7: Seen.note"]);
  });
});

/** A method is a method in either spelling, short or as a property with a function type. */
function isMethod(member: Ast): boolean {
  const annotation = (member.typeAnnotation as { typeAnnotation?: Ast } | undefined)?.typeAnnotation;
  return member.type === "TSMethodSignature" || annotation?.type === "TSFunctionType";
}

function undocumented(source: string, isMeant: (member: Ast) => boolean): string[] {
  const found: string[] = [];
  visit(parse(source), (node) => {
    const declared = node.declaration as Ast | null | undefined;
    if (node.type !== "ExportNamedDeclaration" || declared?.type !== "TSInterfaceDeclaration") return;
    const { body } = declared.body as Ast & { body: Ast[] };
    for (const member of body) {
      if (!isMeant(member) || source.slice(0, member.start).trimEnd().endsWith("*/")) continue;
      const name = `${(declared.id as Ast & { name: string }).name}.${nameOf(member)}`;
      found.push(`line ${lineOf(source, member.start)}: ${name}`);
    }
  });
  return found;
}

function nameOf({ key }: Ast): string {
  const { name, value } = (key ?? {}) as { name?: string; value?: unknown };
  return name ?? String(value);
}
