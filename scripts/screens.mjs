/**
 * `node scripts/screens.mjs [name…]`: pictures of every page in docs/screens, at desk and phone width, from the real
 * program with a scripted model. Look at them after every change of the page.
 */
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { register } from "tsx/esm/api";
import { root } from "./ensure.mjs";

register();
const { gate, startBrowser, startHouse, startTalker } = await import("../test/ui/support.ts");

const only = process.argv.slice(2);
const out = join(root, "docs", "screens");
mkdirSync(out, { recursive: true });

const LONG_ANSWER = `I looked at three fares for **12 to 16 June**, two people, one bag each.

| Flight | Out | Back | Price |
|---|---|---|---|
| TP 573 | 07:10 | 19:45 | €214 |
| LH 1166 | 09:30 | 20:20 | €248 |
| FR 1141 | 06:05 | 22:10 | €131 |

The cheapest leaves at six in the morning and has *no bag* in the price. With a bag it is €189, so the difference to TP 573 is €25.

\`\`\`sh
# put the offer on hold for 24 h
lares-travel hold TP573 --people 2
\`\`\`

I would take **TP 573**. Shall I put it on hold?`;

const door = gate();
const tool = (name, input) => ({ name, input });
/** What the model does for a text, call by call. */
const SCRIPT = [
  [
    /duplicates in Photos/,
    [
      {
        toolCalls: [
          tool("list", { path: "Photos" }),
          tool("read", { path: "Photos/2024/index.txt" }),
          tool("read", { path: "Photos/2025/index.txt" }),
        ],
      },
      {
        text: "The two indexes share names. I compare the files themselves.",
        toolCalls: [tool("search", { pattern: "IMG_01", path: "Photos" })],
      },
      {
        text: "214 files in `Photos/2025` are exact copies of files in `Photos/2024`, 1.9 GB in all. The older ones stay.",
        toolCalls: [
          tool("exec", { command: "rm -- Photos/2025/IMG_0112.jpg Photos/2025/IMG_0113.jpg Photos/2025/IMG_0114.jpg" }),
        ],
      },
    ],
  ],
  [
    /Lisbon/,
    [
      {
        thinking: { text: "Dates are 12 to 16 June. Compare three carriers, then the price of a bag." },
        text: LONG_ANSWER,
      },
    ],
  ],
  [
    /shopping list/,
    [
      { toolCalls: [tool("read", { path: "shopping.md" })] },
      {
        toolCalls: [tool("edit", { path: "shopping.md", old: "- milk\n- bread", new: "- milk\n- oat milk\n- bread" })],
      },
      { text: "Oat milk is on the list." },
    ],
  ],
  [
    /folder for notes/,
    [{ toolCalls: [tool("exec", { command: "mkdir -p Notes/2026" })] }, { text: "`Notes/2026` is there." }],
  ],
  [
    /backup/,
    [
      { toolCalls: [tool("exec", { command: "restic backup Documents --tag nightly" })] },
      {
        text: "The backup did not run: `restic` is not installed here. Install it with `apt install restic` and say *try again*.",
      },
    ],
  ],
  [
    /boiler/,
    [
      {
        text: "The boiler was last serviced on 3 March by Weber. The next service is due in March, so there is time.\n\nI looked at the invoices in `house/2026` and at the note on the fridge you photographed.",
        hold: door.wait,
        pieces: 30,
      },
    ],
  ],
  [/./, [{ text: "Done." }]],
];
const calls = new Map();
const talker = await startTalker((said) => {
  const [pattern, replies] = SCRIPT.find(([p]) => p.test(said)) ?? SCRIPT.at(-1);
  const key = said.startsWith("[Outcome") || !said ? last : String(pattern);
  last = key;
  const n = calls.get(key) ?? 0;
  calls.set(key, n + 1);
  const list = SCRIPT.find(([p]) => String(p) === key)?.[1] ?? replies;
  return list[Math.min(n, list.length - 1)];
});
var last = "";

const house = await startHouse(talker.env);
process.on("exit", () => house.end());
const work = join(house.home, "agents", "main", "workspace");
for (const year of ["2024", "2025"]) {
  mkdirSync(join(work, "Photos", year), { recursive: true });
  writeFileSync(
    join(work, "Photos", year, "index.txt"),
    Array.from({ length: 60 }, (_, i) => `IMG_${String(100 + i).padStart(4, "0")}.jpg`).join("\n"),
  );
}
writeFileSync(join(work, "shopping.md"), "# Shopping\n\n- milk\n- bread\n- tomatoes\n");

