// Parts of a long page are folded for phones; a wide screen has room for them.
if (matchMedia("(min-width: 60em)").matches) document.querySelectorAll("details.part").forEach((part) => (part.open = true));
