"""Agents as values: a value and its spec say the same, and an agent pickles by it."""

import json
import multiprocessing
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cardai
from cardai.errors import CardaiError
from cardai.playing.agents.notation import Ahead, Greedy, Peeking, Sampled, Spec, parse

ROOT = Path(__file__).resolve().parents[1]
TICTACTOE, MOSKA = cardai.load("tictactoe"), cardai.load("moska")

NAMES = st.text("abz_09-./", min_size=1, max_size=6)
TEXTS = st.one_of(NAMES, st.text("ab:=/&?(){} .1", max_size=8).filter(lambda text: _is_part(text)))
KINDS = st.sampled_from(["greedy", "sampled", "peeking", "ahead", "bot3", "endgame", "policy", "x"])
VALUES = st.recursive(
    TEXTS,
    lambda inner: st.builds(
        lambda kind, argument, options: parse(kind).with_options(**options) if argument is None
        else Spec(kind, argument, **options),
        KINDS, st.none() | inner, st.dictionaries(NAMES, st.one_of(inner, st.just(True), st.floats(0, 2)), max_size=3),
    ),
    max_leaves=6,
).filter(lambda value: isinstance(value, Spec))  # fmt: skip


def _is_part(text):
    """Whether it can be an argument and an option: its parentheses match, and it gives no option twice."""
    try:
        return bool(Spec("kind", text, option=text))
    except CardaiError:
        return False


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_a_value_is_written_as_a_text_that_says_the_same_value(value):
    text = str(value)
    assert parse(text) == value
    assert hash(parse(text)) == hash(value)
    assert str(parse(text)) == repr(value) == text
    assert pickle.loads(pickle.dumps(value)) == value
    assert type(parse(text)) is {"greedy": Greedy, "sampled": Sampled, "peeking": Peeking, "ahead": Ahead}.get(
        value.kind, Spec
    )


@given(st.lists(st.tuples(NAMES, st.sampled_from(["", "=", "=1", "=(a?b&c=(d?e))", "=0.10"])), max_size=3), TEXTS)
def test_a_text_is_written_again_in_the_same_order(options, argument):
    argument = argument.replace("?", "")
    head = f"kind:{argument}"
    text = head + "?" * bool(options) + "&".join(name + value for name, value in options)
    if len(dict(options)) != len(options):
        with pytest.raises(CardaiError, match="each once"):
            parse(text)
        return
    value = parse(text)
    assert [name for name, _ in value.options] == [name for name, _ in options]
    assert parse(str(value)) == value
    if not argument.startswith("("):
        assert str(value) == head + "?" * bool(options) + "&".join(
            name + ("" if given == "=" else given) for name, given in options
        )


def _specs():
    """All specs of the report, of what experiments use and of suites, with files for stand-ins."""
    texts = set()

    def collect(thing):
        if isinstance(thing, dict):
            collect([*thing.items()])
        elif isinstance(thing, list | tuple):
            for one in thing:
                collect(one)
        elif isinstance(thing, str):
            texts.add(thing)

    for place in ROOT.glob("report/*.json"):
        collect(json.loads(place.read_text()))
    for place in (ROOT / "report/ratings.jsonl", ROOT / "experiments/machinery/uses.jsonl"):
        collect([json.loads(line) for line in place.read_text().splitlines()])
    for name in cardai.available():
        game = cardai.load(name)
        collect([*game.agents.players, *game.agents.opponents, *(vars(suite) for suite in game.agents.suites.values())])
    texts = {
        re.sub(r"\{file .*\}", "styles.toml", re.sub(r"\{(network|policy)[^{}]*\}", "runs/net", text)) for text in texts
    }
    return {text for text in texts if re.match(r"[a-z0-9_]+([:?][^ ]*)?$", text)}


def test_all_specs_of_results_and_suites_are_written_again_letter_by_letter():
    specs = _specs()
    assert {
        "endgame:(ahead:report2?worlds=16&halving)",
        "endgame:sampled:nn1?worlds=10",
        "rollout:100?by=random",
    } <= specs
    assert [text for text in specs if str(parse(text)) != text] == []


