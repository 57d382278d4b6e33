"""Agent specs, and what the generic players do, told apart by a game of a single decision."""

from collections import Counter

import numpy as np
import pytest
import steps
from scipy.special import softmax
from scipy.stats import chisquare

import cardai
from cardai.errors import CardaiError, unknown
from cardai.game import Agents, Game, Rules, Text, move_dtype, state_dtype
from cardai.playing.agents.spec import agent, list_specs
from cardai.playing.agents.strategy import EvenlyRandom, HandWritten
from cardai.playing.compiled import driver
from cardai.playing.table.many import play
from cardai.rules import JIT, rule, shuffle

HEARTS, MOSKA, TICTACTOE = map(cardai.load, ("hearts", "moska", "tictactoe"))

CARDS = 5
STATE = state_dtype(sure=(), kept=(), top=(), deck=CARDS)
MOVE = move_dtype("kind")
TAKE, BLIND, LOOK, KEEP, LEAVE = range(5)


@rule
def deal(state):
    for card in range(CARDS):
        state.deck[card] = 2 * card
    shuffle(state, state.deck, 0, CARDS)
    state.top = -1


@rule
def legal(state, moves):
    first, end = (KEEP, LEAVE + 1) if state.top >= 0 else (TAKE, LOOK + 1)
    for kind in range(first, end):
        moves[kind - first].kind = kind
    return end - first


@rule
def act(state, move):
    state.kept = state.sure if move.kind == TAKE or move.kind == LEAVE else -1 - move.kind


@rule
def settle(state):
    if state.kept == -1 - LOOK:
        state.top = state.deck[0]
        state.midway = 1
        state.revealed = 1
        state.kept = 0
        return
    if state.kept == -1 - BLIND:
        state.revealed = 1
        state.kept = state.deck[0]
    if state.kept == -1 - KEEP:
        state.kept = state.top - 1  # a look costs something
    state.turn = -1


@rule
def score(state, seat):
    return state.kept / 8.0


@rule
def resample(state, seat, stream):
    if state.top >= 0:
        for place in range(1, CARDS):
            if state.deck[place] == state.top:
                state.deck[place] = state.deck[0]
        state.deck[0] = state.top
    shuffle(stream, state.deck, 1 if state.top >= 0 else 0, CARDS)


@rule
def worth(state, seat):
    return float(state.kept)


@rule
def all_alike(state, seat):
    return 1.0


@rule
def no_number(state, seat):
    return np.nan


DRAW = Game(
    name="draw",
    title="Draw",
    version=1,
    seats=range(1, 2),
    default_seats=1,
    state=STATE,
    move=MOVE,
    max_moves=3,
    max_plies=2,
    variants={f"sure{n}": {"sure": n} for n in range(9)},
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(
        spell=lambda state, move: ("take", "blind", "look", "keep", "leave")[int(move["kind"])],
        parse=lambda state, text: np.zeros(1, MOVE)[0],
        show=lambda state, seat: f"{int(state.top)} of 0 2 4 6 8, {int(state.sure)} for sure",
    ),
    agents=Agents(
        heuristics={"worth": worth, "all_alike": all_alike, "no_number": no_number},
    ),
)


def openings(spec, variant, count=200, game=DRAW):
    """The first moves of an agent that plays some games alone."""
    results = play(game, [agent(game, spec)], np.zeros((count, 1), int), np.arange(count), variant=variant, record=True)
    return [int(moves[0]["kind"]) for moves in results.moves], results


def deals(count, variant):
    return [DRAW.new(1, seed, variant) for seed in range(count)]


COUNT = 200 if JIT else 20


def best_in_the_true_world(state):
    """By the rules of the game: what is sure, the top card, or the better of the two less the price of a look."""
    top, sure = int(state.deck[0]), int(state.sure)
    values = {TAKE: sure, BLIND: top, LOOK: max(top - 1, sure)}
    return {kind for kind, value in values.items() if value == max(values.values())}


@pytest.mark.parametrize("sure", [1, 3, 6])
def test_peeking_knows_the_true_card(sure):
    kinds, _ = openings("peeking:worth", f"sure{sure}", COUNT)
    states = deals(COUNT, f"sure{sure}")
    assert all(kind in best_in_the_true_world(state) for kind, state in zip(kinds, states, strict=True))
    assert len(set(kinds)) > 1


