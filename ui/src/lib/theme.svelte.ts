/** System, light or dark; and whether single letters are keys. Choices of this browser, nothing secret. */
export type Theme = "system" | "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const read = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};
const keep = (key: string, value: string): void => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing still works; the choice lasts until the page is closed.
  }
};

class Look {
  theme: Theme = $state((read("lares.theme") as Theme | null) ?? "system");
  letters: boolean = $state(read("lares.letters") !== "off");

  constructor() {
    this.apply();
    dark.addEventListener("change", () => this.apply());
  }
  choose(theme: Theme): void {
    this.theme = theme;
    keep("lares.theme", theme);
    this.apply();
  }
  setLetters(on: boolean): void {
    this.letters = on;
    keep("lares.letters", on ? "on" : "off");
  }
  private apply(): void {
    const system = dark.matches ? "dark" : "light";
    const now = this.theme === "system" ? system : this.theme;
    document.documentElement.dataset.theme = now;
  }
}
export const look = new Look();
