import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import {
  factSources,
  isFileSource,
  isImportSource,
  isPersonAt,
  isSelfTopic,
  personKeys,
  readPerson,
  selfTopic,
} from "./origin-keys.ts";
import { readSecretReference, secretReference } from "./secret-name.ts";

const channel = fc.constantFrom("telegram", "whatsapp-web", "matrix", "http", "ws", "none");
const id = fc.string({ minLength: 1, maxLength: 30 });

test("a person on a platform is read as it was written, also when the platform's ids have colons", () => {
  fc.assert(
    fc.property(channel, id, (channel, id) => {
      const person = personKeys.at(channel, id);
      expect(readPerson(person)).toEqual({ channel, id });
      expect(isPersonAt(person, channel)).toBe(true);
      expect(isPersonAt(person, "irc")).toBe(false);
    }),
  );
  expect(readPerson(personKeys.at("matrix", "@alice:example.org"))).toEqual({
    channel: "matrix",
    id: "@alice:example.org",
  });
});

test.each(["Ana", "Ana: the owner", "", ":x", "telegram:"])('"%s" is a name, not a platform\'s id', (name) =>
  expect(readPerson(name)).toEqual({ id: name }),
);

test("sources of facts, and what is about the speaker, are recognised as what they are", () => {
  fc.assert(
    fc.property(id, id, (one, other) => {
      const all = [factSources.file(one), factSources.import(one, other), factSources.condensed(one)];
      expect(all.map(isFileSource)).toEqual([true, false, false]);
      expect(all.map(isImportSource)).toEqual([false, true, false]);
      expect(isSelfTopic(selfTopic(one))).toBe(true);
    }),
  );
  expect([isFileSource(undefined), isImportSource(null), isSelfTopic(null)]).toEqual([false, false, false]);
});

test("a reference to a secret is read as it was written, and nothing else is one", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,20}$/), (name) => {
      expect(readSecretReference(secretReference(name))).toBe(name);
      expect(readSecretReference(` ${secretReference(name)}`)).toBeUndefined();
    }),
  );
});

test("the stored forms never change: databases hold them", () => {
  expect([
    personKeys.at("telegram", "7"),
    personKeys.group("telegram", "-1"),
    personKeys.several("agent:main:main"),
    factSources.file("USER.md"),
    factSources.import("hermes", "a.md"),
    factSources.condensed("x"),
    selfTopic("Ana"),
    selfTopic(undefined),
    secretReference("KEY"),
  ]).toEqual([
    "telegram:7",
    "group:telegram:-1",
    "several:agent:main:main",
    "file:USER.md",
    "import:hermes:a.md",
    "condensed:x",
    "self:Ana",
    "self:",
    "vault:KEY",
  ]);
});
