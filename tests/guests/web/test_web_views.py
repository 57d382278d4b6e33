"""What seats and spectators of every game are shown is the same in all their worlds, and a fault shows a guess."""

import json
import random
import zlib
from pathlib import Path

import pytest
import small_game
from web_people import LOW_HAND, browser_at, open_at, served

import cardai
from cardai.game import Game, Zone
from cardai.guests.web.views import position_view
from cardai.playing.table.following import by_round
from cardai.playing.table.one import OneGame

EXAMPLES = Path(__file__).parents[3] / "examples"
OWN = [place.parent for place in EXAMPLES.glob("*/__init__.py")]
GAMES = {**{name: name for name in cardai.available()}, **{path.name: str(path) for path in OWN}}
LONG_LISTS = ("literature", "table"), ("literature", "strict")  # games and variants in which views are larger
WITHOUT_MOVES = {"moves": None, "more": None, "series": None}
FEW, ALL = 400, 100_000  # views: of each game, and of all games together


def compared(game: Game, views: int) -> tuple[int, list[str]]:
    """Compare at least this many views of games of any variant and number of seats with those of other worlds.

    Returns how many there were, and those that differ. A view is all that a seat is shown at a ply, with its own moves
    and the last line of the log; what a spectator of the seat is shown is compared beside it.
    """
    luck, done, differing = random.Random(game.name), 0, []
    while done < views:
        seats, variant = luck.choice(list(game.seats)), luck.choice(list(game.variants))
        specs = luck.choices([*game.agents.players, "random"], k=seats)
        table = OneGame(game, [cardai.agent(game, spec) for spec in specs], luck.getrandbits(64), variant)
        while True:
            for seat in range(seats):
                one, other = (shown(table, seat, luck.getrandbits(64), watches=False) for _ in range(2))
                watched = shown(table, seat, luck.getrandbits(64), watches=True)
                done += 1
                if one != other or {**one, **WITHOUT_MOVES} != {**watched, **WITHOUT_MOVES}:
                    differing.append(f"{variant}, {seats} seats, seed {table.seed}, ply {table.ply}, seat {seat}")
            if table.is_over or done >= views + 1000:
                break
            table.step()
    return done, differing


def shown(table: OneGame, seat: int, luck: int, watches: bool) -> dict:
    """All that depends on the game in what a seat is sent, or a spectator of it."""
    view = position_view(table, seat, luck, decides=not watches)
    view["log"] = table.events(seat, max(0, table.ply - 1), luck)
    view["rounds"] = by_round(table.game, view["log"], table.seen(seat, luck))
    return json.loads(json.dumps(view))


@pytest.mark.parametrize("name", GAMES)
def test_a_view_is_small_on_the_wire(name):
    """At most 2 kB with the compression that web sockets use, at the fullest table of each variant.

    In Literature with claims that need no proof, six seats list 372 moves, and a view has 2.3 kB.
    """
    game = cardai.load(GAMES[name])
    for variant in game.variants:
        table = OneGame(game, [cardai.agent(game, "random")] * game.seats[-1], 1, variant)
        while not table.is_over and table.ply < 60:
            for seat in range(game.seats[-1]):
                text = json.dumps(shown(table, seat, 1, watches=False), separators=(",", ":"))
                assert len(zlib.compress(text.encode())) <= (2400 if (name, variant) in LONG_LISTS else 2000)
            table.step()


@pytest.mark.parametrize("name", GAMES)
def test_views_are_the_same_in_all_worlds_of_a_seat(name):
    assert compared(cardai.load(GAMES[name]), FEW)[1] == []


@pytest.mark.slow
def test_a_hundred_thousand_views_are_the_same_in_all_worlds_of_their_seat():
    for path in GAMES.values():
        done, differing = compared(cardai.load(path), -(-ALL // len(GAMES)))
        print(f"{path}: {done} views, {len(differing)} differ")
        assert differing == []


def zones_with_all_hands(state, seat):
    """A fault: every hand lies face up."""
    return [Zone("Hand", int(state.hands[other]), seat=other) for other in range(int(state.seats))]


def show_with_all_hands(state, seat):
    """A fault: every hand is named."""
    return " / ".join(small_game.DECK.names(state.hands[other]) for other in range(int(state.seats)))


@pytest.mark.parametrize(
    "fault",
    [{"zones": zones_with_all_hands}, {"zones": None, "pieces": (), "picks": None, "show": show_with_all_hands}],
)
def test_views_of_a_game_that_leaks_differ(fault):
    done, differing = compared(LOW_HAND.changed(**fault), 100)
    assert len(differing) > done / 10


@pytest.mark.parametrize("watches", [False, True])
def test_a_game_that_leaks_sends_a_guess_and_not_the_hands(store, watches):
    """Whoever plays or watches is sent other players' hands, but not the true ones more often than by chance."""
    serving, rounds, true = served(store, LOW_HAND.changed(zones=zones_with_all_hands)), 40, 0
    room = serving.room
    with browser_at(serving) as client:
        for number in range(rounds):
            table_id, token = room.create({"game": "low_hand", "seats": ["me", "low", "low"], "name": "A"}, b"a")
            table = room.table(table_id)
            table.add_nonce(0, bytes([number]) * 32)
            if watches:
                token = room.join(table, room.invite(table, 0, {"watch": True}), b"b")
            with open_at(client, table_id, headers={"cookie": f"seat={token}"}) as socket:
                frame = socket.receive_json()
            assert frame["watches"] is watches
            hands = [sum(1 << piece for piece in zone["pieces"]) for zone in frame["zones"]]
            truth = [int(hand) for hand in table._game._state["hands"]][:3]
            assert hands[0] == truth[0]
            true += hands == truth
    assert true < rounds / 4
