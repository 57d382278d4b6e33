"""Limit hold'em plays by its rules, ranks hands as another library does, and bets as OpenSpiel's universal_poker.

pip install '.[oracles]'
pytest tests/test_holdem.py                 # 15,000 hands and 1,000 games, seconds
pytest -m slow tests/test_holdem.py         # all 2,598,960 hands of five cards, minutes
"""

import importlib
import itertools
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.laws import check
from cardai.measure.bench import run_match
from cardai.playing.agents.spec import evenly_random
from cardai.playing.table.many import play
from cardai.rules import rule
from cardai.rules.cards import DECK52

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/holdem"))
HANDS = importlib.import_module("holdem.hands")
strength, kind_of, KINDS = HANDS.strength, HANDS.kind_of, HANDS.KINDS
RULES = {  # of the competition's limit game, as OpenSpiel takes them
    "betting": "limit", "numPlayers": 2, "numRounds": 4, "blind": "10 5", "raiseSize": "10 10 20 20",
    "firstPlayer": "2 1 1 1", "maxRaises": "3 4 4 4", "numSuits": 4, "numRanks": 13, "numHoleCards": 2,
    "numBoardCards": "0 3 1 1", "stack": "1000 1000",
}  # fmt: skip


@rule
def strengths(hands, found):
    for i in range(len(hands)):
        found[i] = strength(hands[i])


def values(hands: list[list[int]]) -> np.ndarray:
    """The strengths of hands of cards: i64[n]."""
    found = np.zeros(len(hands), np.int64)
    strengths(np.array([sum(1 << card for card in hand) for hand in hands], np.int64), found)
    return found


def played(words: str, seed: int = 1):
    """The state after moves in words."""
    state = GAME.new(seed=seed)
    for word in words.split():
        state = GAME.play(state, GAME.text.parse(state, word))
    return state


def legal(state) -> str:
    return " ".join(GAME.text.spell(state, move) for move in GAME.moves(state))


def payoffs(state) -> list[float]:
    return GAME.payoff.of(GAME.points(state)).tolist()


def test_every_law_holds():
    assert [result for result in check(GAME, seed=1, effort="quick", seconds=6) if result.verdict == "broken"] == []


def test_1_blinds_and_hands():
    state = GAME.new(seed=5)
    assert (state.chips.tolist(), int(state.turn), int(state.board)) == ([10, 5], 1, 0)
    assert [int(hand).bit_count() for hand in state.hands] == [2, 2]
    assert int(state.hands[0] & state.hands[1]) == 0


def test_2_the_board_is_turned_up_in_three_parts():
    sizes = [int(played(words).board).bit_count() for words in ("", "call check", "call check check check")]
    assert sizes == [0, 3, 4]
    assert int(played("call check check check check check").board).bit_count() == 5
    assert (int(played("call").turn), int(played("call check").turn)) == (0, 0)


def test_3_1_who_has_put_in_less_may_fold():
    assert legal(GAME.new(seed=1)) == "folds calls raises"
    assert legal(played("call")) == "checks raises"
    assert payoffs(played("fold")) == [5, -5]
    assert payoffs(played("raise fold")) == [-10, 10]


def test_3_3_bets_are_10_and_then_20():
    assert played("raise").chips.tolist() == [10, 20]
    assert played("raise call bet").chips.tolist() == [30, 20]
    assert played("raise call bet call bet").chips.tolist() == [50, 30]


def test_3_4_there_are_four_bets_in_a_round():
    assert legal(played("raise raise raise")) == "folds calls"
    assert legal(played("call check bet raise raise raise")) == "folds calls"
    capped = played("raise raise raise call" + " bet raise raise raise call" * 3)
    assert capped.chips.tolist() == [240, 240]
    assert sorted(payoffs(capped)) in ([-240, 240], [0, 0])


def test_3_5_the_big_blind_may_raise_after_a_call():
    assert played("call raise").chips.tolist() == [20, 10]
    assert int(played("call raise call").street) == 1


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("2S 3S 4S 5S AS", "AC AD AH AS KC"),  # a straight flush, with the ace low
        ("2C 2D 2H 2S 3C", "AC AD AH KC KD"),
        ("2C 2D 2H 3C 3D", "AC QC TC 8C 6C"),
        ("2C 3C 4C 5C 7C", "AC KD QH JS TC"),
        ("AC 2D 3H 4S 5C", "AC AD AH KS QC"),
        ("3C 4D 5H 6S 7C", "AC 2D 3H 4S 5C"),
        ("2C 2D 2H 4S 5C", "AC AD KH KS QC"),
        ("2C 2D 3H 3S 4C", "AC AD KH QS JC"),
        ("2C 2D 3H 4S 5C", "AC KD QH JS 9C"),
        ("AC AD 4H 3S 2C", "KC KD AH QS JC"),
    ],
)
def test_4_2_hands_are_ordered(better, worse):
    one, other = values([DECK52.listed(DECK52.cards(hand)) for hand in (better, worse)])
    assert one > other


