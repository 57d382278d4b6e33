# ruff: noqa: RET503 (a rule here leaves out a return on purpose)
"""Whatever a game's code does, its author is told in a sentence what is wrong and where."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import small_game

from cardai.errors import CardaiError
from cardai.game import PerspectiveEncoder, Player, move_dtype, state_dtype
from cardai.rule import JIT, rule

HERE = Path(__file__).name
TABLE = [1, 2, 3]
compiled_only = pytest.mark.skipif(not JIT, reason="plain Python compiles nothing")


def line_of(text: str) -> int:
    """The only line of this file that is `text` but for its indentation."""
    lines = [
        number for number, line in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1) if line.strip() == text
    ]
    assert len(lines) == 1
    return lines[0]


# Rules that do not compile.


def plain(number):
    return number + 1


def undecorated(state):
    state.turn = -1


@rule
def reads_no_field(state):
    state.turn = state.hnads[0]


@rule
def calls_a_rule_that_writes_no_field(state):
    writes_no_field(state)


@rule
def writes_no_field(state):
    state.stoped = 1


@rule
def writes_no_move_field(state, moves):
    moves[0].knd = 1
    return 1


@rule
def without_return(state, moves):
    moves[0].kind = 1


@rule
def with_one_return(state, moves):
    if state.turn == 1:
        return 3


@rule
def returns_a_text(state, seat):
    return "won"


@rule
def calls_plain(state):
    state.turn = plain(state.turn)


@rule
def reads_a_list(state):
    state.turn = TABLE[state.turn]


@rule
def assigns_a_list(state):
    state.deck_left = [1, 2]


@rule
def makes_a_dict(state):
    by_card = {1: "x", 2: 3}
    state.turn = len(by_card)


@rule
def assigns_a_text(state):
    state.turn = "two"


@rule
def misspells_a_rule(state):
    state.turn = take_nxt(state)  # noqa: F821


@rule
def take_next(state):
    return 1


@rule
def one_of_two(state):
    other_of_two(state)


@rule
def other_of_two(state):
    one_of_two(state)


@rule
def takes_too_little(state):
    state.turn = 0


@rule
def writes_all_moves(state, moves):
    moves.kind = 1
    return 1


REFUSED = {
    "reads_no_field": (
        {"settle": reads_no_field},
        "there is no field 'hnads'; did you mean hands",
        "state.turn = state.hnads[0]",
    ),
    "callee": (
        {"settle": calls_a_rule_that_writes_no_field},
        "there is no field 'stoped'; did you mean stopped",
        "state.stoped = 1",
    ),
    "move field": ({"legal": writes_no_move_field}, "there is no field 'knd'; did you mean kind", "moves[0].knd = 1"),
    "no return": (
        {"legal": without_return},
        "it has no return with a value; legal must return the number of moves that it wrote",
        "def without_return(state, moves):",
    ),
    "one return": (
        {"legal": with_one_return},
        "not every way through it ends in a return with a value; legal must return the number of moves that it wrote",
        "def with_one_return(state, moves):",
    ),
    "text": ({"score": returns_a_text}, "score must return a number from 0 to 1, not the text 'won'", 'return "won"'),
    "plain function": (
        {"settle": calls_plain},
        "plain is a plain Python function; mark it with @rule to call it from a rule",
        "state.turn = plain(state.turn)",
    ),
    "global list": (
        {"settle": reads_a_list},
        "TABLE is a Python list; make it a tuple or a NumPy array",
        "state.turn = TABLE[state.turn]",
    ),
    "list": (
        {"settle": assigns_a_list},
        "a rule cannot use a list",
        "state.deck_left = [1, 2]",
    ),
    "dict": ({"settle": makes_a_dict}, "a rule cannot use a dict", 'by_card = {1: "x", 2: 3}'),
    "assigned text": (
        {"settle": assigns_a_text},
        "the text 'two' cannot be used as a whole number",
        'state.turn = "two"',
    ),
    "unknown name": (
        {"settle": misspells_a_rule},
        "there is no name 'take_nxt'; did you mean take_next",
        "state.turn = take_nxt(state)  # noqa: F821",
    ),
    "circle": (
        {"settle": one_of_two},
        "one_of_two and other_of_two call each other in a circle; a rule must not, use a loop instead",
        "def one_of_two(state):",
    ),
    "field of an array": (
        {"legal": writes_all_moves},
        "an array of records has no field 'kind'; one of its records has: moves[n].kind",
        "def writes_all_moves(state, moves):",
    ),
}


@compiled_only
@pytest.mark.parametrize("fault", REFUSED)
def test_a_rule_that_does_not_compile_is_refused_in_one_sentence_with_its_line(fault: str) -> None:
    changes, why, source = REFUSED[fault]
    game = replace(small_game.GAME, **changes)
    name = next(iter(changes.values())).__name__
    with pytest.raises(CardaiError) as refused:
        game.new()
    message = str(refused.value)
    assert message.startswith(f"low_hand: the rule {name} does not compile: {why}")
    assert message.endswith(f"{HERE}, line {line_of(source)}: {source})")
    assert "\n" not in message
    assert len(message) < 400


@compiled_only
def test_encoders_heuristics_and_players_are_refused_likewise() -> None:
    @rule
    def encode(state, seat, row):
        row[0] = state.nothing

    @rule
    def value(state, seat):
        return 0.0 * state.nothing

    @rule
    def choose(world, move, params, stream):
        move.nothing = 1

    for changes in (
        {"encoders": {"wrong": PerspectiveEncoder(small_game.layout, encode)}},
        {"heuristics": {"wrong": value}},
        {"players": {"wrong": Player(choose, "fails")}},
    ):
        with pytest.raises(CardaiError, match=r"the rule \w+ does not compile: there is no field 'nothing'.*line \d+"):
            replace(small_game.GAME, **changes).compile()


def test_a_rule_with_a_wrong_number_of_parameters_is_refused() -> None:
    with pytest.raises(CardaiError) as refused:
        replace(small_game.GAME, act=takes_too_little).new()
    said = "low_hand: act takes (state, move), but the rule is takes_too_little(state)"
    assert str(refused.value).startswith(said)
    assert f"line {line_of('def takes_too_little(state):')}" in str(refused.value)


@compiled_only
def test_a_rule_that_is_not_decorated_is_refused() -> None:
    with pytest.raises(CardaiError, match=r"settle must be a rule; mark undecorated with @rule \(.*line \d+: def"):
        replace(small_game.GAME, settle=undecorated).new()


def test_a_rule_that_is_no_function_is_refused() -> None:
    with pytest.raises(CardaiError, match="settle is 3; it must be a function marked @rule"):
        replace(small_game.GAME, settle=3).new()  # pyright: ignore[reportArgumentType]


@compiled_only
def test_a_rule_that_calls_itself_is_refused_where_it_is_defined() -> None:
    with pytest.raises(CardaiError, match=rf"endless calls itself; a rule must not, .*{HERE}, line \d+\)"):

        @rule
        def endless(n):
            return endless(n)


# Fields.


@pytest.mark.parametrize("name", sorted(set(dir(np.record)) | {"turn", "rng", "two words", "1st", "for", ""}))
def test_a_field_that_rules_could_not_use_is_refused(name: str) -> None:
    with pytest.raises(CardaiError, match="state_dtype: "):
        state_dtype(**{name: ()})
    if name not in ("turn", "rng"):
        with pytest.raises(CardaiError, match="move_dtype: "):
            move_dtype("card", name)


def test_the_refusal_of_a_field_says_why() -> None:
    with pytest.raises(
        CardaiError, match="cannot be named 'round', since NumPy records have an attribute of that name"
    ):
        state_dtype(hands=4, round=())
    with pytest.raises(CardaiError, match="move_dtype: the field 'card' is named twice"):
        move_dtype("card", "kind", "card")


@pytest.mark.parametrize("shape", [0, -1, 1.5, True, "4", None, [4], (4, 0), (2, 1.0), ((2,),)])
def test_a_field_with_an_impossible_shape_is_refused(shape: object) -> None:
    with pytest.raises(CardaiError, match=r"state_dtype: the shape of 'hands' is .*whole number"):
        state_dtype(hands=shape)  # pyright: ignore[reportArgumentType]


def test_shapes_of_whole_numbers_are_taken() -> None:
    assert state_dtype(one=(), list=3, board=(np.int64(2), 3))["board"].shape == (2, 3)