def test_values_are_written_as_people_write_specs():
    assert str(Sampled("best", worlds=100)) == "sampled:best?worlds=100"
    assert Sampled(Greedy("best"), worlds=100) == Sampled("best", worlds=100)
    assert (
        str(Ahead(Path("runs/mine"), worlds=32, turns=0, others="bot3"))
        == "ahead:runs/mine?worlds=32&turns=0&others=bot3"
    )
    assert str(Ahead("best", others=Greedy("nn2", any_variant=True))) == "ahead:best?others=(greedy:nn2?any_variant)"
    assert str(Ahead("best", others=Greedy("nn2"), halving=False)) == "ahead:best?others=greedy:nn2"
    assert str(Spec("endgame", Ahead("best", halving=True), nodes=9)) == "endgame:(ahead:best?halving)?nodes=9"
    assert repr(Peeking("nn1", epsilon=0.1)) == "peeking:nn1?epsilon=0.1"
    assert parse("greedy:best") == Greedy("best") == Spec("greedy", "best") != Greedy("best", epsilon=0)


def test_options_are_added_changed_and_removed_in_their_place():
    value = Sampled("best", worlds=1, any_variant=True)
    assert value.with_options(epsilon=0.1, worlds=2) == parse("sampled:best?worlds=2&any_variant&epsilon=0.1")
    assert value.with_options(any_variant=False) == parse("sampled:best?worlds=1")
    assert value.option("any_variant") == ""
    assert value.option("until") is None


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: parse("greedy:(best"), r"agent 'greedy:\(best': its parentheses do not match"),
        (lambda: Greedy("be)st"), "parentheses do not match"),
        (lambda: Spec("greedy:best"), "kind must be the name of a kind of agent"),
        (lambda: Spec("greedy", ["best"]), "argument must be a text, a path, a number or a Spec"),
        (lambda: Ahead("best", others=[]), "others must be a text"),
        (lambda: parse(3), "spec must be a text or a Spec, not 3"),
        (lambda: cardai.agent(MOSKA, Sampled(Greedy("best", epsilon=0.1))), "no heuristic or model 'greedy:best"),
    ],
)
def test_what_is_no_spec_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(CardaiError, match=sentence) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "spec", ["random", "greedy:open_lines?epsilon=0.1", "ahead:open_lines?worlds=2&others=random", "rollout:3"]
)
def test_an_agent_pickles_by_its_spec(spec):
    player = cardai.agent(TICTACTOE, spec)
    again = pickle.loads(pickle.dumps(player))
    assert again is not player
    assert again == player
    assert again.game is TICTACTOE


def rows_of(player):
    """What a match against a random player says."""
    return str(cardai.match(player.game, [player, "random"], games=20, threads=1).rows)


def test_an_agent_plays_in_a_pool_that_spawns():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        player = cardai.agent(TICTACTOE, Greedy("open_lines"))
        assert pool.apply(rows_of, (player,)) == rows_of(player)


def judge(rows):
    return rows.mean(axis=1)


def test_an_agent_made_of_somebodys_function_does_not_pickle():
    mine = cardai.evaluator(TICTACTOE, judge)
    for value in (Greedy(mine), Spec("x", Sampled(mine, worlds=2)), Ahead("open_lines", others=Greedy(mine))):
        with pytest.raises(CardaiError, match="cannot be pickled: it asks an evaluator made in Python"):
            pickle.dumps(value)
    with pytest.raises(CardaiError, match="cannot be pickled: it asks an evaluator made in Python"):
        pickle.dumps(cardai.agent(TICTACTOE, Greedy(mine)))
    with pytest.raises(CardaiError, match="agent 'judge' cannot be pickled: it was made in Python, not from a spec"):
        pickle.dumps(cardai.player(judge))


def test_doors_that_take_specs_take_values():
    report = cardai.match(TICTACTOE, [Greedy("open_lines"), "random"], games=4)
    assert [row.spec for row in report.rows] == ["greedy:open_lines", "random"]
    mine = cardai.evaluator(TICTACTOE, judge)
    assert cardai.match(TICTACTOE, [Greedy(mine), "random"], games=4, salt="").rows[0].spec == "greedy:judge"
