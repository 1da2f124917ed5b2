/** Tokens and logins on real records. */
import { expect, test } from "vitest";
import { testRecords } from "../../../test/support/records.ts";
import { comeToRest } from "../../../test/support/rest.ts";
import { ManualClock, randomIds } from "../../core/kit/index.ts";
import { Access } from "./index.ts";

const DAY = 86_400_000;

async function world() {
  const { records } = await testRecords("access");
  const clock = new ManualClock();
  const open = async () => {
    const access = new Access({
      records: () => records,
      clock,
      ids: randomIds(clock),
      ownerToken: "the owner's token",
    });
    await access.load();
    return access;
  };
  const access = await open();
  const signIn = async (by = access.owner) => {
    const login = await access.redeem(access.newCode(by).code, "a browser");
    if (!login.ok) throw new Error(login.why);
    return login;
  };
  return { access, open, signIn, clock, records };
}

test("the owner's token opens everything; a token opens what it was made for, also after a restart; a guess opens nothing", async () => {
  const { access, open } = await world();
  const made = await access.createToken(access.owner, { name: "phone", scopes: ["read"] });
  for (const at of [access, await open()]) {
    expect(at.byToken("the owner's token")).toBe(at.owner);
    expect(at.byToken(made.token)).toMatchObject({ name: "phone", scopes: new Set(["read"]) });
    expect(at.byToken(`${made.token}x`)).toBeUndefined();
    expect(at.byToken("")).toBeUndefined();
  }
});

test("no secret is stored: neither a token's text, nor a cookie, nor its proof (ACCESS-3)", async () => {
  const { access, signIn } = await world();
  const { token } = await access.createToken(access.owner, { name: "phone", scopes: ["read"] });
  const { cookie, proof } = await signIn();
  const kept = JSON.stringify(access.list());
  for (const secret of [token, cookie, proof]) expect(kept).not.toContain(secret);
});

test("a token never has a right its creator lacks, nor the owner's name (ACCESS-4)", async () => {
  const { access } = await world();
  const { token } = await access.createToken(access.owner, { name: "phone", scopes: ["read"] });
  const phone = access.byToken(token)!;
  await expect(access.createToken(phone, { name: "more", scopes: ["read", "write"] })).rejects.toMatchObject({
    code: "FORBIDDEN",
    message: expect.stringContaining("write"),
  });
  await expect(access.createToken(access.owner, { name: "Owner", scopes: ["read"] })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
});

test("a cookie without its proof opens nothing and keeps nothing alive (ACCESS-6)", async () => {
  const { access, signIn, clock } = await world();
  const { cookie, proof } = await signIn();
  expect(access.byLogin(cookie, undefined)).toBe("unproven");
  expect(access.byLogin(cookie, "a guess")).toBe("unproven");
  expect(access.byLogin("another", proof)).toBe("unknown");
  expect(access.byLogin(cookie, proof)).toMatchObject({ name: "owner" });
  clock.advance(29 * DAY);
  access.byLogin(cookie, undefined);
  clock.advance(2 * DAY);
  expect(access.byLogin(cookie, proof)).toBe("unknown");
});

test("a login that is used stays; one that is not ends after thirty days, also over a restart", async () => {
  const { access, open, signIn, clock, records } = await world();
  const [used, left] = [await signIn(), await signIn()];
  clock.advance(20 * DAY);
  access.byLogin(used.cookie, used.proof);
  await comeToRest(records);
  clock.advance(20 * DAY);
  const later = await open();
  expect(later.byLogin(used.cookie, used.proof)).toMatchObject({ name: "owner" });
  expect(later.byLogin(left.cookie, left.proof)).toBe("unknown");
});

test("a token that is revoked takes its logins and codes along, and everyone using them hears of it (ACCESS-4, ACCESS-5)", async () => {
  const { access, open, signIn } = await world();
  const { id, token } = await access.createToken(access.owner, { name: "phone", scopes: ["read"] });
  const phone = access.byToken(token)!;
  const { cookie, proof } = await signIn(phone);
  const { code } = access.newCode(phone);
  const ended: string[] = [];
  access.onRevoked((credential) => ended.push(credential));
  expect(await access.revoke(id)).toBe(true);
  expect(ended).toContain(id);
  expect(ended).toHaveLength(2);
  expect(await access.redeem(code, "a browser")).toMatchObject({ ok: false });
  for (const at of [access, await open()]) {
    expect(at.byToken(token)).toBeUndefined();
    expect(at.byLogin(cookie, proof)).toBe("unknown");
  }
  expect(await access.revoke(id)).toBe(false);
});

test("with too many logins the one that was used least recently makes room", async () => {
  const { access, signIn, clock } = await world();
  const first = await signIn();
  for (let n = 1; n < 200; n++) {
    clock.advance(1);
    await signIn();
  }
  expect(access.byLogin(first.cookie, first.proof)).toMatchObject({ name: "owner" });
  await signIn();
  expect(access.byLogin(first.cookie, first.proof)).toBe("unknown");
  expect(access.list().logins).toHaveLength(200);
});
