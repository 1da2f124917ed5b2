/** The few pages the gateway writes itself, for the moments when the built UI cannot speak; and the script that signs a browser in. */

const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/login.css"><script src="/login.js" defer></script></head><body><main><h1>${escaped(title)}</h1>
${body}
</main></body></html>
`;
}

/** A few words and nothing to do. */
export function messagePage(title: string, text: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/login.css"></head><body><main><h1>${escaped(title)}</h1>
<p>${escaped(text)}</p></main></body></html>
`;
}

const FORM = `<p id="said" role="alert"></p><form id="login">
<p><label>Or paste a code: <input name="code" autocomplete="off" required></label> <button>Sign in</button></p></form>
<noscript><p>Signing in needs JavaScript.</p></noscript>`;

/** Asks for a code. The script fills one in that came with the link. */
export function loginPage(): string {
  return page(
    "Sign in to Lares",
    `<p>Run <code>lares dashboard</code> in a terminal on this machine and open the link it prints.</p>${FORM}`,
  );
}

export function notBuiltPage(): string {
  return page(
    "Lares is running",
    `<p>The web page is not built yet. Build it with <code>npm run build:ui</code>, or talk here: <code>lares chat</code>.</p>
<p>To sign in, run <code>lares dashboard</code> and open the link it prints.</p>${FORM}`,
  );
}

/** Where the page keeps the login's proof: the storage of this origin, which no other port or name can read. */
const PROOF_KEY = "lares.proof";

/**
 * Exchanges the code for a login. The code leaves the address before anything else; a page that is only prerendered does not
 * use it up.
 */
/** `program`: how Lares is called where it runs; hints say `lares`. */
export const loginScript = (program: string) => `"use strict";
(() => {
  const program = ${JSON.stringify(program)};
  const said = document.getElementById("said");
  const form = document.getElementById("login");
  const say = (text) => { said.textContent = text; };
  async function signIn(code) {
    say("Signing in…");
    try {
      const answer = await fetch("/login", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
      const body = await answer.json();
      if (!answer.ok) return say(body.error.message + " " + (body.error.hint ?? ""));
      try {
        localStorage.setItem("${PROOF_KEY}", body.proof);
      } catch {
        return say("This browser does not let Lares store its login. Allow site data for this address, then open a new link.");
      }
      location.replace("/");
    } catch {
      say("Lares does not answer. Start it: " + program + " gateway run");
    }
  }
  function fromAddress() {
    const given = /[?#&]code=([^&#]+)/.exec(location.href)?.[1];
    if (!given) return;
    history.replaceState(null, "", "/login");
    void signIn(decodeURIComponent(given));
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = new FormData(form).get("code").trim();
    void signIn(/code=([^&#\\s]+)/.exec(text)?.[1] ?? text);
  });
  addEventListener("hashchange", fromAddress);
  if (document.prerendering) document.addEventListener("prerenderingchange", fromAddress, { once: true });
  else fromAddress();
})();
`;

/** Paper and ink, as the UI; a separate file because the page's policy takes no style from inside. */
export const PAGE_STYLE = `:root{color-scheme:light dark;--bg:#fafaf8;--text:#1b1c1a;--dim:#5c5e58;--line:#8a8a82;--accent:#2b4fbf;--ink:#fff;--sunken:#f2f2ee}
@media(prefers-color-scheme:dark){:root{--bg:#131413;--text:#ececE8;--dim:#a3a69f;--line:#72756f;--accent:#8fb0ff;--ink:#0b1530;--sunken:#0e0f0e}}
body{margin:0;background:var(--bg);color:var(--text);font:15px/24px system-ui,sans-serif}main{max-width:480px;margin:15vh auto 0;padding:0 16px}
h1{font-size:18px;font-weight:600}code{background:var(--sunken);padding:2px 4px;border-radius:6px;font-family:ui-monospace,monospace}
input,button{font:inherit;font-size:16px;height:32px;border-radius:6px;border:1px solid var(--line);padding:0 8px;background:var(--bg);color:inherit}
button{background:var(--accent);border-color:var(--accent);color:var(--ink)}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
`;
