// How well somebody says they play, before they play.

import { el } from "./dom.js";
import { t } from "./language.js";
import { remembered } from "./settings.js";

const LEVELS = [["", "I do not say"], ["beginner", "beginner"], ["regular", "regular"], ["advanced", "advanced"]];

// The field; `chosen()` returns the level and remembers it.
export function levelField() {
  const select = el("select", { id: "level" }, ...LEVELS.map(([key, words]) => el("option", { value: key }, t(words))));
  select.value = remembered("level");
  const chosen = () => {
    remembered("level", select.value);
    return select.value;
  };
  return { field: el("label", { for: "level" }, t("How well you play"), select), chosen };
}
