import { expect, test } from "vitest";
import { hideSecrets } from "./secrets.ts";

const AT = { channel: "email", account: "my-mail", secrets: ["password", "oauth.token"] };

test("secret values go to the vault, also nested ones, and the given fields stay as they were", async () => {
  const kept: Record<string, string> = {};
  const given = { host: "imap.example.com", password: "hunter22", oauth: { token: "abcdef", user: "ann" } };
  const written = await hideSecrets(AT, given, async (name, value) => {
    kept[name] = value;
  });
  expect(written).toEqual({
    host: "imap.example.com",
    password: "vault:CHANNEL_EMAIL_MY_MAIL_PASSWORD",
    oauth: { token: "vault:CHANNEL_EMAIL_MY_MAIL_OAUTH_TOKEN", user: "ann" },
  });
  expect(kept).toEqual({ CHANNEL_EMAIL_MY_MAIL_PASSWORD: "hunter22", CHANNEL_EMAIL_MY_MAIL_OAUTH_TOKEN: "abcdef" });
  expect(given.password).toBe("hunter22");
});

test.each(["vault:MAIL", `\${MAIL_PASSWORD}`])("%s already refers to a secret and is left alone", async (password) => {
  const written = await hideSecrets(AT, { password }, () => Promise.reject(new Error("nothing is kept")));
  expect(written).toEqual({ password });
});
