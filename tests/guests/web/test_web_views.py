"""What seats and spectators of every game are shown is the same in all their worlds, and a fault shows a guess."""

import json
import random
import zlib
from pathlib import Path

import pytest
import small_game

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from starlette.testclient import TestClient

import cardai
from cardai.game import Game, Zone
from cardai.guests.web import server
from cardai.guests.web.guards import Hosts
from cardai.guests.web.offers import offer_of
from cardai.guests.web.store import Store
from cardai.guests.web.views import position_view
from cardai.playing.table.following import by_round
from cardai.playing.table.one import OneGame

EXAMPLES = Path(__file__).parents[3] / "examples"
OWN = [place.parent for place in EXAMPLES.glob("*/__init__.py")]
GAMES = {**{name: name for name in cardai.available()}, **{path.name: str(path) for path in OWN}}
LONG_LISTS = ("literature", "table"), ("literature", "strict")  # games and variants in which views are larger
WITHOUT_MOVES = {"moves": None, "more": None, "series": None}
FEW, ALL = 400, 100_000  # views: of each game, and of all games together
HOME, NONCE = "http://127.0.0.1:8000", "ab" * 32


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
    done, differing = compared(cardai.load(GAMES[name]), FEW)
    assert done >= FEW
    assert differing == []


@pytest.mark.slow
def test_a_hundred_thousand_views_are_the_same_in_all_worlds_of_their_seat():
    total = 0
    for path in GAMES.values():
        done, differing = compared(cardai.load(path), -(-ALL // len(GAMES)))
        print(f"{path}: {done} views, {len(differing)} differ")
        assert differing == []
        total += done
    assert total >= ALL


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
    done, differing = compared(small_game.GAME.changed(**fault), 100)
    assert len(differing) > done / 10


@pytest.mark.parametrize("watches", [False, True])
def test_a_game_that_leaks_sends_a_guess_and_not_the_hands(tmp_path, watches):
    """Whoever plays or watches is sent other players' hands, but not the true ones more often than by chance."""
    leaking = small_game.GAME.changed(zones=zones_with_all_hands)
    store, rounds, true = Store(tmp_path / "tables.sqlite"), 40, 0
    app = server.Server({"low_hand": offer_of(leaking)}, store, Hosts("127.0.0.1"))
    server_tables = app.room
    with TestClient(app.app, base_url=HOME, headers={"origin": HOME}) as client:
        for number in range(rounds):
            table_id, token = server_tables.create(
                {"game": "low_hand", "seats": ["me", "low", "low"], "name": "A"}, b"a"
            )
            table = server_tables.table(table_id)
            table.add_nonce(0, bytes([number]) * 32)
            if watches:
                invitation = server_tables.invite(table, server_tables.place(table, token), {"watch": True})
                token = server_tables.join(table, {"invitation": invitation}, 2)
            headers = {"cookie": f"seat={token}"}
            with client.websocket_connect(f"ws://127.0.0.1:8000/t/{table_id}/socket", headers=headers) as socket:
                frame = socket.receive_json()
            assert frame["watches"] is watches
            hands = [sum(1 << piece for piece in zone["pieces"]) for zone in frame["zones"]]
            truth = [int(hand) for hand in table._game._state["hands"]][:3]
            assert hands[0] == truth[0]
            true += hands == truth
    store.close()
    assert true < rounds / 4
