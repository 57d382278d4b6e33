"""A game that brings no `parse`: a text is the legal move that is spelled so, or the only one that it shortens."""

import pytest

import cardai
from cardai.laws import check

GAME = cardai.load("examples/crazy").changed(parse=None)  # pyright: ignore[reportArgumentType]
WITHOUT = cardai.load("moska").changed(parse=None)  # pyright: ignore[reportArgumentType]


def state_with(*wanted: str) -> tuple[object, list[str]]:
    """A position in which moves of these first words are legal, and the moves as they are spelled."""
    state = GAME.new(seed=1)
    while state.turn >= 0:
        moves = GAME.moves(state)
        spelled = [GAME.text.spell(state, move) for move in moves]
        if {text.split()[0] for text in spelled} >= {*wanted}:
            return state, spelled
        state = GAME.play(state, moves[0])
    raise AssertionError(f"no position with {wanted}")


def test_a_move_is_read_by_its_spelling_in_any_case_and_by_its_last_word():
    state, spelled = state_with("plays", "draws")
    for text in spelled:
        for way in (text, text.upper(), f"  {text.replace(' ', '   ')} ", text.split()[-1]):
            assert GAME.text.spell(state, GAME.text.parse(state, way)) == text


def test_a_verb_may_be_typed_as_it_is_said_to_the_player():
    state, spelled = state_with("plays", "draws")
    plain = [text.replace("plays", "play").replace("draws", "draw") for text in spelled]
    assert [GAME.text.spell(state, GAME.text.parse(state, text)) for text in plain] == spelled


def test_suits_are_named_by_a_word_alone():
    state, _ = state_with("names")
    assert GAME.text.spell(state, GAME.text.parse(state, "hearts")) == "names hearts"


def test_words_may_be_left_out_before_the_last_one():
    game = cardai.load("literature")
    state = game.new(seed=1, variant="table")
    for text in (game.text.spell(state, move) for move in game.moves(state)):
        short = text.lower().replace("asks ", "ask ").replace(" for", "")
        assert game.text.spell(state, game.text.parse(state, short)) == text
        with pytest.raises(ValueError, match="is no move here"):
            game.text.parse(state, " ".join(text.split()[:-1]))


@pytest.mark.parametrize("text", ["", "nonsense", "plays", "draws two"])
def test_what_is_no_move_is_refused_with_moves_that_are(text):
    state, spelled = state_with("plays", "draws")
    with pytest.raises(ValueError, match="is no move here; a move is ") as refused:
        GAME.text.parse(state, text)
    assert any(move in str(refused.value) for move in spelled)


def test_a_text_that_ends_two_moves_is_neither():
    game = GAME.changed(spell=lambda state, move: f"{GAME.text.spell(state, move)} now")
    state, _ = state_with("plays", "draws")
    with pytest.raises(ValueError, match="'now' is no move here"):
        game.text.parse(state, "now")
    assert (
        game.text.spell(state, game.text.parse(state, "draw now")) == "draws now"
    )  # by the spelling of the changed game


def test_a_game_of_many_moves_keeps_the_laws_of_texts():
    results = check(WITHOUT, laws=["spelling_is_understood", "text_changes_nothing"], effort="quick")
    assert [result.verdict for result in results] == ["holds", "holds"]
