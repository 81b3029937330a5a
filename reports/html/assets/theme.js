// Light or dark: the system's choice until the reader makes one, which is kept where the browser allows that.

const THEME_KEY = "fullband-theme";

function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;  // files may have no storage
  }
}

function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch { /* as above */ }
}

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

let themeButton = null;

function nameTheme() {
  if (!themeButton) return;
  const other = isDark() ? "Light" : "Dark";
  themeButton.textContent = other;
  themeButton.setAttribute("aria-label", `${other} colours`);
}

function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  keep(THEME_KEY, document.documentElement.dataset.theme);
  nameTheme();
}

function addThemeButton(place) {
  themeButton = el("button", {type: "button", class: "quiet", title: "t", onclick: toggleTheme});
  place.append(themeButton);
  nameTheme();
  system.addEventListener("change", nameTheme);
}

{
  const theme = kept(THEME_KEY);
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
