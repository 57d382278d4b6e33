"""The page of claims: each row with a claim is listed once, a claim has the verdict of its rows, misses say why."""

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from cardai.errors import CardaiError
from cardai.experiments.machinery import report
from cardai.experiments.machinery.catalogue import EXPERIMENTS
from cardai.experiments.machinery.verdicts import VERDICTS
from cardai.experiments.machinery.words import addressed, rows_by_place, shown
from cardai.experiments.pages import claims, claims_pages
from cardai.experiments.pages.claims import SourceClaim, answer, counted, verdict_of

FOLDER = Path(__file__).parent.parent / "report"
RESULTS = report.results_in(FOLDER)
SOURCES = claims.sources()
CLAIMS = [(title, claim) for title, own in SOURCES.items() for claim in own]


def test_a_row_has_no_verdict_only_if_none_of_its_claims_can_be_compared(monkeypatch):
    rows = {name: {"table": "t", "name": name, "column": "c", "claim": {"value": 1}, "verdict": "missed", "needed": 9}
            for name in ("alone", "shared", "wrong", "other")}  # fmt: skip
    result = {"experiment": "style", "rows": [*rows.values(), {**rows["alone"], "column": "d"}]}

    def about(*names: str, **fields: str) -> SourceClaim:
        return SourceClaim("place", "words", tuple(("style", "t", name, "c") for name in names), **fields)

    own = [about("alone", "shared", differs="measure"), about("shared"), about("wrong", outcome=claims.WRONG)]
    monkeypatch.setattr(claims, "sources", lambda: {"source": own})
    (settled,) = claims.settled([result])
    said = [(row["verdict"], row["needed"]) for row in settled["rows"]]
    assert said == [(claims.DIFFERS, None), ("missed", 9), (claims.WRONG, None), ("missed", 9), ("missed", 9)]


def test_every_row_with_a_claim_answers_one_claim_or_stands_beside_one():
    listed = Counter(row for _, claim in CLAIMS for row in claim.rows)
    beside = {row for _, claim in CLAIMS for row in claim.beside}
    made = {
        (result["experiment"], row["table"], row["name"], row["column"])
        for result in RESULTS
        for row in result["rows"]
        if row["claim"]
    }
    assert made - set(listed) - beside == set()
    assert {row for row in made if listed[row] > 1} == set()


def test_the_rows_that_claims_name_are_those_of_the_results():
    made = {result["experiment"]: result for result in RESULTS}
    for _, claim in CLAIMS:
        for name, *place in (*claim.rows, *claim.beside):
            rows = [[row["table"], row["name"], row["column"]] for row in made[name]["rows"]] if name in made else []
            assert name not in made or place in rows, (name, place)


def test_there_are_five_sources_and_each_has_claims():
    assert len(SOURCES) == 5
    assert all(len(own) >= 5 for own in SOURCES.values())


@pytest.mark.parametrize("claim", [claim for _, claim in CLAIMS], ids=lambda claim: claim.words)
def test_a_claim_is_whole(claim):
    cells = answer(claim, RESULTS)
    assert len(cells.cells) == len(claims.HEADS)
    assert claim.place
    assert claim.words
    assert "|" not in "".join(cells.cells)
    assert set(cells.outcomes) <= {*claims.OUTCOMES, claims.NOT_YET}
    if "missed" in cells.outcomes or claim.outcome == claims.NOT_TRIED:
        assert cells.cells[-1]
    if claim.outcome in (*VERDICTS, claims.WRONG) or claim.differs:
        assert claim.command or claim.rows or claim.beside
    if claim.outcome == claims.WRONG or claim.differs:
        assert claim.why


def test_the_page_is_written_from_the_results():
    pages = claims_pages.pages(RESULTS)
    assert {name: (FOLDER / f"{name}.md").read_text("utf-8") for name in pages} == pages


def test_each_claim_has_an_address_of_its_own():
    pages = claims_pages.pages(RESULTS)
    addresses = re.findall(r'<a id="(c-\w{6})" href="#\1">', "".join(pages.values()))
    assert len(addresses) == len(set(addresses)) == len(CLAIMS)


def test_commands_of_claims_exist():
    root = FOLDER.parent
    for _, claim in CLAIMS:
        words = shlex.split(claim.command)
        assert words[:1] in ([], ["pytest"], ["cardai"], ["python"]), claim.command
        files = [word.partition("::")[0] for word in words if word.startswith("tests/")]
        assert all((root / file).exists() for file in files), claim.command
        if words[:2] == ["cardai", "reproduce"]:
            assert words[2] in EXPERIMENTS


def made_up(verdict, experiment="tictactoe", needed=None):
    figure = {"point": 12.34, "low": 11.9, "high": 12.8, "n": 10, "counted": "games"}
    row = {"table": "T", "name": "L", "column": "C", "verdict": verdict, "figure": figure, "places": 2}
    return {"experiment": experiment, "command": f"cardai reproduce {experiment}", "rows": [row | {"needed": needed}]}


PLACE = ("tictactoe", "T", "L", "C")
OURS = f"L, C: [12.3 (11.9-12.8)](tictactoe.md#{addressed('T', 'L', 'C')})"


