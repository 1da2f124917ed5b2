export { EditorSessions, findStart } from "./editor.ts";
