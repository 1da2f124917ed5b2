/** The few pages the gateway writes itself: plain HTML without script, for the moments when the built UI cannot speak. */

const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><link rel="stylesheet" href="/login.css"></head><body><main><h1>${escaped(title)}</h1>
${body}
</main></body></html>
`;
}

const FORM = `<form method="post" action="/login">
<p><label>Or paste a code: <input name="code" autocomplete="off" required></label> <button>Sign in</button></p></form>`;

/** Asks for a code, and says what was wrong with the last one. */
export function loginPage(problem?: "used" | "expired" | "unknown" | "busy"): string {
  const said = {
    used: "<p><strong>This link was already used.</strong> Each link signs in once.</p>",
    expired: "<p><strong>This link is too old.</strong> A link is good for ten minutes.</p>",
    unknown: "<p><strong>This code is not known.</strong></p>",
    busy: "<p><strong>Too many wrong codes.</strong> Wait a minute.</p>",
  };
  return page(
    "Sign in to Lares",
    `${problem ? said[problem] : ""}<p>Run <code>lares dashboard</code> in a terminal on this machine and open the link it prints.</p>${FORM}`,
  );
}

export function notBuiltPage(signedIn: boolean): string {
  return page(
    "Lares is running",
    `<p>The web page is not built yet. Build it with <code>npm run build:ui</code>, or talk here: <code>lares chat</code>.</p>
${signedIn ? "<p>You are signed in.</p>" : `<p>To sign in, run <code>lares dashboard</code> and open the link it prints.</p>${FORM}`}`,
  );
}

/** Paper and ink, as the UI; a file of its own because the page's policy takes no style from inside. */
export const PAGE_STYLE = `:root{color-scheme:light dark;--bg:#fafaf8;--text:#1b1c1a;--dim:#5c5e58;--line:#8a8a82;--accent:#2b4fbf;--ink:#fff;--sunken:#f2f2ee}
@media(prefers-color-scheme:dark){:root{--bg:#131413;--text:#ececE8;--dim:#a3a69f;--line:#72756f;--accent:#8fb0ff;--ink:#0b1530;--sunken:#0e0f0e}}
body{margin:0;background:var(--bg);color:var(--text);font:15px/24px system-ui,sans-serif}main{max-width:480px;margin:15vh auto 0;padding:0 16px}
h1{font-size:18px;font-weight:600}code{background:var(--sunken);padding:2px 4px;border-radius:6px;font-family:ui-monospace,monospace}
input,button{font:inherit;font-size:16px;height:32px;border-radius:6px;border:1px solid var(--line);padding:0 8px;background:var(--bg);color:inherit}
button{background:var(--accent);border-color:var(--accent);color:var(--ink)}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
`;
