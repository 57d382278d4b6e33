"""How people have done at the tables: each counts once, fair shares, what is left out, and their games as records."""

import io
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import small_game
from rich.console import Console
from web_people import LOW_HAND, run_on, table_of

import cardai
from cardai.cli.main import run
from cardai.guests.web import shown
from cardai.guests.web.export import export
from cardai.guests.web.guards import new_token
from cardai.guests.web.people import measure_people
from cardai.guests.web.store import SeatRow, Store, TableRow
from cardai.playing.agents.spec import evenly_random
from cardai.records.record import read, verify

RULES = str(small_game.__file__)


def keep(store, game, people, scores, variant="three", agents=0, version=None, study=False):
    """Keep a dealt game of people and then agents; `scores` is None if it was not finished."""
    rows = [*(SeatRow(name="x", person=person) for person in people), *(SeatRow(agent="low") for _ in range(agents))]
    row = TableRow(new_token(), game.name, version or game.version, variant, b"s" * 32, rows, seed=1, study=study)
    store.add_table(row)
    if scores is not None:
        store.finish(row.id, scores)


def played(store, person, score, **options):
    """Keep a game of one person against an agent."""
    keep(store, LOW_HAND, [person], None if score is None else [score, 0.5], agents=1, **options)


SIZES = [
    ("moska", "thesis", 2), ("moska", "thesis", 4), ("moska", "thesis", 8), ("durak", "podkidnoy", 3),
    ("durak", "report", 6), ("hearts", "match", 4), ("literature", "table", 6), ("tictactoe", "standard", 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "variant", "seats"), SIZES)
def test_equal_players_have_their_fair_share_in_every_game(store, name, variant, seats):
    """A fair share is what equal players get: 1/seats of the win, or 1/teams, and of losses what the game deals out."""
    game = cardai.load(name)
    lineups, everybody = (
        np.zeros((12, seats), np.int64),
        [store.add_person(bytes([seat]) * 32) for seat in range(seats)],
    )
    scores = cardai.play(game, [evenly_random(game)], lineups, np.arange(12), variant=variant).scores
    for own in scores.tolist():
        keep(store, game, everybody, own, variant)
    (row,) = measure_people(store, game).rows
    assert row.share.point == pytest.approx(row.fair_share)
    assert row.fair_share == pytest.approx(0.5 if name == "literature" else 1 / seats)
    if game.learning.measures:
        assert (row.loss, row.fair_loss) == (None, None), "nobody is said to have lost where the game counts no losses"
    else:
        assert row.loss.point == pytest.approx(row.fair_loss) == (scores == 0.0).mean()
    console = Console(file=io.StringIO(), width=160)
    console.print(shown.people(measure_people(store, game)))
    text = console.file.getvalue()
    assert ("lost" in text) == (not game.learning.measures)
    assert f"{100 * row.fair_share:.1f}" in text
    assert "share of win %" in text
    assert ("team" in text) == (name == "literature")


def test_people_are_clusters_and_few_of_them_get_no_interval(store):
    """Half of the people always lose, the others always win."""
    for number in range(4):
        person = store.add_person(bytes([number]) * 32)
        for _ in range(8):
            played(store, person, float(person % 2))
    (row,) = measure_people(store, LOW_HAND).rows
    assert (row.games, row.people, row.unfinished) == (32, 4, 0)
    assert np.isnan(row.loss.low)
    played(store, store.add_person(b"z" * 32), 0.0)
    (row,) = measure_people(store, LOW_HAND).rows
    assert (row.games, row.people) == (33, 5)
    assert row.loss.point == 0.6, "each person counts once"
    assert row.loss.high - row.loss.low > 0.5, "five people who do the same every time say as much as five games"
    assert 0.0 <= row.score.low < row.score.point < row.score.high <= 1.0
    assert (row.fair_share, row.fair_loss) == (0.5, pytest.approx(17 / 66))


def test_study_games_are_left_out_and_unfinished_ones_counted_both_ways(store):
    person = store.add_person(b"a" * 32)
    for score in (1.0, 1.0, 0.0, None):
        played(store, person, score)
    played(store, person, 1.0, study=True)
    played(store, person, 1.0, version=99)
    report = measure_people(store, LOW_HAND)
    (row,) = report.rows
    assert (report.study, row.games, row.unfinished) == (1, 3, 1)
    assert (row.loss.point, row.score.point) == pytest.approx((1 / 3, 2 / 3))
    assert [one.point for one in vars(row.with_all).values()] == pytest.approx([2 / 4, 2 / 4, 2 / 4])
    assert json.loads(json.dumps(report.as_json(), allow_nan=False))["study"] == 1


def test_the_command_reports_on_people_and_writes_their_games(tmp_path, capsys):
    data, folder = tmp_path / "tables.sqlite", tmp_path / "games"
    folder.mkdir()
    with closing(Store(data)) as tables:
        for study in (False, False, True):
            run_on(table_of(tables, LOW_HAND, "me", "low", study=study))

    def results(*options, store=data):
        code = run(["study", "results", RULES, "--store", str(store), *map(str, options)])
        said = capsys.readouterr()
        return code, said.out + said.err

    code, text = results()
    assert code == 0
    assert "these people only" in text
    assert "1 study games are left out" in text
    assert json.loads(results("--json")[1])["rows"][0]["games"] == 2
    code, text = results("--export", folder)
    (file,) = folder.iterdir()
    assert (code, str(file) in text) == (0, True)
    assert verify(file, rules=RULES).games == 2
    assert read(file).header.agents == ("human", "low")
    code, text = results("--export", folder)
    assert (code, "exists already" in text) == (2, True)
    code, text = results("--export", folder, "--overwrite", "--opponents", "random")
    assert (code, "2 games were left out" in text) == (0, True)
    assert results(store=tmp_path / "none")[0] == 2
    assert not (tmp_path / "none").exists()
    assert results("--export", tmp_path / "no")[0] == 2


def test_games_of_people_are_exported_by_variant_and_size_and_lost_agents_are_counted(store, tmp_path):
    for seats in (("me", "low"), ("me", "low"), ("me", "random", "low")):
        offer = run_on(table_of(store, LOW_HAND, *seats)).offer
    files, left_out = export(store, offer, tmp_path)
    assert sorted(file.name for file in files) == ["low_hand-three-2.jsonl.gz", "low_hand-three-3.jsonl.gz"]
    assert ([verify(file, rules=RULES).games for file in sorted(files)], left_out) == ([2, 1], 0)
    fewer = replace(offer, agents={"random": offer.agents["random"]})
    assert export(store, fewer, tmp_path, overwrite=True) == ([], 3)
