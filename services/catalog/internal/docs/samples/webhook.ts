import { createHmac, timingSafeEqual } from "node:crypto";

/** Throws unless the body is what Slotmesh sent within the last five minutes. */
export function verify(secret: string, headers: Record<string, string>, body: Buffer): void {
  const id = headers["webhook-id"], at = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) throw new Error("too old");
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest();
  const given = headers["webhook-signature"].split(" ").map((part) => Buffer.from(part.replace(/^v1,/, ""), "base64"));
  if (!given.some((one) => one.length === expected.length && timingSafeEqual(one, expected))) throw new Error("not signed with this secret");
}
