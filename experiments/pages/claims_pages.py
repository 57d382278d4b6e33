"""The pages of claims: what came of them in all, and a page for each source with its claims by what came of them."""

import hashlib
from collections import Counter
from collections.abc import Sequence

from cardai.experiments.machinery.words import Result, folded
from cardai.experiments.pages.claims import (
    DIFFERS,
    FOLDER,
    IN_PART,
    NOT_YET,
    NOTHING,
    OUTCOMES,
    UNKNOWN,
    WRONG,
    ClaimOutcome,
    answer,
    headline,
    sources,
    verdict_of,
)

NAME = "claims"
SHORT = {
    f"{NAME}-thesis": "thesis", f"{NAME}-readme": "its program", f"{NAME}-hearts": "Hearts",
    f"{NAME}-literature": "Literature", f"{NAME}-durak": "Durak",
}  # fmt: skip
"""{name of the page of a source: the source in a word or two}."""
NOTES = (
    "Verdicts of figures are computed from the results of this report. [How it was measured](method.md) says what they"
    " mean.",
    "Where no figure answers a claim, we judged it ourselves, and the command shows the evidence.",
    f"{IN_PART.capitalize()}: of a claim with several figures some are missed and others are not.",
    f"{DIFFERS.capitalize()}: opponents, measure or protocol differ, for instance stand-ins for players that nobody"
    " published. Such figures stand side by side, and count for neither side.",
    f"{WRONG.capitalize()}: the claim fails by arithmetic or by the source's own words.",
    "Undecidable: the source's own games are too few for any verdict.",
    f"{NOTHING.capitalize()}: settings, and what no test could contradict.",
    f"{NOT_YET.capitalize()}: the experiment has not been run for it yet.",
    f'Why: a cause that was tested, "{UNKNOWN}", or a remark.',
)


def pages(results: Sequence[Result]) -> dict[str, str]:
    """{name: the page in Markdown}: the first has the counts, the others the claims of a source each."""
    names = [f"{NAME}-{path.stem.partition('-')[2]}" for path in sorted(FOLDER.glob("*.toml"))]
    by_source = {
        title: [(claim.counts, answer(claim, results)) for claim in claims] for title, claims in sources().items()
    }
    own = {
        name: _of_source(title, [outcome for _, outcome in claims])
        for name, (title, claims) in zip(names, by_source.items(), strict=True)
    }
    counts = {
        title: Counter(_of(outcome) for is_counted, outcome in claims if is_counted)
        for title, claims in by_source.items()
    }
    shown = [outcome for outcome in (*OUTCOMES, NOT_YET) if any(count[outcome] for count in counts.values())]
    lines = ["# What came of every claim?", "", f"**{headline(results)}**", ""]
    heads = [f"[{SHORT[name]}]({name}.md)" for name in names]
    lines += ["| | all | " + " | ".join(heads) + " |", "|---|" + "---:|" * (1 + len(heads))]
    lines += [
        f"| {outcome} | {sum(count[outcome] for count in counts.values())} | "
        + " | ".join(str(counts[title][outcome] or "") for title in by_source)
        + " |"
        for outcome in shown
    ]
    lines += ["", *(f"- {SHORT[name]}: {title}." for name, title in zip(names, by_source, strict=True))]
    lines += ["- A claim that a source makes twice is counted once. One that two sources make is counted at the first."]
    lines += ["", "## What the words mean", "", *(f"- {note}" for note in NOTES)]
    return {NAME: "\n".join(lines) + "\n"} | own


def _of(outcome: ClaimOutcome) -> str:
    return verdict_of(outcome.outcomes)


def _of_source(title: str, outcomes: Sequence[ClaimOutcome]) -> str:
    """The page of a source: its claims by what came of them, in the order of the source."""
    lines = [f"# Claims: {title}", "", f"[What the words mean]({NAME}.md#what-the-words-mean)", ""]
    for came_of_it in (*OUTCOMES, NOT_YET):
        group = [outcome for outcome in outcomes if _of(outcome) == came_of_it]
        if group:
            lines += [f"## {came_of_it.capitalize()}: {len(group)}", ""]
            lines += [line for outcome in group for line in _claim(outcome)]
    return "\n".join(lines)


def _claim(outcome: ClaimOutcome) -> list[str]:
    """A claim at its own address: its words, and folded in what came of it and how."""
    place, words, came_of_it, ours, command, why = outcome.cells
    address = f"c-{hashlib.sha256(f'{place}{words}'.encode()).hexdigest()[:6]}"
    parts = {"What came of it": came_of_it, "Ours": ours, "Command": command, "Why": why}
    return [
        f'<a id="{address}" href="#{address}">{place}</a>: {words}',
        "",
        *folded(came_of_it, [f"- {name}: {text}" for name, text in list(parts.items())[1:] if text]),
        "",
    ]
