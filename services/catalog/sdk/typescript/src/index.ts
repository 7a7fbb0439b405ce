export { apiVersion, Slotmesh } from "./client.js";
export type { BookCall, Call, Options } from "./client.js";
export { codes, ConnectionError, outcomeUnknown, SlotmeshError } from "./errors.js";
export type { Code } from "./errors.js";
export type * from "./types.js";
