export { type Analysis, analyse, CANNOT_KNOW } from "./analyse.ts";
export { BUILTINS } from "./known.ts";
export { quote, render, type Sequence } from "./plain.ts";
export { findProgram } from "./programs.ts";
export { type SettledText, settle } from "./settle/settle.ts";
export { isSame, written } from "./settle/tree.ts";
export { baseName } from "./unwrap.ts";
