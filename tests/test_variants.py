"""A variant is a name, or a name with options: everywhere, checked, and one text for one set of options."""

import json
from dataclasses import replace

import numpy as np
import pytest
import small_game

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.model import Model, load
from cardai.game import Game
from cardai.playing.table.batch import Batch
from cardai.playing.table.one import OneGame
from cardai.records.record import Reader, verify

GAMES = ("tictactoe", "durak", "hearts", "literature", "moska", "examples/thirtyone")
HEARTS = cardai.load("hearts")
LONG, SHORT = "standard?jack=1&moon=2&queen_breaks=1", "jack?moon=2"


def texts(game: Game) -> list[str]:
    """Every variant with one option changed."""
    return [
        f"{name}?{option}={value}"
        for name in game.variants
        for option, values in game.allowed.items()
        for value in (values[0], values[len(values) // 2], values[-1])
    ]


@pytest.mark.parametrize("name", GAMES)
def test_texts_with_the_same_options_are_one_variant(name: str) -> None:
    game = cardai.load(name)
    by_options: dict[bytes, str] = {}
    for text in [*reversed(texts(game)), *(f"{text}&{more}" for text in texts(game)[:40] for more in ())]:
        canonical, state = game.canonical(text), game.options(None, text)
        assert game.options(None, canonical).tobytes() == state.tobytes()
        assert game.canonical(canonical) == canonical
        assert by_options.setdefault(state.tobytes(), canonical) == canonical
    for variant in game.variants:
        assert game.canonical(variant) == variant
        assert dict(game.variant_options(variant)) == dict(game.variants[variant])
    assert game.canonical() == game.default_variant


def test_the_order_of_options_and_what_the_variant_sets_already_do_not_matter() -> None:
    assert HEARTS.canonical(LONG) == HEARTS.canonical("standard?moon=2&jack=1") == HEARTS.canonical(SHORT) == SHORT
    assert HEARTS.canonical("standard?limit=100&passing=1") == "match"
    assert HEARTS.canonical("standard?") == "standard"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nope?moon=1", "hearts has no variant 'nope'; it has standard, match"),
        ("standard?mon=1", "there is no option 'mon'; did you mean moon"),
        ("standard?hands=1", "there is no option 'hands'"),
        ("standard?seats=3", "there is no option 'seats'"),
        ("standard?moon=3", "moon is 0, 1 or 2, not '3'"),
        ("standard?moon=-1", "moon is 0, 1 or 2, not '-1'"),
        ("standard?moon=", "moon is 0, 1 or 2, not ''"),
        ("standard?moon", "moon is 0, 1 or 2, not ''"),
        ("standard?moon=1.0", "moon is 0, 1 or 2, not '1.0'"),
        ("standard?moon=²", "moon is 0, 1 or 2, not '²'"),
        ("standard?limit=1001", "limit is 0 to 1000, not '1001'"),
        ("standard?limit=" + "9" * 5000, "limit is 0 to 1000, not "),
        ("standard?moon=1&moon=1", "options are written ?name=value&name=value, each once"),
        ("standard?&", "options are written ?name=value&name=value, each once"),
        ("standard?(moon=1", "its parentheses do not match"),
        ("?moon=1", "hearts has no variant ''"),
    ],
)
def test_a_text_that_is_no_variant_is_refused_in_a_sentence(text: str, complaint: str) -> None:
    for ask in (HEARTS.options, lambda _seats, variant: HEARTS.canonical(variant)):
        with pytest.raises(CardaiError) as caught:
            ask(None, text)
        assert complaint in str(caught.value)
        assert len(str(caught.value)) < 300


def test_the_choices_of_a_game_must_be_of_its_options_and_hold_its_variants() -> None:
    with pytest.raises(CardaiError, match="choices has 'nonsense', but no variant sets this option"):
        small_game.GAME.changed(choices={"nonsense": range(2)})
    with pytest.raises(CardaiError, match="sets hand_size=3, which choices excludes"):
        small_game.GAME.changed(choices={"hand_size": (5,)})


