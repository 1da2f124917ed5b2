export { analyse, CANNOT_KNOW } from "./analyse.ts";
export { BUILTINS, SHELL_WORDS } from "./known.ts";
export { quote, render } from "./plain.ts";
export { findProgram } from "./programs.ts";
export { settle } from "./settle/settle.ts";
export { isSame, written } from "./settle/tree.ts";
export { baseName } from "./unwrap.ts";
