"""A duel in words."""

from cardai.measure.duel import Duel
from cardai.show.grid import endless_notes


def text(duel: Duel) -> str:
    """Some lines, the verdict first."""
    ahead = "points" if duel.unit == "%" else duel.unit
    lines = [
        f"{duel.candidate} among players {duel.other}: {duel.verdict}",
        f"mean score {duel.score} {duel.unit}, {duel.difference} {ahead} ahead of theirs at the same tables (95 %"
        f" interval and one of {100 * duel.level:.4g} %)",
        f"{duel.games:,} games, compared {duel.looks} times; {duel.different:,} deals were played in different ways",
    ]
    if duel.own_deals:
        lines.append("no deal was played twice, since an agent runs code that may remember it")
    lines += [f"not sealed: {reason}" for reason in duel.unsealed]
    return "\n".join(lines + endless_notes(duel.endless))
