import { expect, test } from "vitest";
import { splitCommand } from "./split.ts";

test.each([
  ["npx -y server", ["npx", "-y", "server"]],
  ["  node   x.mjs ", ["node", "x.mjs"]],
  ["node -e 'console.log(1); x && y'", ["node", "-e", "console.log(1); x && y"]],
  [`node -e "a \\"b\\" \\n"`, ["node", "-e", 'a "b" \\n']],
  ["/opt/My\\ App/run --at=\"/srv/my docs\"/x ''", ["/opt/My App/run", "--at=/srv/my docs/x", ""]],
  ["bash -c 'cd /srv && exec node $X'", ["bash", "-c", "cd /srv && exec node $X"]],
  ['x "https://a.example/?b=1&c=2" é', ["x", "https://a.example/?b=1&c=2", "é"]],
  ["x --key=${KEY} cost\\$5 100$", ["x", "--key=${KEY}", "cost$5", "100$"]],
])("%s is read as a shell would", (line, words) => expect(splitCommand(line)).toEqual({ words }));

test.each([
  ["node -e 'x", "isn't closed"],
  ['node -e "x', "isn't closed"],
  ["node x\\", "ends with a backslash"],
  ["cd /srv && node x", "it has & in it"],
  ["node x | tee y", "it has | in it"],
  ["node x; y", "it has ; in it"],
  ["node x > y", "it has > in it"],
  ["node $(which x)", "it has $( in it"],
  ['node "$(which x)"', "it has $( in it"],
  ['node "`x`"', "it has ` in it"],
  ["node $HOME/x", "write ${NAME}"],
])("%s is refused: %s", (line, why) => expect(splitCommand(line)).toEqual({ why: expect.stringContaining(why) }));
