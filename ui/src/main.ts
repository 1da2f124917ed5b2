import "./style/tokens.css";
import "./style/base.css";
import { mount } from "svelte";
import "./lib/theme.svelte.ts";
import App from "./App.svelte";
import { askProgram } from "./lib/program.svelte.ts";

void askProgram();
mount(App, { target: document.getElementById("app")! });
