import { expect, it } from "vitest";
import { askedRelation, namesIn, relationsIn } from "./graph.ts";

const sure = (text: string) => namesIn(text).flatMap(({ name, isSure }) => (isSure ? [name] : []));

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
  ["Groceries\nMilk\nBread", []],
  ["- Buy milk\n* Call Petra\n2. Write to Otto Weber", ["Petra", "Otto Weber"]],
  ['She said "Hello there" to my cat "Tiger"', ["Tiger"]],
  ["Yesterday Tom came. Then Petra left.", ["Tom", "Petra"]],
  ["Bob called. I like Bob.", ["Bob"]],
  ["Ann Smith lives in Rome", ["Ann Smith", "Rome"]],
  ["Joe Smith works at Nokia. Ann Smith likes tea.", ["Joe Smith", "Ann Smith", "Nokia"]],
  ["Yesterday Ann Smith moved to Rome", ["Ann Smith", "Rome"]],
  ["Actually Tom lives in Rome", ["Tom", "Rome"]],
  ["I see Dr Meyer and Prof. Lang every spring", ["Meyer", "Lang"]],
  ["Dr. Meyer is my dentist", ["Meyer"]],
  ["Ask Mrs Anna Weber or Herr Klein", ["Anna Weber", "Klein"]],
  ["The Gate is closed on Sundays", []],
  ["Our flight leaves from Gate B12, Terminal 2", []],
  ["We met in Room 4 with Otto", ["Otto"]],
  ["Then Jimmy Gate and Ben Room called us, said Ann", ["Jimmy Gate", "Ben Room", "Ann"]],
] as const)("the names in %s", (text, names) => {
  expect(sure(text)).toEqual(names);
});

it.each([
  ["Bob called today", ["Bob"]],
  ["Otto Weber called. Dinner is at eight.", ["Otto Weber", "Otto", "Dinner"]],
  ["schmidt likes green tea", ["schmidt"]],
  ["we met. bob is married to ana", ["bob"]],
  ["my sister likes tea, and everyone likes cake", []],
  ["people like tea", []],
  ["it has a lid", []],
  ["Gate B12 is where we meet. Dr. who?", []],
] as const)("what may be a name in %s", (text, names) => {
  expect(namesIn(text).flatMap(({ name, isSure }) => (isSure ? [] : [name]))).toEqual(names);
});

it.each([
  ["schmidt likes green tea", "schmidt", "likes", "green tea"],
  ["i live in kiel", "self", "lives in", "kiel"],
  ["user prefers short answers", "self", "likes", "short answers"],
  ["Schmidt likes green tea", "schmidt", "likes", "green tea"],
  ["Ann Smith lives in Rome", "ann smith", "lives in", "rome"],
  ["My friend Joe Smith lives in Rome", "joe smith", "lives in", "rome"],
  ["Yesterday Tom moved to Kiel", "tom", "lives in", "kiel"],
  ["When Ann Weber lives in Kiel", "ann weber", "lives in", "kiel"],
  ["Dr Ann Smith works at Nokia in March", "ann smith", "works at", "nokia"],
  ["I work at IKEA on weekends", "self", "works at", "ikea"],
  ["I work at IKEA on Mondays", "self", "works at", "ikea"],
  ["Ann lives in Rome in the summer", "ann", "lives in", "rome"],
  ["Ann works at Nokia in Espoo", "ann", "works at", "nokia in espoo"],
  ["Yes I'm working on Lares", "self", "works on", "lares"],
  ["Will Smith is married to Ann", "will smith", "married to", "ann"],
  ["Ann works on Project 2027", "ann", "works on", "project 2027"],
  ["Ann likes running on weekends", "ann", "likes", "running on weekends"],
])("the relation in %s", (text, subject, relation, object) => {
  expect(relationsIn(text)).toEqual([{ subject, relation, object }]);
});

it.each(["everyone likes cake", "cats like milk", "the dog has a bone"])("no relation of somebody in %s", (text) => {
  expect(relationsIn(text)).toEqual([]);
});

it("a question in small letters asks about its words", () => {
  expect(askedRelation("what does schmidt like?")).toEqual({
    relation: "likes",
    subjects: ["what", "does", "schmidt", "like"],
  });
  expect(askedRelation("What does Schmidt like?")).toEqual({ relation: "likes", subjects: ["schmidt"] });
  expect(askedRelation("Where does Ann Smith live?")).toEqual({
    relation: "lives in",
    subjects: ["ann smith", "ann", "smith"],
  });
});
