import { expect, it } from "vitest";
import { namesIn } from "./graph.ts";

it.each([
  ["We meet in Dec and again on Tue", []],
  ["Wir fahren im Juli und im Dez nach Kiel", ["Kiel"]],
  ["It was Sept Petra called", ["Petra"]],
  ["See you on Mittwoch or in März", []],
  ["The bill of Jan 5 is paid, and 3 Jan too", []],
  ["I met Jan at the station", ["Jan"]],
  ["I met Sam and Domingo", ["Sam", "Domingo"]],
  ["Name: Otto Weber", ["Otto Weber"]],
  ["Full name: Otto Weber, born in May", ["Otto Weber"]],
  ["Note: call Petra", ["Petra"]],
] as const)("the names in %s", (text, names) => {
  expect(namesIn(text).map(({ name }) => name)).toEqual(names);
});