def test_options_change_the_rules() -> None:
    lineups, seeds = np.zeros((300, 4), int), range(300)
    agents = [cardai.agent(HEARTS, "duck")]
    plain = cardai.play(HEARTS, agents, lineups, seeds, variant="standard")
    same = cardai.play(HEARTS, agents, lineups, seeds, variant="standard?moon=1")
    jack = cardai.play(HEARTS, agents, lineups, seeds, variant="standard?jack=1")
    named = cardai.play(HEARTS, agents, lineups, seeds, variant="jack")
    assert (plain.scores == same.scores).all()
    assert (jack.scores == named.scores).all()
    assert (plain.scores != jack.scores).any()
    assert HEARTS.new(seed=1, variant=LONG).moon == 2


def test_what_keeps_a_variant_keeps_its_canonical_text() -> None:
    assert Batch(HEARTS, 2, variant=LONG).variant == SHORT
    assert OneGame(HEARTS, [cardai.agent(HEARTS, "duck")] * 4, variant=LONG).variant == SHORT
    assert cardai.match(HEARTS, ["duck"] * 4, games=4, variant=LONG).variant == SHORT


def test_records_of_a_variant_with_options_replay_and_verify(tmp_path) -> None:
    files = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    for file, variant in zip(files, (LONG, SHORT), strict=True):
        command = ["match", "hearts", "--seats", "duck,duck,random,random", "--games", "6", "--variant", variant]
        assert run([*command, "--record", str(file)]) == 0
        assert verify(file).complete
    first, second = (Reader(file) for file in files)
    assert first.header == second.header
    assert (first.header.variant, first.header.options["moon"], first.header.options["jack"]) == (SHORT, 2, 1)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert run(["replay", str(files[0])]) == 0


def test_a_model_of_a_variant_with_options_plays_it_and_no_other(tmp_path) -> None:
    layout = HEARTS.encoder("relative").layout(4)
    model = Model.of(
        HEARTS,
        build("mlp", {"hidden": [8]}, layout, 1),
        body="mlp",
        body_options={"hidden": [8]},
        moment="drawn",
        variant=LONG,
    )
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.metadata.variant == SHORT
    for variant in (LONG, SHORT, "standard?moon=2&jack=1"):
        again.check_fits(HEARTS, variant, 4)
    with pytest.raises(CardaiError, match=r"variant 'jack\?moon=2', not 'standard'"):
        again.check_fits(HEARTS, "standard", 4)
    player = cardai.agent(HEARTS, f"greedy:{tmp_path / 'm.safetensors'}")
    cardai.play(HEARTS, [player], np.zeros((2, 4), int), [1, 2], variant=LONG)


def test_commands_say_which_options_a_game_has(capsys) -> None:
    assert run(["games", "--json"]) == 0
    described = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert described["hearts"]["options"]["moon"] == [0, 1, 2]
    assert described["durak"]["options"]["suit_limit"] == [4, 5, 6]
    assert run(["rules", "hearts"]) == 0
    assert "| `limit` | 0 to 1000 |" in capsys.readouterr().out
    assert run(["match", "hearts", "--seats", "duck,duck,duck,duck", "--variant", "standard?moon=7"]) == 2
    assert "moon is 0, 1 or 2, not '7'" in capsys.readouterr().err


def test_an_outcome_beyond_its_scale_is_no_label() -> None:
    points = HEARTS.learning.outcomes["points"]
    assert points.as_label(np.array([26, -10])).tolist() == [0.0, 1.0]
    with pytest.raises(CardaiError, match="-36 points a round is no label: labels are scaled by -10 to 26"):
        points.as_label(np.array([0.0, -36.0]))
    with pytest.raises(CardaiError, match=r"the scale of an outcome must rise within 0\.0 to 1\.0"):
        replace(HEARTS.learning.outcomes["moon"], scale=(0.5, 1.5))


@pytest.mark.parametrize("name", GAMES)
def test_games_of_every_value_of_an_option_end_within_the_ranges_of_their_outcomes(name: str) -> None:
    game = cardai.load(name)
    agents = [cardai.agent(game, "random"), *(cardai.agent(game, player) for player in list(game.agents.players)[:2])]
    for text in dict.fromkeys(map(game.canonical, texts(game))):
        lineups = np.arange(24 * game.default_seats).reshape(24, -1) % len(agents)
        results = cardai.play(game, agents, lineups, range(24), variant=text, outcomes=tuple(game.learning.outcomes))
        assert results.finished.all(), text
        assert ((results.scores >= 0) & (results.scores <= 1)).all(), text
        total = game.score_sum(game.default_seats)
        assert total is None or np.allclose(results.scores.sum(axis=1), total), text
