"""A game in which it matters who knows what: a coin lies covered, and only seat 1 has looked at it.

Seat 0 takes a sure share, or lets the coin be guessed: in the variant `own` by itself, in `other` by seat 1.
Whoever guesses right takes all, else the other seat does. So to let it be guessed is worth 1/2 or nothing to seat 0.
"""

from cardai.game import Agents, Game, Player, Rules, Text, move_dtype, state_dtype
from cardai.rules import below, rule

STATE = state_dtype(guesser=(), coin=(), sure=(), guess=())
MOVE = move_dtype("says")


@rule
def deal(state):
    state.coin = below(state, 2)


@rule
def legal(state, moves):
    for says in range(2):
        moves[says].says = says
    return 2


@rule
def act(state, move):
    if state.ply == 1:
        state.sure = 1 - move.says
    else:
        state.guess = move.says


@rule
def settle(state):
    state.turn = state.guesser if state.ply == 1 and state.sure == 0 else -1


@rule
def score(state, seat):
    if state.sure:
        own = 0.6 if state.guesser == 0 else 0.3
    else:
        own = 1.0 if (state.guess == state.coin) == (state.guesser == 0) else 0.0
    return own if seat == 0 else 1.0 - own


@rule
def resample(state, seat, stream):
    if seat == 0 and state.turn >= 0:
        state.coin = below(stream, 2)


@rule
def blank(state, seat):
    if seat == 0 and state.turn >= 0:
        state.coin = 0


@rule
def knowing(world, move, params, stream):
    move.says = world.coin if world.ply > 0 else 1


GAME = Game(
    name="guess",
    title="Guess",
    version=1,
    seats=range(2, 3),
    state=STATE,
    move=MOVE,
    max_moves=2,
    max_plies=2,
    score_sum=lambda seats: 1.0,
    variants={"own": {"guesser": 0}, "other": {"guesser": 1}},
    rules=Rules(deal, legal, act, settle, score, resample=resample, blank=blank),
    text=Text(
        spell=lambda state, move: str(int(move["says"])),
        parse=lambda state, text: next(move for move in GAME.moves(state) if str(int(move["says"])) == text),
        show=lambda state, seat: f"coin {int(state.coin)}",
    ),
    agents=Agents(
        players={"knowing": Player(knowing, "guesses what lies in its world")},
    ),
)
