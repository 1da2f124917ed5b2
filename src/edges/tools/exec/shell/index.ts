export { type Analysis, analyse, CANNOT_KNOW } from "./analyse.ts";
export { quote, render, type Sequence } from "./plain.ts";
export { findProgram } from "./programs.ts";
export { BUILTINS, baseName } from "./unwrap.ts";
