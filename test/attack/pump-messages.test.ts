import { pump } from "./pump.ts";
import { CHANNELS } from "./readers/channels.ts";
import { MIND } from "./readers/mind.ts";

pump("what people and platforms send is read in time", CHANNELS);
pump("what is remembered and asked is read in time", MIND);