const session = (name) => `agent:main:web:${name}`;
const ask = (name, message, wait = true) => house.rpc("chat.send", { message, session: session(name), wait });
const allow = async (of, decision = "allow-once") => {
  for (let i = 0; i < 100; i++) {
    const { approvals } = await house.rpc("approvals.list", {});
    const found = approvals.find((a) => a.session === session(of));
    if (found) {
      await house.rpc("approvals.resolve", { id: found.id, decision });
      return house.rpc("turns.wait", { turn: found.turn });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
await ask("lisbon", "Find a flight to Lisbon for 12 to 16 June, two people");
await ask("shopping", "Put oat milk on the shopping list", false);
await allow("shopping");
await ask("backup", "Run the backup of my documents", false);
await allow("backup");
await ask("photos", "Please remove the duplicates in Photos and send me a summary.", false);
await house.rpc("sessions.rename", { session: session("photos"), title: "Clean up the photo folder" });
await house.rpc("sessions.rename", { session: session("lisbon"), title: "Flight to Lisbon" });
await house.rpc("sessions.rename", { session: session("backup"), title: "Nightly backup" });
await house.rpc("sessions.rename", { session: session("shopping"), title: "Shopping list" });
await house.rpc("tokens.create", { name: "phone shortcut", scopes: ["read", "write"] });
// Plans with a past: each has run a few times, one of them goes wrong.
const plan = (name, when, prompt) => house.rpc("schedule.add", { name, ...when, zone: "Europe/Lisbon", prompt });
await plan("Morning brief", { cron: "0 7 * * 1-5" }, "Tell me what is in my calendar and what the weather will be.");
await plan("Water the plants", { cron: "30 18 * * 1,4" }, "Remind me to water the plants.");
await plan("Check the doorbell camera", { every: "2 hours" }, "Look whether somebody rang.");
const tax = await plan("Tax papers", { at: "2027-01-31T09:00" }, "Remind me of the tax papers.");
await house.rpc("schedule.update", { id: tax.id, enabled: false });
for (let i = 0; i < 4; i++) {
  const { turn } = await house.rpc("schedule.run", { id: "Morning brief" });
  await house.rpc("turns.wait", { turn });
}
for (let i = 0; i < 2; i++) {
  const { turn } = await house.rpc("schedule.run", { id: "Check the doorbell camera" });
  await house.rpc("turns.wait", { turn });
}
// An edited message: the old one and its answer stay, folded.
const first = await ask("porto", "Find a train to Porto");
await house.rpc("chat.send", {
  message: "Find a train to Porto on Friday after work, second class",
  session: session("porto"),
  replaces: first.turn,
});
await house.rpc("sessions.rename", { session: session("porto"), title: "Train to Porto" });
// Something that was allowed for good.
await ask("notes", "Make a folder for notes", false);
await allow("notes", "allow-always");
await house.rpc("sessions.rename", { session: session("notes"), title: "A folder for notes" });
// What it knows: from the owner, by now from three kinds of places.
for (const [text, more] of [
  ["The boiler was last serviced on 3 March by Weber.", { source: "house/2026/weber.pdf", at: "2026-03-03T10:00" }],
  [
    "Ana prefers green tea and has no milk in it.",
    { kind: "preference", scope: "person:telegram:ana", at: "2026-06-20T18:12" },
  ],
  [
    "Duplicates in Photos: the older copy stays.",
    { kind: "decision", scope: "agent:main", source: `session:${session("photos")}` },
  ],
  [
    "Flights are booked with one bag each, never before seven in the morning.",
    { kind: "preference", source: `session:${session("lisbon")}` },
  ],
  [
    "The nightly backup goes to the box in the cellar, and somebody must look once a month whether a file can be restored from it.",
    {},
  ],
])
  await house.rpc("memory.add", { text, ...more });
const { turns } = await house.rpc("turns.list", { limit: 50 });
const turnOf = (name) => turns.find((t) => t.session === session(name)).turn;

const browser = await startBrowser();
const signedIn = await house.signIn(browser);
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const chat = (name) => `/chat/${encodeURIComponent(session(name))}`;

async function shoot(name, path, options = {}) {
  if (only.length && !only.some((word) => name.includes(word))) return;
  const { theme = "light", phone = false, before, login = true } = options;
  const context = await browser.newContext({
    viewport: phone ? PHONE : DESK,
    colorScheme: theme,
    isMobile: phone,
    hasTouch: phone,
    ...(login ? { storageState: signedIn } : {}),
  });
  const page = await context.newPage();
  await page.goto(house.url + path);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(900);
  await before?.(page);
  const file = join(out, `${name}.png`);
  await page.screenshot({ path: file });
  const kb = Math.round(statSync(file).size / 1000);
  process.stdout.write(`${name}.png ${kb} kB${kb > 200 ? "  TOO LARGE" : ""}\n`);
  await context.close();
}

const openTimeline = async (page) => {
  await page.getByRole("button", { name: "Timeline" }).click();
  await page.waitForTimeout(900);
};
for (const theme of ["light", "dark"]) {
  await shoot(`chat-${theme}`, chat("photos"), { theme, before: openTimeline });
  await shoot(`chat-answer-${theme}`, chat("lisbon"), { theme });
}
await shoot("chat-tools", chat("backup"));
await shoot("chat-edited", chat("porto"), {
  before: async (page) => {
    await page.getByText(/^Replaced/).click();
    await page.waitForTimeout(300);
  },
});
await shoot("chat-diff", chat("shopping"), {
  before: async (page) => {
    await page.getByRole("button", { name: /edit/ }).click();
    await page.waitForTimeout(300);
  },
});
await shoot("now", "/");
await shoot("turn", `/turns/${turnOf("backup")}`, {
  before: async (page) => {
    for (const k of "jj") await page.keyboard.press(k);
    await page.waitForTimeout(300);
  },
});
await shoot("approvals", "/approvals");
await shoot("approval-always", "/approvals", {
  before: async (page) => {
    await page.getByRole("button", { name: "Always allow…" }).first().click();
    await page.waitForTimeout(300);
  },
});
await shoot("schedule", "/schedule");
await shoot("schedule-dark", "/schedule", { theme: "dark" });
await shoot("schedule-add", "/schedule", {
  before: async (page) => {
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.getByLabel("What should it do?").fill("Summarise what happened in the family chat.");
    await page.getByLabel("When?").fill("every sunday 18:30");
    await page.waitForTimeout(700);
  },
});
const { jobs } = await house.rpc("schedule.list", {});
const brief = `/schedule/${jobs.find((j) => j.name === "Morning brief").id}`;
await shoot("schedule-one", brief);
await shoot("memory", "/memory");
await shoot("activity", "/activity");
await shoot("usage", "/usage");
await shoot("log", "/log");
await shoot("agents", "/agents/main");
await shoot("agents-edit", "/agents/main?file=USER.md", {
  before: (page) => page.getByRole("button", { name: "Edit" }).click(),
});
for (const tab of ["models", "channels", "access", "look", "about"]) await shoot(`settings-${tab}`, `/settings/${tab}`);
await shoot("palette", "/", {
  before: async (page) => {
    await page.keyboard.press("Control+k");
    await page.waitForTimeout(300);
  },
});
await shoot("login", "/", { login: false });
for (const [name, path] of [
  ["chat", chat("photos")],
  ["sessions", "/sessions"],
  ["now", "/"],
  ["activity", "/activity"],
  ["turn", `/turns/${turnOf("backup")}`],
  ["usage", "/usage"],
  ["log", "/log"],
  ["agents", "/agents/main"],
  ["approvals", "/approvals"],
  ["schedule", "/schedule"],
  ["schedule-one", brief],
  ["memory", "/memory"],
  ["more", "/more"],
  ["settings", "/settings/models"],
  ["answer", chat("lisbon")],
]) {
  await shoot(`phone-${name}`, path, { phone: true });
}
await shoot("phone-chat-dark", chat("photos"), { phone: true, theme: "dark" });
await ask("boiler", "When is the boiler due?", false);
await shoot("chat-streaming", chat("boiler"), { before: (page) => page.fill("#composer", "And what did it cost?") });
await shoot("phone-streaming", chat("boiler"), { phone: true });
door.open();

await browser.close();
talker.close();
await house.dispose();
rmSync(house.home, { recursive: true, force: true });