@pytest.mark.parametrize(
    ("sure", "best"),
    [
        (0, BLIND),  # 4 on average; a look brings (0 + 1 + 3 + 5 + 7) / 5
        (3, LOOK),  # (3 + 3 + 3 + 5 + 7) / 5 = 4.2: only world by world, on average both 4 - 1 and 3 are worse
        (8, None),
    ],
)
def test_sampled_takes_the_best_mean_and_a_continuation_world_by_world(sure, best):
    kinds, results = openings("sampled:worth?worlds=2000", f"sure{sure}", COUNT // 10)
    if best is None:
        assert set(kinds) == {TAKE, LOOK}  # both bring 8: a tie
    else:
        assert set(kinds) == {best}
    for seed, moves in enumerate(results.moves):
        if len(moves) == 2:
            top = int(DRAW.new(1, seed, f"sure{sure}").deck[0])
            is_fine = {KEEP: top - 1 >= sure, LEAVE: top - 1 <= sure}
            assert is_fine[int(moves[1]["kind"])]


def test_sampled_in_one_world_decides_by_one_lucky_draw():
    kinds, _ = openings("sampled:worth?worlds=1", "sure4", COUNT)
    counts = Counter(kinds)
    # Of the five cards it may imagine, 0, 2 and 4 make a sure 4 at least as good, 6 and 8 do not.
    assert abs(counts[BLIND] / COUNT - 0.4 - 0.2 / 3) < 5 * np.sqrt(0.25 / COUNT)


def test_all_moves_of_a_decision_are_judged_in_the_same_worlds():
    """To take blindly and to keep after a look differ by the price of the look in every world, so never by luck."""
    kinds, _ = openings("sampled:worth?worlds=2", "sure0", COUNT)
    assert set(kinds) == {BLIND} | ({LOOK, TAKE} & set(kinds))
    states = deals(COUNT, "sure0")
    assert kinds.count(BLIND) > 0.9 * len(states)
    assert kinds.count(LOOK) < 0.06 * len(states)  # only where all worlds showed 0: then all three are worth 0


@pytest.mark.parametrize("kind", ["greedy", "sampled", "peeking"])
def test_ties_are_broken_evenly(kind):
    count = 1500 if JIT else 60
    kinds, _ = openings(f"{kind}:all_alike", "sure4", count)
    counts = np.bincount(kinds, minlength=3)
    assert abs(counts - count / 3).max() < 5 * np.sqrt(count * 2 / 9)


# `worth` sees after-states: to take is worth what is sure, to be blind -2, to look -3.
TRIES = 3000 if JIT else 150


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        ("epsilon=0", (1, 0, 0)),
        ("epsilon=0.3", (0.8, 0.1, 0.1)),
        ("epsilon=1", (1 / 3, 1 / 3, 1 / 3)),
        ("temperature=2", softmax(np.array([1, -2, -3]) / 2)),
        ("temperature=1e9", (1 / 3, 1 / 3, 1 / 3)),
        ("temperature=1e-300", (1, 0, 0)),
        ("epsilon=0.5&temperature=2", 0.5 * softmax(np.array([1, -2, -3]) / 2) + 0.5 / 3),
    ],
)
def test_exploring_plays_moves_as_often_as_it_says(options, shares):
    counts = np.bincount(openings(f"greedy:worth?{options}", "sure1", TRIES)[0], minlength=3)
    expected = TRIES * np.array(shares)
    assert (counts[expected == 0] == 0).all()
    met = expected > 0
    assert not met.any() or met.sum() == 1 or chisquare(counts[met], expected[met]).pvalue > 1e-4


def test_until_ends_exploring_at_a_ply_drawn_evenly_for_each_game():
    """Moves from that ply on are those of the heuristic; before it, any move comes up."""
    seeds, until = range(400 if JIT else 40), 5
    limits = [int(driver.exploring_plies(until, seed)) for seed in seeds]
    assert set(limits) == set(range(until + 1))
    assert not JIT or chisquare(np.bincount(limits)).pvalue > 1e-4
    explorer = agent(TICTACTOE, f"greedy:open_lines?epsilon=1&until={until}")
    lineups = np.zeros((len(seeds), 2), np.int64)
    results = play(TICTACTOE, [explorer], lineups, np.array(seeds, np.uint64), record=True)
    others = 0
    for seed, limit, moves in zip(seeds, limits, results.moves, strict=True):
        state = TICTACTOE.new(2, seed)
        for ply, move in enumerate(moves):
            legal = TICTACTOE.moves(state)
            worth = [TICTACTOE.value(TICTACTOE.after(state, one), int(state["turn"]), "open_lines") for one in legal]
            is_best = worth[legal.tolist().index(move.item())] == max(worth)
            assert is_best or ply < limit
            others += not is_best
            state = TICTACTOE.play(state, move)
    assert others > len(seeds) / 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("until=5", "does not explore: until goes with epsilon or temperature"),
        ("epsilon=0.1&until=0", "'0' is not a number of plies"),
        ("epsilon=0.1&until=x", "'x' is not a number of plies"),
    ],
)
def test_an_impossible_end_of_exploring_is_refused(options, sentence):
    with pytest.raises(CardaiError, match=sentence):
        agent(TICTACTOE, f"greedy:open_lines?{options}")


