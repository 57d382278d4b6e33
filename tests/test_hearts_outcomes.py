"""What the end of a game of Hearts was in points and in what the paper's networks learn, whatever the variant."""

from typing import Any

import numpy as np
import pytest

import cardai
from cardai.games.hearts.outcomes import LIMITS, TRICK_LIMITS
from cardai.laws import check
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import Results, play
from cardai.records import record
from cardai.records.dataset import collect_games
from cardai.records.recipe import Recipe
from cardai.records.record import RecordedGame

HEARTS = cardai.load("hearts")
GAMES = 600


def played(variant: str) -> Results:
    agents, seats = [agent(HEARTS, "random"), agent(HEARTS, "duck")], np.arange(4 * GAMES).reshape(GAMES, 4) % 5 // 4
    names = tuple(HEARTS.learning.outcomes)
    return play(HEARTS, agents, seats, np.arange(GAMES), variant=variant, outcomes=names, record=True)


def end_of(recorded: RecordedGame) -> Any:
    return record.replay(HEARTS, recorded)


@pytest.fixture(scope="module")
def paper() -> Results:
    return played("paper")


def test_the_games_have_moons(paper):
    assert paper.outcomes["moon"].sum() >= 5


def test_the_aims_are_counted_from_the_cards_taken(paper):
    """7.3 to 7.5, worked out here from the hearts and the queen of spades that each seat has taken."""
    for game, moves in enumerate(paper.moves):
        recorded = RecordedGame(0, game, "paper", (0, 0, 0, 0), tuple(paper.scores[game].tolist()), moves)
        taken = [[card for card in range(52) if cards >> card & 1] for cards in end_of(recorded)["taken"].tolist()]
        points = [sum(card % 4 == 2 for card in cards) + 13 * (43 in cards) for cards in taken]
        is_moon = 26 in points
        assert paper.outcomes["normal"][game].tolist() == [max(0, 10 - own) / 10 for own in points]
        for limit in LIMITS:
            few = [max(0, limit - own) / limit for own in points]
            assert paper.outcomes[f"normal_{limit}"][game].tolist() == few
        assert paper.outcomes["moon"][game].tolist() == [float(own == 26) for own in points]
        assert paper.outcomes["breaker"][game].tolist() == [0 if is_moon else 0.1 if own else 1 for own in points]


@pytest.mark.parametrize(("variant", "least"), [("paper", 0), ("jack", -10)])
def test_points_give_the_score_of_a_round(variant, least):
    results = played(variant)
    assert results.scores.tolist() == ((26 - results.outcomes["points"]) / (26 - least)).tolist()
    assert results.outcomes["points"].min() == (-10 if variant == "jack" else 0)


def test_points_of_a_round_are_those_of_its_cards(paper):
    points, moon = paper.outcomes["points"], paper.outcomes["moon"]
    shot = moon.sum(axis=1) == 1
    assert (points[~shot].sum(axis=1) == 26).all()
    assert (points[shot] == 26 * (1 - moon[shot])).all()


def test_points_of_a_match_are_the_mean_of_its_rounds():
    agents = [agent(HEARTS, "random")]
    results = play(
        HEARTS, agents, np.zeros((50, 4), int), np.arange(50), variant="match", outcomes=("points",), record=True
    )
    for game, moves in enumerate(results.moves):
        recorded = RecordedGame(0, game, "match", (0, 0, 0, 0), tuple(results.scores[game].tolist()), moves)
        end = end_of(recorded)
        assert end["rounds"] > 1
        assert results.outcomes["points"][game].tolist() == (end["totals"] / end["rounds"]).tolist()
    assert results.outcomes["points"].sum(axis=1).min() == pytest.approx(26)  # more with a moon: 78


def test_one_record_serves_for_all_labels(paper):
    games = [
        RecordedGame(game, game, "paper", (0, 0, 0, 0), tuple(paper.scores[game].tolist()), paper.moves[game])
        for game in range(50)
    ]
    for name in HEARTS.learning.outcomes:
        data = collect_games(HEARTS, games, Recipe(label=name, encoder="paper_play", per_game=1))
        label = HEARTS.learning.outcomes[name].as_label(paper.outcomes[name])
        assert all(
            value in label[game].astype(np.float32) for value, game in zip(data.labels, data.game_of, strict=True)
        )


def points_of_tricks(recorded: RecordedGame) -> list[tuple[float, bool]]:
    """Of each move, worked out here: the points that its seat took in the card's trick, 0 if it is passed, and whether
    the state after the move is one that `drawn` takes: neither the end nor in the middle of a pass.
    """
    state, found, trick = HEARTS.new(4, recorded.seed, recorded.variant), [], []
    for ply, move in enumerate(recorded.moves):
        if int(state["leader"]) != -1:
            trick.append((ply, int(state["turn"]), int(move["card"])))
        state = HEARTS.play(state, move)
        found.append((0.0, int(state["turn"]) >= 0 and int(state["midway"]) == 0))
        if len(trick) == 4:
            best = max(trick, key=lambda one: (one[2] % 4 == trick[0][2] % 4, one[2]))[0]
            found[best] = float(sum((card % 4 == 2) + 13 * (card == 43) for *_, card in trick)), found[best][1]
            trick = []
    return found


@pytest.mark.parametrize("variant", ["paper", "match"])
def test_a_trick_rewards_the_card_that_went_to_it(variant):
    agents, seats = [agent(HEARTS, "random")], np.zeros((4, 4), int)
    results = play(HEARTS, agents, seats, np.arange(4), variant=variant, record=True)
    seen = set()
    for game, moves in enumerate(results.moves):
        recorded = RecordedGame(0, game, variant, (0, 0, 0, 0), tuple(results.scores[game].tolist()), moves)
        found = points_of_tricks(recorded)
        seen |= {points for points, _ in found}
        for limit in TRICK_LIMITS:
            for moment in ("before_draw", "drawn"):
                recipe = Recipe(label=f"trick_{limit}", encoder="paper_play", moment=moment)
                own = [max(0, limit - points) / limit for points, taken in found if taken or moment == "before_draw"]
                assert collect_games(HEARTS, [recorded], recipe).labels.tolist() == pytest.approx(own)
    assert {0, 1, 2, 3, 4} <= seen


def test_outcomes_keep_their_laws():
    (verdict,) = check(HEARTS, laws=["outcomes_keep_their_range"], effort="quick")
    assert verdict.verdict == "holds", verdict.why