def test_4_2_only_five_cards_count():
    board = "KC KD QH QS JC"
    one, other = values([DECK52.listed(DECK52.cards(f"{board} {own}")) for own in ("JD 2C", "9C 2D")])
    assert one == other
    assert KINDS[kind_of(one)] == "two pairs"


def compare(hands: list[list[int]]) -> None:
    """Check that strengths order hands as phevaluator does, whose numbers are lower for better hands."""
    evaluate = pytest.importorskip("phevaluator", reason="the oracle of hands: pip install '.[oracles]'").evaluate_cards
    names = [name[0] + name[1].lower() for name in DECK52.all_names]
    theirs = np.array([evaluate(*[names[card] for card in hand]) for hand in hands])
    ours = values(hands)
    order = np.argsort(ours, kind="stable")
    assert (np.diff(theirs[order]) <= 0).all()
    assert ((np.diff(theirs[order]) == 0) == (np.diff(ours[order]) == 0)).all()


@pytest.mark.parametrize("size", [5, 6, 7])
def test_4_2_hands_are_ranked_as_phevaluator_ranks_them(size):
    chance = np.random.default_rng(size)
    compare([chance.choice(52, size, replace=False).tolist() for _ in range(5000)])


@pytest.mark.slow
def test_4_2_all_hands_of_five_are_ranked_as_phevaluator_ranks_them():
    hands = [list(hand) for hand in itertools.combinations(range(52), 5)]
    compare(hands)
    kinds = np.bincount(values(hands) >> 20)
    assert kinds.tolist() == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]


def test_betting_is_that_of_universal_poker():
    """1,000 random games: the seat to move, the legal moves and the chips at the end are OpenSpiel's."""
    pyspiel = pytest.importorskip("pyspiel", reason="the oracle of betting is OpenSpiel: pip install '.[oracles]'")
    table = pyspiel.load_game("universal_poker", RULES)
    seeds, random = np.arange(1000, dtype=np.uint64), evenly_random(GAME)
    results = play(GAME, [random], np.zeros((1000, 2), int), seeds, record=True)
    ends = set()
    for seed, moves, scores in zip(seeds.tolist(), results.moves, results.scores, strict=True):
        ours, theirs, board = GAME.new(seed=seed), table.new_initial_state(), 0
        for card in (card for hand in ours.hands for card in DECK52.listed(int(hand))):
            theirs.apply_action(card)
        for move in moves:
            assert theirs.current_player() == ours.turn
            assert theirs.legal_actions() == [int(kind) for kind in GAME.moves(ours)["kind"]]
            theirs.apply_action(int(move["kind"]))
            ours = GAME.play(ours, move)
            for card in DECK52.listed(int(ours.board) & ~board):
                theirs.apply_action(card)
            board = int(ours.board)
        assert theirs.is_terminal()
        assert theirs.returns() == GAME.payoff.of(scores).tolist()
        ends.add((int(ours.street), bool(ours.shown)))
    assert len(ends) == 5  # a fold in each round, and showdowns


def test_the_steady_player_beats_random_in_chips():
    report = run_match(GAME, ["steady", "random"], games=1000, seed=4)
    steady = report.rows[0]
    assert report.measures[0].title == "score in chips"
    assert steady.score.low > 5
    assert steady.beside["showdown"].n < 1000


def test_the_steady_player_plays_with_drawn_parameters():
    assert run_match(GAME, ["steady?randomised", "random"], games=400).games == 400


def test_the_end_is_said_in_chips():
    assert GAME.text.ending(played("raise fold")) == "p0 folds, p1 wins 10 chips."
    shown = played("call check" + " check check" * 3)
    assert GAME.text.ending is not None
    assert "p0 has " in GAME.text.ending(shown)
    assert GAME.text.ending(shown).endswith(("wins 10 chips.", "they share the pot."))
