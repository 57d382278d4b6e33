"""The agent `styles:` of Hearts: which line decides, what a gate sees, all sets of a pass, and what a file may say."""

import itertools

import numpy as np
import pytest

import cardai
from cardai import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.model import SHIPPED, Model
from cardai.playing.agents.evaluator import find_evaluator
from cardai.playing.agents.spec import agent, kinds_of
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.asking import moves_in
from cardai.playing.table.many import play
from cardai.rules import JIT

HEARTS = cardai.load("hearts")
PLAIN = """
[[passing]]
agent = "duck"
[[playing]]
agent = "duck"
"""
pytestmark = pytest.mark.skipif(not JIT, reason="plays whole games")


def written(folder, text):
    """The spec of styles with this text in their file."""
    (folder / "styles.toml").write_text(text)
    return f"styles:{folder / 'styles.toml'}"


def model(folder, encoder, moment, seed=3, variant="paper"):
    """An untrained network in a file; its path."""
    layout = HEARTS.encoder(encoder).layout(4)
    made = build("mlp", {"hidden": [8], "dropout": [0.0]}, layout, seed)
    made.eval()
    about = {"body": "mlp", "body_options": {"hidden": [8], "dropout": [0.0]}, "moment": moment, "seats": 4}
    place = folder / f"{encoder}-{seed}.safetensors"
    Model.of(HEARTS, made, variant=variant, encoder=encoder, **about).save(place)
    return place


def dealt(count):
    """States before the first card is passed: STATE[count]."""
    states = (HEARTS.new(4, seed, "paper") for seed in itertools.count())
    return np.array(list(itertools.islice((state for state in states if state["leader"] < 0), count)), HEARTS.state)


def positions(count, plies):
    """States that some plies of `duck` lead to from `dealt(count)`: STATE[count]."""
    found, duck = dealt(count), agent(HEARTS, "duck")
    for _ in range(plies):
        moves = moves_in(HEARTS, duck, found)
        found = np.array([HEARTS.play(state, move) for state, move in zip(found, moves, strict=True)], HEARTS.state)
    return found


def test_with_one_agent_in_all_lines_it_plays_as_that_agent(tmp_path):
    spec, seeds = written(tmp_path, PLAIN), deal_seeds(1, 40)
    ours, duck = (
        play(HEARTS, [agent(HEARTS, name)], np.zeros((40, 4), int), seeds, variant="paper", record=True)
        for name in (spec, "duck")
    )
    assert (ours.scores == duck.scores).all()
    for own, other in zip(ours.moves, duck.moves, strict=True):
        assert own is not None
        assert other is not None
        assert (own == other).all()


def test_the_first_line_whose_gate_is_passed_decides_and_passing_is_apart_from_playing(tmp_path):
    none, many = "duck", "careful"  # with no points, and with more than five
    text = f"""
    [[passing]]
    agent = "{none}"
    [[playing]]
    gate = "points"
    above = -0.5
    agent = "{none}"
    [[playing]]
    gate = "points"
    above = -5.5
    agent = "random"
    [[playing]]
    agent = "{many}"
    """
    made = agent(HEARTS, written(tmp_path, text))
    rest, seen = {name: agent(HEARTS, name) for name in (none, many, "random")}, set()
    for states in (positions(20, 3), *(positions(30, plies) for plies in range(30, 64, 3))):
        own, by = moves_in(HEARTS, made, states), {name: moves_in(HEARTS, one, states) for name, one in rest.items()}
        for i, state in enumerate(states):
            points = -HEARTS.value(state, int(state["turn"]), "points")
            name = many if points > 5.5 else "random" if points > 0 else none
            name = none if state["leader"] < 0 else name
            seen.add((name, bool(state["leader"] < 0)))
            assert own[i] == by[name][i], (name, int(state["ply"]))
    assert seen == {(none, True), (none, False), ("random", False), (many, False)}


def test_a_gate_on_the_dealt_hand_answers_the_same_for_the_whole_round(tmp_path):
    place = model(tmp_path, "paper_dealt", "drawn")
    judge = find_evaluator(HEARTS, str(place))
    assert judge is not None
    hands = np.array([[HEARTS.encode(state, seat, "paper_dealt") for seat in range(4)] for state in dealt(30)])
    scores = np.asarray(judge.score(hands.reshape(120, -1)), float).reshape(30, 4)
    middle = float(np.median(scores))
    text = f"""
    [[passing]]
    gate = "{place}"
    above = {middle}
    agent = "duck"
    [[passing]]
    agent = "greedy:points"
    [[playing]]
    gate = "{place}"
    above = {middle}
    agent = "duck"
    [[playing]]
    agent = "greedy:points"
    """
    made, styles = agent(HEARTS, written(tmp_path, text)), {True: "duck", False: "greedy:points"}
    by = {passed: agent(HEARTS, name) for passed, name in styles.items()}
    for plies in (0, 4, 13, 30, 45, 55):
        states = positions(30, plies)
        own, others = moves_in(HEARTS, made, states), {key: moves_in(HEARTS, one, states) for key, one in by.items()}
        for i, state in enumerate(states):
            assert own[i] == others[bool(scores[i, int(state["turn"])] > middle)][i], (plies, i)


