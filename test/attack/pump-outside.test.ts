import { pump } from "./pump.ts";
import { DOORS } from "./readers/doors.ts";
import { OUTSIDE } from "./readers/outside.ts";

pump("what Lares fetches, opens and runs is read in time", OUTSIDE);
pump("what comes to the doors is read in time", DOORS);
