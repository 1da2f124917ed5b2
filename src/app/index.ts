export { type RunningApp, type StartOptions, startApp } from "./app.ts";
export { type LaresConfig, schema } from "./config.ts";
