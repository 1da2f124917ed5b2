import { pump } from "./pump.ts";
import { OUTSIDE } from "./readers/outside.ts";

pump("what Lares fetches, opens and runs is read in time", OUTSIDE);