def test_a_pass_network_weighs_all_286_sets_of_three(tmp_path):
    place = model(tmp_path, "paper_pass", "drawn")
    judge = find_evaluator(HEARTS, str(place))
    assert judge is not None
    passer = agent(HEARTS, f"sampled:{place}?worlds=1")
    for state in dealt(8):
        sets = list(itertools.combinations([int(move["card"]) for move in HEARTS.moves(state)], 3))
        assert len(sets) == 286
        rows = []
        for cards in sets:
            chosen = state.copy()
            chosen["passed"][0] = sum(1 << card for card in cards)
            rows.append(HEARTS.encode(chosen, 0, "paper_pass"))
        best = sets[int(np.argmax(np.asarray(judge.score(np.array(rows)))))]
        for _ in range(3):
            (move,) = moves_in(HEARTS, passer, np.array([state], HEARTS.state))
            state = HEARTS.play(state, move)
        assert int(state["passed"][0]) == sum(1 << card for card in best)


def test_it_is_listed_and_is_no_code_of_somebody_elses(tmp_path):
    assert "styles" in kinds_of(HEARTS)
    made = agent(HEARTS, written(tmp_path, PLAIN))
    assert not made.is_foreign
    assert not made.peeks
    assert not made.strategy.explores
    exploring = PLAIN.replace("duck", "greedy:points?epsilon=0.5")
    assert agent(HEARTS, written(tmp_path, exploring)).strategy.explores


def line(**fields):
    """Styles whose second list begins with a line of these fields."""
    entry = "\n".join(f"{key} = {value}" for key, value in fields.items())
    return f'[[passing]]\nagent = "duck"\n[[playing]]\n{entry}\n[[playing]]\nagent = "duck"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"styles.toml has no list \[\[passing\]\] of lines"),
        ('[[passing]]\nagent = "duck"', r"has no list \[\[playing\]\] of lines"),
        ('passing = "duck"\n', r"has no list \[\[passing\]\] of lines"),
        ("[[passing]", "styles.toml is not TOML"),
        (PLAIN + '[[plying]]\nagent = "duck"', "no list 'plying'; did you mean playing"),
        (PLAIN.replace("agent", "agnt"), "line 1 of passing: there is no key 'agnt'; did you mean agent"),
        (PLAIN.replace('"duck"', "3"), "line 1 of passing: agent must be a text, not 3"),
        (PLAIN.replace("duck", "dack"), "line 1 of passing: hearts: there is no agent 'dack'; did you mean"),
        ("[[passing]]\n[[playing]]", "line 1 of passing: it names no agent"),
        (line(agent='"duck"'), "line 1 of playing: only the last line has no gate"),
        (PLAIN + 'gate = "points"\nabove = 1', "line 1 of playing: the last line has no gate"),
        (line(agent='"duck"', gate='"points"'), "line 1 of playing: gate and above go together"),
        (line(agent='"duck"', gate='"points"', above='"x"'), "above must be a number, not 'x'"),
        (line(agent='"duck"', gate='"points"', above="true"), "above must be a number, not True"),
        (line(agent='"duck"', gate="1", above="1"), "gate must be a text, not 1"),
        (line(agent='"duck"', gate='"pionts"', above="1"), "gate: there is no heuristic or model 'pionts'; did you"),
        (PLAIN.replace("duck", "peeking:points"), "but 'peeking:points' peeks"),
        (PLAIN.replace("duck", "duck?randomised"), "'duck\\?randomised' draws its parameters anew"),
        (PLAIN.replace("duck", "styles:x.toml"), "styles do not contain styles"),
        (PLAIN.replace("duck", "greedy:points?epsilon=0.1&until=9"), "until has no meaning"),
    ],
)  # fmt: skip
def test_a_file_that_says_something_impossible_is_refused_in_one_sentence(tmp_path, text, message):
    spec = written(tmp_path, text)
    with pytest.raises(CardaiError, match=message) as told:
        agent(HEARTS, spec)
    assert str(told.value).startswith(f"agent {spec!r}: ")


def test_a_missing_file_and_options_are_refused(tmp_path):
    with pytest.raises(CardaiError, match=r"cannot read .*nowhere\.toml: No such file"):
        agent(HEARTS, f"styles:{tmp_path / 'nowhere.toml'}")
    with pytest.raises(CardaiError, match="takes no option 'worlds'"):
        agent(HEARTS, f"{written(tmp_path, PLAIN)}?worlds=3")


def test_models_of_another_game_or_variant_are_refused(tmp_path):
    place = model(tmp_path, "paper_dealt", "drawn", variant="jack")
    table = np.zeros((1, 4), int)
    for name, fits in ((str(place), False), (f"{place}?any_variant", True)):
        made = agent(HEARTS, written(tmp_path, line(agent='"duck"', gate=f'"{name}"', above="0.5")))
        if fits:
            assert play(HEARTS, [made], table, deal_seeds(1, 1), variant="paper").finished.all()
        else:
            with pytest.raises(CardaiError, match="jack"):
                play(HEARTS, [made], table, deal_seeds(1, 1), variant="paper")
    other = SHIPPED / "moska" / "nn1.safetensors"
    made = agent(HEARTS, written(tmp_path, line(agent='"duck"', gate=f'"{other}"', above="0.5")))
    with pytest.raises(CardaiError, match="moska"):
        play(HEARTS, [made], table, deal_seeds(1, 1), variant="paper")
