"""Declared states and moves: what follows from them, and that nothing hidden can be in it."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from flat import made_of
from hypothesis import given, settings
from hypothesis import strategies as st

import cardai
from cardai.cli import main as cli
from cardai.errors import CardaiError
from cardai.game.declared import (
    NONE,
    Card,
    Each,
    Flag,
    Hand,
    Held,
    Known,
    Lacks,
    Moves,
    Number,
    Option,
    Pile,
    Seat,
    Seats,
    Slots,
    State,
    Stock,
    Suit,
    Word,
    state_of,
)  # fmt: skip
from cardai.rules import rule
from cardai.rules.cards import DECK36, Deck

EXAMPLES = Path(__file__).parents[1] / "examples"
WHIST, THIRTYONE = (cardai.load(str(EXAMPLES / name)) for name in ("whist", "thirtyone"))
SMALL = Deck(ranks="A23", suits="CD")


@pytest.fixture
def state():
    return State(
        SMALL, 3,
        hands=Hand(known="known", lacks="lacks"), known=Known("hands"), lacks=Lacks("hands"), stock=Stock(),
        pile=Pile("discards"), top=Card("top card"), leader=Seat("leader"), trump=Suit("trump"),
        tricks=Each(Number("tricks", high=9)), out=Seats(says="is out"), phase=Word("", "bids", "plays", name="phase"),
    )  # fmt: skip


@rule
def nothing(state):
    return


@rule
def no_moves(state, moves):
    return 0


@rule
def no_act(state, move):
    return


@rule
def no_score(state, seat):
    return 0.0


def game(state, move=None, **more):
    rules = {"deal": nothing, "legal": more.pop("legal", no_moves), "act": no_act, "settle": nothing, "score": no_score}
    move = Moves("passes", "plays {card}", "names {card:suit}") if move is None else move
    return made_of(
        name="some", title="Some", version=1, seats=range(2, 4), max_plies=9, state=state, move=move, **rules, **more
    )


def position(state, **fields):
    record = np.zeros(1, state.dtype)[0]
    record["seats"], record["top"] = 3, NONE
    for name, value in fields.items():
        record[name] = value
    return record


def test_what_is_derived_and_that_a_game_may_give_its_own(state):
    def show(record, seat):
        return "own"

    made, own = game(state), game(state, show=show)
    assert made.state is state.dtype
    assert state_of(made.state) is state
    assert made.table.pieces == SMALL.all_names
    assert own.text.show is show
    assert own.table.zones is not None
    assert list(made.learning.encoders) == ["planes"]
    assert made.max_moves == len(made.learning.actions) == 1 + 6 + 2
    assert made.changed(title="Other").text.show is made.text.show


def test_a_game_without_a_declaration_says_what_it_lacks(state):
    with pytest.raises(CardaiError, match="the game needs resample; it follows from a State"):
        game(state).changed(resample=None)
    with pytest.raises(CardaiError, match="it must be a State, or made by state_dtype"):
        game(object())
    with pytest.raises(CardaiError, match="Moves need a state that is a State"):
        game(state).changed(move=Moves("passes"))
    with pytest.raises(CardaiError, match="known: there is no field 'know'"):
        State(SMALL, 2, hands=Hand(known="know"))
    with pytest.raises(CardaiError, match="kind of slot 'colour'"):
        Moves("names {colour}")


def test_the_view_shows_what_its_seat_sees_and_nothing_else(state):
    made = game(state)
    record = position(
        state, hands=[0b000011, 0b001100, 0b010000], known=[0, 0b000100, 0], stock=0b100000, trump=1, phase=1
    )
    other = position(
        state, hands=[0b000011, 0b010100, 0b100000], known=[0, 0b000100, 0], stock=0b001000, trump=1, phase=1
    )
    for seat in range(3):
        same = seat == 0
        assert (made.text.show(record, seat) == made.text.show(other, seat)) is same
        assert (made.table.zones(record, seat) == made.table.zones(other, seat)) is same
    text = """
        Stock: 1 card.
        Discards: none.
        Top card: none.
        Leader: p0.
        Trump: diamonds.
        Phase: bids.
        p0 (you): 2 cards, tricks 0.
        p1: 2 cards, holds 2C, tricks 0.
        p2: 1 card, tricks 0.
        Your hand: AC AD.
    """
    assert made.text.show(record, 0).splitlines() == [line.strip() for line in text.strip().splitlines()]


ALIKE = State(SMALL, 2, (4,) * 6, hands=Hand(known="known"), known=Known("hands"), stock=Stock(), pile=Pile(),
              won=Each(Pile()), top=Card("top card"))  # fmt: skip


def test_cards_that_are_alike_are_seen_as_often_as_they_are_there():
    made, record = game(ALIKE), position(ALIKE)
    record["seats"], record["stock"][2], record["pile"][:2], record["won"][:, 3] = 2, 1, (2, 1), (1, 2)
    record["hands"][:, :2], record["known"][1, 0] = [(0, 2), (2, 1)], 1
    text = """
        Stock: 1 card.
        Pile: AC AC AD.
        Won: p0 2D, p1 2D 2D.
        Top card: none.
        p0 (you): 2 cards.
        p1: 3 cards, holds AC.
        Your hand: AD AD.
    """
    assert made.text.show(record, 0).splitlines() == [line.strip() for line in text.strip().splitlines()]
    zones = made.table.zones(record, 0)
    assert [(zone.name, zone.listed, zone.hidden, zone.marks) for zone in zones[:-1]] == [
        ("Hand", [1, 1], 0, {}), ("Hand", [0], 2, {}), ("Stock", [], 1, {}),
        ("Pile", [0, 1], 0, {0: "2 x"}), ("Won", [3], 0, {3: "3 x"}),
    ]  # fmt: skip
    assert made.lying(record) == [[1, 1], [0, 0, 1], [2], [0, 0, 1], [3, 3, 3], []]
    shown, at = {}, 0
    for segment in made.encoder().layout(2):
        size = int(np.prod(segment.shape))
        shown[segment.name], at = made.encode(record, 0)[at : at + size].tolist(), at + size
    assert (shown["own hand"], shown["hand as all know it: seat +1"]) == ([0, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    assert (shown["hand sizes"], shown["stock size"], shown["won: seat +1"]) == ([2, 3], [1], [0, 0, 0, 2, 0, 0])
    assert made.weigh(record) == 1 / 2  # for the two of AD; one of the two of AC is certain


def test_words_of_moves_are_read_back(state):
    @rule
    def legal(record, moves):
        n = add(moves, 0, 0, 0)
        n = add_each(moves, n, 1, record.hands[record.turn])
        return add(moves, n, 2, 1)

    move = Moves("passes", "plays {card}", "names {card:suit}")
    add, add_each = move.add, move.add_each
    made, record = game(state, move, legal=legal), position(state, hands=[0b001001, 0, 0])
    spelled = [made.text.spell(record, one) for one in made.moves(record)]
    assert spelled == ["passes", "plays AC", "plays 2D", "names diamonds"]
    assert [made.text.parse(record, text).item() for text in spelled] == made.moves(record).tolist()
    for text, item in (("play d2", (1, 3)), ("2D", (1, 3)), ("pass", (0, 0)), ("name diamonds", (2, 1))):
        assert made.text.parse(record, text).item() == item
    with pytest.raises(ValueError, match="'plays 9H' is no move here; a move is passes, plays AC, plays 2D or names"):
        made.text.parse(record, "plays 9H")
    assert [made.table.picks(record, np.array([form], made.move)[0]) for form in ((0, 0), (1, 3), (2, 1))] == [0, 8, 0]


def test_a_hidden_move_is_told_without_its_card(state):
    made = game(state, Moves("passes", "puts {card} away", hidden=[1]))
    move = np.array([(1, 3)], made.move)[0]
    assert made.text.spell(position(state), move) == "puts 2D away"
    assert made.text.tell(position(state), move, 1) == "puts a card away"


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_moves_of_cards_keep_what_all_know(data):
    declared = State(SMALL, 2, hands=Hand(known="known", lacks="lacks"), known=Known("hands"), lacks=Lacks("hands"),
                     stock=Stock(), pile=Pile())  # fmt: skip
    draw, take, drop = declared.move("stock", "hands"), declared.move("pile", "hands"), declared.move("hands", "pile")
    record = np.zeros(1, declared.dtype)[0]
    record["seats"], record["stock"], record["lacks"] = 2, 0b111111, [0b11, 0b11]
    seen = [set(), set()]
    for _ in range(data.draw(st.integers(0, 12))):
        seat = data.draw(st.integers(0, 1))
        source = data.draw(st.sampled_from(["stock", "pile", "hands"]))
        cards = record[source] if source != "hands" else record["hands"][seat]
        if not cards:
            continue
        card = data.draw(st.sampled_from(SMALL.listed(cards)))
        if source == "stock":
            draw(record, 1 << card, seat)
            assert record["lacks"][seat] == 0  # it may be anything
        elif source == "pile":
            take(record, 1 << card, seat)
            seen[seat].add(card)
        else:
            drop(record, 1 << card, seat)
            seen[seat].discard(card)
    assert [SMALL.listed(known) for known in record["known"]] == [sorted(cards) for cards in seen]
    everywhere = [*record["hands"], record["stock"], record["pile"]]
    assert sum(int(cards) for cards in everywhere) == 0b111111


def test_of_cards_that_are_alike_those_that_all_know_leave_a_hand_first():
    draw, play, take = ALIKE.move("stock", "hands"), ALIKE.move("hands", "pile"), ALIKE.move("pile", "hands")
    lay, lift = ALIKE.move("hands", "top"), ALIKE.move("top", "hands")
    record = np.zeros(1, ALIKE.dtype)[0]
    record["stock"][4] = 4
    for move, number, held, known in (
        (draw, 4, 4, 0),
        (play, 3, 1, 0),
        (take, 2, 3, 2),
        (play, 1, 2, 1),
        (play, 2, 0, 0),
    ):
        move(record, 4, number, 1)
        assert (record["hands"][1, 4], record["known"][1, 4]) == (held, known)
    assert (record["stock"][4], record["pile"][4]) == (0, 4)
    take(record, 4, 2, 1)
    lay(record, 4, 1)
    assert (record["hands"][1, 4], record["top"]) == (1, 4)
    lift(record, 4, 0)
    assert (record["hands"][0, 4], record["known"][0, 4], record["top"]) == (1, 1, NONE)


def test_a_move_that_would_need_more_knowledge_is_refused(state):
    with pytest.raises(CardaiError, match="goes unseen from hands to stock"):
        state.move("hands", "stock")
    with pytest.raises(CardaiError, match="there is no place 'deck'"):
        state.move("deck", "hands")
    with pytest.raises(CardaiError, match="there is no place 'leader'"):
        state.move("hands", "leader")


def test_worlds_keep_sizes_and_what_is_known_and_lacking():
    for game in (WHIST, THIRTYONE):
        for seed in range(20):
            record = game.new(3, seed)
            while record.ply < seed % 7 and record.turn >= 0:
                moves = game.moves(record)
                record = game.play(record, moves[seed % len(moves)])
            for seat in range(3):
                world = game.world(record, seat, seed)
                assert world.hands[seat] == record.hands[seat]
                for other in range(3):
                    assert int(world.hands[other]).bit_count() == int(record.hands[other]).bit_count()
                    assert world.known[other] & ~world.hands[other] == 0
                    if game is WHIST and other != seat:
                        assert world.hands[other] & world.lacks[other] & ~world.known[other] == 0


def test_worlds_of_single_cards_and_of_hands_that_open():
    declared = State(SMALL, 2, hands=Held(opens="shown"), stock=Stock(), shown=Flag())
    made = game(declared)
    record = np.zeros(1, declared.dtype)[0]
    record["seats"], record["hands"], record["stock"] = 2, [0, 1], 0b111100
    found = {int(made.world(record, 0, seed).hands[1]) for seed in range(200)}
    assert found == {1, 2, 3, 4, 5}
    record["shown"] = 1
    assert {int(made.world(record, 0, seed).hands[1]) for seed in range(50)} == {1}
    assert "p1: 1 card, holds AD." in made.text.show(record, 0)


def held(declared, name, *cards):
    """Cards as a field keeps them: counts, a wide set or a set."""
    if declared.fields[name].what == "counts":
        return np.bincount(cards, minlength=declared.kinds)
    sets = [sum(1 << card - first for card in cards if first <= card < first + 60) for first in (0, 60)]
    return sets if declared.is_wide else sets[0]


@pytest.mark.parametrize(("deck", "copies", "step"), [(SMALL, (), 1), (Deck(packs=2), (), 20), (SMALL, (2,) * 6, 1)])
def test_worlds_and_blanks_keep_what_a_seat_knows_of_sets_wide_sets_and_counts(deck, copies, step):
    a, b, c, d, e, f = range(0, 6 * step, step)
    declared = State(deck, 2, copies, hands=Hand(known="known", lacks="lacks"), known=Known("hands"),
                     lacks=Lacks("hands"), single=Held("Single"), stock=Stock())  # fmt: skip
    made, record = game(declared), np.zeros(1, declared.dtype)[0]
    record["seats"], record["single"] = 2, [d, e]
    for name, seat, cards in (("hands", 0, [a]), ("hands", 1, [b, c]), ("known", 1, [b]), ("lacks", 1, [f])):
        record[name][seat] = held(declared, name, *cards)
    record["stock"] = held(declared, "stock", f)
    found = set()
    for seed in range(60):
        world = made.world(record, 0, seed)
        lie = {name: declared.lying(name, np.array([world]))[0] for name in declared.places}
        assert (sum(place.sum(axis=0) for place in lie.values())[[a, b, c, d, e, f]] == 1).all()
        assert (lie["hands"][0, a], lie["hands"][1, b], lie["hands"][1].sum(), world["single"][0]) == (1, 1, 2, d)
        found.add((*np.flatnonzero(lie["hands"][1]).tolist(), int(world["single"][1])))
    assert found == {(b, c, e), (b, c, f), (b, e, c), (b, e, f)}  # all but f in the hand
    made.rules.blank(record, 0)
    lie = declared.lying("hands", np.array([record]))[0]
    assert (lie[0, a], lie[1, b], lie[1].sum(), declared.lying("stock", np.array([record])).sum()) == (1, 1, 2, 1)
    assert record["single"].tolist() == [d, 0]


def test_an_option_is_said_where_it_is_not_as_in_the_first_variant():
    declared = State(SMALL, 2, hands=Hand(), limit=Option(high=9), strict=Option(high=1))
    made = game(declared, variants={"five": {"limit": 5}, "free": {}, "strict": {"limit": 5, "strict": 1}})
    shown = {name: made.text.show(made.new(2, 1, name), 0).splitlines()[:-3] for name in made.variants}
    assert shown == {"five": [], "free": ["Limit: 0."], "strict": ["Strict."]}


def test_what_lies_in_slots_needs_a_rule_of_the_game():
    with pytest.raises(CardaiError, match="some: resample: write this rule yourself"):
        game(State(SMALL, 2, copies=(2,) * 6, hands=Slots(2), deck=Stock()))


def test_seats_turn_in_every_field_that_names_them(state):
    record = position(
        state, hands=[1, 2, 4], known=[1, 0, 0], leader=2, out=0b011, tricks=[5, 6, 7], turn=1, revealed=0b100, stock=8
    )
    turned = state.turned(np.array([record]), 1)[0]
    assert turned["hands"].tolist() == [4, 1, 2]
    assert (turned["leader"], turned["out"], turned["turn"], turned["revealed"]) == (0, 0b110, 2, 0b001)
    assert turned["tricks"].tolist() == [7, 5, 6]
    assert (turned["stock"], turned["trump"]) == (record["stock"], record["trump"])


def test_the_same_fields_with_another_deck(state):
    other = state.with_deck(DECK36)
    assert other.dtype is not state.dtype
    assert (other.kinds, list(other.fields)) == (36, list(state.fields))


def test_authors_are_shown_what_follows(capsys):
    assert cli.run(["games", str(EXAMPLES / "thirtyone"), "--plies", "3", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["fields"]["hands"]["seen by"] == "its own seat"
    assert {name for name, origin in shown["parts"].items() if origin == "its declaration"} >= {
        "resample",
        "show",
        "spell",
    }
    assert shown["parts"]["max_moves"] == "the game"
    assert "Your hand" in shown["text"]
    assert cli.run(["games", "tictactoe"]) == 0
    assert "The game does not declare its state" in capsys.readouterr().out


def test_tracebacks_show_the_lines_of_derived_rules():
    source = THIRTYONE.rules.resample
    text = getattr(source, "py_func", source)
    assert "some_of(unseen, count(state.hands[other] & ~state.known[other]), stream)" in inspect.getsource(text)
    assert text.__code__.co_filename.startswith("<declared thirtyone: resample")


@pytest.mark.parametrize("name", ["whist", "thirtyone", "crazy"])
def test_suits_exchange_their_names_in_all_that_is_declared(name):
    """Card by card: sets of 52 and of 104 cards, single cards and suits; and back again."""
    game, names = cardai.load(str(EXAMPLES / name)), (2, 0, 3, 1)
    declared, states, rng = state_of(game.state), [game.new(seed=3)], np.random.default_rng(0)
    while states[-1].turn >= 0:
        moves = game.moves(states[-1])
        states.append(game.play(states[-1], moves[rng.integers(len(moves))]))
    states = np.array(states, game.state)
    renamed, cards = declared.renamed(states, names), declared.deck.renamed(names)
    assert [declared.deck.all_names[card][-2] for card in cards] == [card[-2] for card in declared.deck.all_names]
    for field in declared.places:
        assert (declared.lying(field, renamed)[..., cards] == declared.lying(field, states)).all()
    for field in ("trump", "suit"):
        if field in declared.fields:
            assert (renamed[field] == np.array([*names, NONE])[states[field]]).all()
    assert declared.renamed(renamed, [names.index(suit) for suit in range(4)]).tobytes() == states.tobytes()
    assert renamed.tobytes() != states.tobytes()
