"""The form in which specs of agents and texts of variants write options: `NAME?option=value&option=value`."""

from cardai.errors import CardaiError


def split(what: str, text: str, mark: str, most: int = -1) -> list[str]:
    """A text divided at a mark wherever that stands outside parentheses, at most `most` times.

    `what`: the whole text in a message, such as "agent 'greedy:nn2'".
    """
    parts, depth, begun = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == mark and depth == 0 and len(parts) != most:
            parts.append(text[begun:i])
            begun = i + 1
    if depth:
        raise CardaiError(f"{what}: its parentheses do not match")
    return [*parts, text[begun:]]


def divided(what: str, text: str) -> tuple[str, str]:
    """A text without its options, and its options."""
    head, *query = split(what, text, "?", 1)
    return head, query[0] if query else ""


def options_of(what: str, query: str) -> dict[str, str]:
    """The options by name, as texts. Raises CardaiError if one has no name or is given twice."""
    options = {}
    for part in split(what, query, "&") if query else ():
        key, _, value = part.partition("=")
        if not key or key in options:
            raise CardaiError(f"{what}: options are written ?name=value&name=value, each once")
        options[key] = value
    return options
