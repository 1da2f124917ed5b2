import { factory } from "./engine/embedded.ts";
import { propertyContract } from "./engine/property.ts";

propertyContract("embedded", factory);