def test_the_verdict_of_a_claim_is_that_of_its_row_and_a_miss_without_a_cause_says_so():
    claim = SourceClaim("section 1", "it wins", rows=(PLACE,))
    found = answer(claim, [made_up("missed")])
    assert found.cells == (
        "section 1", "it wins", "missed", OURS, "`cardai reproduce tictactoe`", claims.UNKNOWN
    )  # fmt: skip
    assert answer(claim, [made_up("better")]).cells[-1] == ""
    explained = SourceClaim("section 1", "it wins", rows=(PLACE,), why="another protocol")
    assert answer(explained, [made_up("missed")]).cells[-1] == "another protocol"


def test_a_comparison_that_is_not_like_for_like_counts_for_neither_side():
    for verdict in VERDICTS:
        claim = SourceClaim("section 1", "it wins", rows=(PLACE,), differs="opponents", why="other opponents")
        found = answer(claim, [made_up(verdict)])
        assert found.outcomes == (claims.DIFFERS,)
        assert found.cells[2:4] == ("not comparable (opponents differ)", OURS)


def test_what_is_wrong_by_arithmetic_or_missed_by_our_reading_has_no_other_verdict():
    for outcome in (claims.WRONG, "missed"):
        claim = SourceClaim("section 1", "it wins", rows=(PLACE,), outcome=outcome, why="2 + 2 = 4")
        assert answer(claim, [made_up("reproduced")]).outcomes == (outcome,)


def test_an_undecided_claim_says_what_would_decide_it():
    claim = SourceClaim("section 1", "it wins", rows=(PLACE,))
    assert answer(claim, [made_up("undecided", needed=12_345)]).cells[2] == "undecided (decided by 13,000 games)"
    assert answer(claim, [made_up("undecidable")]).cells[2] == "undecidable"


def test_rows_beside_a_claim_are_shown_without_a_part_in_its_outcome():
    claim = SourceClaim("section 1", "it wins", beside=(PLACE,), outcome="undecided", why="another game")
    found = answer(claim, [made_up("better")])
    assert found.outcomes == ("undecided",)
    assert found.cells[3:5] == (OURS, "`cardai reproduce tictactoe`")


def test_a_row_that_no_result_has_is_said_to_be_missing():
    claim = SourceClaim("section 1", "it wins", rows=(("tictactoe", "T", "L", "other"),))
    assert answer(claim, [made_up("missed")]).outcomes == answer(claim, []).outcomes == (claims.NOT_YET,)


def test_a_claim_that_is_not_whole_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "FOLDER", tmp_path)
    for text, problem in (
        ('rows = [["tictactoe", "T", "L"]]', "a row is"),
        ('rows = [["chess", "T", "L", "C"]]', "a row is"),
        ('outcome = "perhaps"', "needs an outcome"),
        ('outcome = "missed"\ndiffers = "weather"', "what differs is one of"),
    ):
        (tmp_path / "a.toml").write_text(f'title = "A"\n[[claim]]\nplace = "1"\nwords = "it wins"\n{text}\n')
        with pytest.raises(CardaiError, match=problem):
            claims.sources()


def test_several_verdicts_are_counted_and_the_least_certain_stands_for_all():
    assert counted(["reproduced", "missed", "reproduced"]) == "2 reproduced, 1 missed"
    assert counted(["missed", "missed"]) == "missed"
    assert verdict_of(["better", "reproduced", "missed"]) == "in part"
    assert verdict_of(["missed", "undecided"]) == "missed"
    assert verdict_of(["better", "undecided", "undecidable"]) == "undecided"
    assert verdict_of(["reproduced", "undecidable"]) == "undecidable"
    assert verdict_of(["better", "reproduced"]) == "reproduced"


READ = Path(__file__).parent / "data" / "claims_read.json"
"""{claim: our figures when its `why` and typed outcome were last read beside them}."""


def figures_of(claim):
    """What a claim shows of the results in the report: {row: "25.2 (24.3-26.2) undecided"}."""
    made = {result["experiment"]: rows_by_place(result) for result in RESULTS}
    rows = {row: made[row[0]].get(row[1:]) for row in (*claim.rows, *claim.beside) if row[0] in made}
    return {
        ", ".join(row): f"{shown(found['figure'], found['places'])} {found['verdict']}".strip()
        for row, found in rows.items()
        if found
    }


def figures_by_claim():
    """What `READ` must hold: the claims with a why or a typed outcome and with figures."""
    return {
        f"{title}: {claim.place}: {claim.words}": figures
        for title, claim in CLAIMS
        if (claim.why or claim.outcome) and (figures := figures_of(claim))
    }


def test_what_is_written_about_a_claim_was_read_beside_the_figures_it_has_now():
    """A why is prose: it cannot follow a new result. Read each named claim, then `python tests/test_claims.py`."""
    read, now = json.loads(READ.read_text("utf-8")), figures_by_claim()
    assert [name for name in now if now[name] != read.get(name)] == []
    assert [name for name in read if name not in now] == []


if __name__ == "__main__":
    READ.write_text(json.dumps(figures_by_claim(), indent=1, ensure_ascii=False) + "\n", "utf-8")


def test_a_claim_that_was_not_tried_says_what_it_would_take_or_names_the_protocol_for_people():
    for claim in (claim for _, claim in CLAIMS if claim.outcome == claims.NOT_TRIED):
        if "eeds people" in claim.why:
            (study,) = re.findall(r"experiments/studies/[\w-]+\.toml", claim.why)
            assert (FOLDER.parent / study).is_file()
        else:
            assert re.search(r"would take .*(core hour|day's work)", claim.why), claim.why