def test_a_heuristic_that_gives_no_number_still_plays_a_legal_move():
    assert set(openings("sampled:no_number?worlds=2", "sure4", 5)[0]) <= {TAKE, BLIND, LOOK}


def test_a_rollout_decides_by_the_mean_score():
    assert set(openings("rollout:500", "sure5", 10)[0]) == {TAKE}
    assert set(openings("rollout:500", "sure1", 10)[0]) == {BLIND}


def test_a_rollout_of_a_game_without_end_comes_to_an_end():
    """Steps' `random` stays where it is for ever; playouts are given up, and the game goes on."""
    cast = [agent(steps.GAME, "rollout:2"), agent(steps.GAME, "climb")]
    results = play(steps.GAME, cast, np.array([[0, 1]]), np.arange(1))
    assert results.finished.all()


def test_every_listed_spec_is_an_agent():
    for game in (MOSKA, TICTACTOE, DRAW, HEARTS):
        for spec in list_specs(game):
            found = agent(game, spec)
            assert found.spec == spec
            assert found.peeks == spec.startswith("peeking:")
            assert found.label.endswith("(peeks)") == found.peeks


def test_kinds_of_agents_of_a_game_are_listed_if_they_need_no_file():
    specs = list_specs(HEARTS)
    assert "pimc" in specs
    assert "styles" not in specs


def test_parameters_go_where_their_names_say():
    defaults = dict(MOSKA.agents.players["bot3"].defaults)
    assert agent(MOSKA, "bot3").strategy.params == tuple(defaults.values())
    given = agent(MOSKA, "bot3?threshold=30.5&already_played=-1e-3&randomised")
    assert given.strategy.params == tuple((defaults | {"threshold": 30.5, "already_played": -0.001}).values())
    assert given.strategy.randomised
    assert not agent(MOSKA, "bot3").strategy.randomised
    assert agent(MOSKA, "sampled:hand_value").strategy.worlds == 100
    assert agent(MOSKA, "sampled:hand_value?worlds=7").strategy.worlds == 7
    assert isinstance(agent(MOSKA, "random").strategy, HandWritten)
    assert isinstance(agent(TICTACTOE, "random").strategy, EvenlyRandom)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("bot4", "no agent 'bot4'; did you mean bot"),
        ("", "no agent ''"),
        ("greedy", "no heuristic or model ''"),
        ("greedy:hand_valu", "did you mean hand_value"),
        ("greedy:hand_value?worlds=3", "takes no option 'worlds'"),
        ("sampled:hand_value?worlds=0", "'0' is not a number of worlds"),
        ("sampled:hand_value?worlds=1e3", "'1e3' is not a number of worlds"),
        ("sampled:hand_value?worlds=5&x=1", "takes no option 'x'"),
        ("rollout", "'' is not the number of worlds"),
        ("rollout:-1", "'-1' is not the number of worlds"),
        ("rollout:²", "'²' is not the number of worlds"),
        ("rollout:1000001", "1 to 1000000"),
        ("rollout:" + "9" * 5000, "is not the number of worlds"),
        ("bot3?treshold=1", "did you mean threshold"),
        ("bot3?threshold", "threshold='' is not a number"),
        ("bot3?threshold=nan", "not a finite number"),
        ("bot3?threshold=1&threshold=2", "each once"),
        ("bot3?=1", r"written \?name=value"),
        ("bot3?randomised=1", "takes no value"),
        ("random?p=1", "no parameter of random 'p'"),
        ("python:nosuchmodule:f", "cannot import 'nosuchmodule:f'"),
        ("python:math:nosuch", "cannot import 'math:nosuch'"),
        ("python:math:pi", "is not a function but 3.14"),
        ("python:", "python:MODULE:FUNCTION|cannot import"),
        ("human", "human"),
    ],
)
def test_a_spec_that_names_nobody_is_refused_with_a_sentence(spec, complaint):
    with pytest.raises(CardaiError, match=complaint) as error:
        agent(MOSKA, spec)
    assert "\n" not in str(error.value)


def test_of_a_long_list_of_names_those_that_do_not_fit_into_a_sentence_are_counted():
    names = [f"name_of_number_{number}" for number in range(200)]
    message = unknown("law", "zzz", names)
    shown = [name for name in names if f"{name}," in message or f"{name} and" in message]
    assert len(message) < 1200
    assert message.endswith(f" and {200 - len(shown)} more")
    assert unknown("law", "zzz", names[:3]).endswith("there is name_of_number_0, name_of_number_1, name_of_number_2")
