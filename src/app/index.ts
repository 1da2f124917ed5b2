export { type RunningApp, type StartOptions, startApp } from "./app.ts";
