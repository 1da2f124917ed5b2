import { expect, test } from "vitest";
import { deviceRedirect, deviceWord, isDisk } from "./floor-devices.ts";

const judge = (text: string) => {
  const words = text.split(" ");
  return deviceWord(words[0]!, words, (word) => [word]);
};

test.each(["/dev/null", "/dev/urandom", "/dev/stdout", "/dev/fd/3", "/dev/pts/0", "/tmp/dev/sda"])(
  "%s is no disk",
  (path) => expect(isDisk(path)).toBe(false),
);
test.each(["/dev/sda", "/dev/nvme0n1", "/dev/mem", "/dev/kmsg"])("%s is one, or as bad", (path) =>
  expect(isDisk(path)).toBe(true),
);

test.each([
  ["/dev/sda", ">", /disk/],
  ["/dev/sda", "<", /disk/],
  ["/proc/sysrq-trigger", ">", /kernel/],
  ["/sys/power/state", ">>", /kernel/],
])("%s behind %s is refused", (path, operator, why) => expect(deviceRedirect(path, operator)).toMatch(why));

test.each([
  ["/proc/sys/kernel/hostname", "<"],
  ["/dev/null", ">"],
  ["/proc/cpuinfo", ">"],
])("%s behind %s is not", (path, operator) => expect(deviceRedirect(path, operator)).toBeUndefined());

test.each([
  ["dd if=x of=/dev/sda", /disk/],
  ["mkfs.ext4 /dev/nvme0n1", /disk/],
  ["tool -o/dev/sdb", /disk/],
  ["tool --out=/dev/sdb", /disk/],
  ["tee /proc/sysrq-trigger", /kernel/],
  ["sed -i s/0/1/ /proc/sys/vm/x", /kernel/],
  ["find . -fprint /dev/sda", /disk/],
])("%s is refused", (text, why) => expect(judge(text)).toMatch(why));

test.each([
  "ls /dev/sda",
  "lsblk /dev/sda",
  "cat /proc/sys/kernel/hostname",
  "sed -n p /sys/class/net",
  "find /dev/sda",
  "dd if=/dev/zero of=x",
  "cp a b",
])("%s is not", (text) => expect(judge(text)).toBeUndefined());

test("code is refused where it writes, not where it only names a device", () => {
  const code = (text: string) => deviceWord("python3", ["python3", "-c", text], (word) => [word]);
  expect(code('open("/dev/sda", "wb")')).toMatch(/disk/);
  expect(code('open("/proc/sysrq-trigger", "w")')).toMatch(/kernel/);
  expect(code('print("/dev/sda")')).toBeUndefined();
});
