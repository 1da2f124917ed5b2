import { factory } from "./engine/embedded.ts";
import { engineContract } from "./engine.ts";

engineContract("embedded", factory);
