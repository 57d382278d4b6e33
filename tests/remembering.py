"""Planted adversaries: Python agents that remember the hands they were dealt, to put the hands of one deal together.

All play by rollouts, by the player that the game names for these, as if a world were the truth. `forgetful` takes the
world that it is given. `remembering` looks in its memory for the hands that the other seats were dealt in the same
deal, which it had itself in other rotations of it, and moves their cards to where they must be. `writing` keeps its
memory in the file that CARDAI_NOTES names, which other processes read. `counting` takes for one deal what comes in a
row. `timing` takes for one deal what it was asked within a twentieth of a second. `noting` only puts hands together.
`PUT_TOGETHER` says of each attempt whether a whole deal was found.
"""

import json
import os
import time
from pathlib import Path

import numpy as np

from cardai.game.compiled.native import at, call_score, get, raw, set_float, turn_of
from cardai.game.compiled.rules import SCORE, lend, play_move
from cardai.playing.agents.spec import agent
from cardai.playing.compiled import driver
from cardai.playing.table.cast import cast_of, scratch_of
from cardai.rules import STREAM, rule

PLAYOUTS = 2
PUT_TOGETHER: list[int] = []
_starts: dict[str, list[tuple[int, int, int, int, float]]] = {}
_players: dict[str, tuple] = {}
_stream = np.zeros(1, STREAM)
_stream["rng"] = 1


@rule
def play_out(rules, cast, scratch, states, count, seats, scores, streams, chosen):
    """Play `count` states on, all seats by the cast's player. `scores`: f8[count], that of seats[i] in the i-th."""
    move, stream = at(chosen, 0), at(streams, 0)
    for i in range(count):
        state, plies = at(states, i), 0
        while turn_of(state) >= 0 and plies < 500:
            plies += 1
            driver.decide(rules, cast, 0, state, cast.params, 0, True, scratch, stream, move)
            play_move(rules, state, move)
        if turn_of(state) < 0:
            set_float(scores, i, call_score(get(rules.calls, SCORE), state, get(seats, i)))


def best_move(game, world):
    """The move with the best mean score of playouts in a world."""
    moves, seat = game.moves(world), int(world["turn"])
    if len(moves) == 1:
        return moves[0]
    if game.name not in _players:
        _players[game.name] = cast_of(game, [agent(game, game.agents.playouts).strategy]), scratch_of(game)
    states = np.repeat(np.array([game.play(world, move) for move in moves], game.state), PLAYOUTS)
    scores, seats, chosen = np.zeros(len(states)), np.full(len(states), seat), np.zeros(1, game.move)
    lent = lend(game.compiler.rules), *map(lend, _players[game.name]), raw(states), len(states)
    play_out(*lent, raw(seats), raw(scores), raw(_stream), raw(chosen))
    return moves[int(np.argmax(scores.reshape(len(moves), PLAYOUTS).mean(axis=1)))]


def start_of(game, world):
    """The hand that the seat to move was dealt, as far as it shows; None once it has drawn or picked up cards."""
    seat, names = int(world["turn"]), game.state.names
    if "played" in names:
        return int(world["hands"][seat] | world["played"][seat])
    drew = int(world["drew" if "drew" in names else "drawn"])
    return None if drew >> seat & 1 or int(world["discards"]) else int(world["hands"][seat])


def others_in(notes, game, world, start):
    """The hands of other seats in the deal in which the seat to move was dealt `start`: {seat: cards}."""
    seat, trump = int(world["turn"]), _trump(game, world)
    fitting = [note for note in notes if note[0] != seat and note[1] == trump and not note[2] & start]
    if "played" not in game.state.names:  # the newest ones that fit each other
        found, taken = {}, start
        for other, _, cards, _, _ in reversed(fitting):
            if other not in found and not cards & taken:
                found[other], taken = cards, taken | cards
        return found
    for one in fitting:  # all cards are dealt: the hands must be the deck
        for two in fitting:
            if one[0] < two[0] and not one[2] & two[2]:
                for three in fitting:
                    if two[0] < three[0] and start | one[2] | two[2] | three[2] == (1 << 52) - 1:
                        return {note[0]: note[2] for note in (one, two, three)}
    return {}


def _trump(game, world):
    return int(world["trump_card"]) if "trump_card" in game.state.names else -1


def corrected(game, world, others):
    """The world with cards that seats were dealt in their hands, if those are among the cards that it has hidden."""
    world, seat = world.copy(), int(world["turn"])
    hands = world["hands"]
    for owner, cards in others.items():
        for card in range(52):
            wanted, bit = cards >> card & 1, 1 << card
            if not wanted or hands[owner] & bit:
                continue
            holder = next((other for other in range(len(hands)) if other != seat and hands[other] & bit), None)
            spare = int(hands[owner]) & ~cards
            if holder is None or not spare:
                continue
            given = spare & -spare
            hands[owner] = int(hands[owner]) & ~given | bit
            hands[holder] = int(hands[holder]) & ~bit | given
    return world


def forgetful(game, world):
    return best_move(game, world)


def _by(game, world, read, write, is_near=lambda note: True):
    start, seat = start_of(game, world), int(world["turn"])
    if start is None:
        return best_move(game, world)
    notes = read()
    if not any(note[0] == seat and note[2] == start for note in notes):
        write((seat, _trump(game, world), start, len(notes), time.monotonic()))
    others = others_in([note for note in notes if is_near(note)], game, world, start)
    PUT_TOGETHER.append(len(others) == int(world["seats"]) - 1)
    return best_move(game, corrected(game, world, others))


def remembering(game, world):
    notes = _starts.setdefault(game.name, [])
    return _by(game, world, lambda: notes, notes.append)


def counting(game, world):
    notes = _starts.setdefault(f"{game.name} counted", [])
    return _by(game, world, lambda: notes, notes.append, lambda note: note[3] > len(notes) - 2 * int(world["seats"]))


def timing(game, world):
    notes = _starts.setdefault(f"{game.name} timed", [])
    return _by(game, world, lambda: notes, notes.append, lambda note: note[4] > time.monotonic() - 0.05)


def writing(game, world):
    place = Path(os.environ["CARDAI_NOTES"])

    def read():
        return [tuple(json.loads(line)) for line in place.read_text().splitlines()] if place.exists() else []

    def write(note):
        with place.open("a") as file:
            file.write(json.dumps(note) + "\n")

    return _by(game, world, read, write)


def noting(game, world):
    """Puts hands together as `remembering` does, and plays the first legal move: it shows whether that is possible."""
    notes, start, seat = _starts.setdefault(f"{game.name} noted", []), start_of(game, world), int(world["turn"])
    if start is not None:
        if not any(note[0] == seat and note[2] == start for note in notes):
            notes.append((seat, _trump(game, world), start, len(notes), 0.0))
        PUT_TOGETHER.append(len(others_in(notes, game, world, start)) == int(world["seats"]) - 1)
    return game.moves(world)[0]


def noting_too(game, world):
    return noting(game, world)
