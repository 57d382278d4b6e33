"""What is sent about people, or while an agent plays for them, holds no card that is hidden from a seat."""

import re

import pytest
import small_game
from web_people import LOW_HAND, frames, open_at, post, take_part, watch, with_a_friend

from cardai.guests.web.room import Presence
from cardai.guests.web.tables import WebTable

SEATS = ("me", "friend", "low", "random")
NAMES = re.compile(rf"\b(?:{'|'.join(LOW_HAND.table.pieces)})\b")


def hidden_from(state, seat: int) -> set[int]:
    """The cards that a seat does not see at the end of what was sent: no card is hidden again once it was seen."""
    hands = [int(state["hands"][other]) & ~int(state["known"][other]) for other in range(len(SEATS)) if other != seat]
    deck = [1 << int(card) for card in state["deck"][: int(state["deck_left"])]]
    return {card for card in range(small_game.CARDS) if any(place >> card & 1 for place in (*hands, *deck))}


def texts(value) -> list[str]:
    """All texts in a frame."""
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (key, *texts(one))]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] * isinstance(value, str)


def leaks(frame: dict, state, seat: int) -> list[str]:
    """What a frame to a seat holds that it must not: hidden cards, or more than is known of people."""
    if "company" in frame:
        sent = frame["company"]
        right = frame.keys() == {"company"} and sent.keys() == {"here", "watching", "waits"}
        waits = all(one in (0, 1) and isinstance(seconds, float) for one, seconds in sent["waits"])
        return [] if right and waits and {*sent["here"]} <= {0, 1} and 0 <= sent["watching"] <= 1 else ["company"]
    hidden = hidden_from(state, seat)
    shown = {piece for zone in frame.get("zones", ()) for piece in zone["pieces"]}
    shown |= {piece for _, pieces in frame.get("moves", ()) for piece in pieces}
    said = {name for text in texts({**frame, "pieces": []}) for name in NAMES.findall(text)}
    return [LOW_HAND.table.pieces[piece] for piece in hidden if piece in shown or LOW_HAND.table.pieces[piece] in said]


def everything_sent(client, room, rounds: int = 4) -> tuple[int, int, list[str]]:
    """Play games in which a friend leaves and comes back. Returns counts of frames and views, and all leaks."""
    counted, shown, found = 0, 0, []
    for _ in range(rounds):
        table, friend = with_a_friend(client, seats=SEATS)
        spectator, kept = watch(client, table), []
        with open_at(client, table) as mine, open_at(friend, table) as theirs, open_at(spectator, table) as eyes:

            def take(until, seat=0, socket=mine, kept=kept):
                """Take frames of a socket until one is as wanted."""
                return frames(socket, lambda now: kept.append((seat, now)) or until(now))

            take_part(mine, theirs)
            view = take(lambda now: "moves" in now)
            post(friend, f"/t/{table}/leave")
            while not view["over"] and view["ply"] < 8:
                ply = view["ply"]
                words = next((one for one, _ in view["moves"] if one != "stops"), view["moves"][0][0])
                mine.send_json({"ply": ply, "move": words})
                view = take(lambda now: now.get("over") or (now.get("ply", -1) > ply and "moves" in now))  # noqa: B023
            post(friend, f"/t/{table}/back")
            for seat, socket in ((0, mine), (1, theirs), (0, eyes)):
                take(lambda now: "seats" in now and now.get("ply", -1) >= view["ply"], seat, socket)  # noqa: B023
            state = room.table(table)._game._state
        counted += len(kept)
        shown += sum("zones" in frame for _, frame in kept)
        found += [leak for seat, frame in kept for leak in leaks(frame, state, seat)]
    return counted, shown, found


def test_no_frame_holds_a_hidden_card(client, serving):
    counted, shown, found = everything_sent(client, serving.room)
    assert (shown > 30, counted - shown > 12) == (True, True)
    assert found == []


def name_of_hand(table: WebTable, seat: int) -> str:
    return small_game.DECK.names(int(table._game._state["hands"][seat])) if table._game else ""


def plant_in_the_company(monkeypatch):
    real = Presence.as_json
    monkeypatch.setattr(Presence, "as_json", lambda self: real(self) | {"next": 7})


def plant_in_who_sits_there(monkeypatch):
    real = WebTable._who
    monkeypatch.setattr(
        WebTable, "_who", lambda self, other, *rest: real(self, other, *rest) | {"was": name_of_hand(self, other)}
    )


def plant_in_the_view_of_who_is_gone(monkeypatch):
    """The agent's world is the truth, and what it sees is shown."""
    real = WebTable._view

    def view(self, seat, watches):
        shown = real(self, seat, watches)
        return shown | ({"trouble": name_of_hand(self, 2)} if any("gone" in who for who in shown["seats"]) else {})

    monkeypatch.setattr(WebTable, "_view", view)


@pytest.mark.parametrize("plant", [plant_in_the_company, plant_in_who_sits_there, plant_in_the_view_of_who_is_gone])
def test_a_planted_leak_is_found(client, serving, monkeypatch, plant):
    plant(monkeypatch)
    assert everything_sent(client, serving.room, rounds=1)[2]
