"""Any game as a game of OpenSpiel.

    game = pyspiel.load_game(register("durak", seats=3))        # "cardai_durak"
    state = game.new_initial_state()

Chance is listed where the game is small enough: then every deal and every draw is an outcome, as CFR and
exploitability need it. Elsewhere chance is one node, the seed of the game, of which 65 536 are on offer. After it a
clone of the state knows the draws to come, so MCTS and minimax are fair only where nothing is hidden. ISMCTS is fair
everywhere (`resample_from_infostate` gives worlds), and so are algorithms that learn from play.
"""

from typing import Any

import numpy as np
import pyspiel  # pyright: ignore[reportMissingImports]

from cardai.errors import CardaiError
from cardai.game import Game, GameState, is_game
from cardai.game.compiled.together import told_of
from cardai.guests.exact.listing import ListedChance, Way
from cardai.playing.agents.choosing import KINDS, Actions, Choice, Views, played, usual_score
from cardai.registry import load

SEEDS = 65_536
"""How many seeds the chance node of a game with sampled chance offers."""
_MOST_DEALS = 1000  # a game with more deals gets the node of seeds, unless it is asked to list them
_MOST_WAYS = 10_000
_registered: dict[str, tuple[Any, ...]] = {}


def register(
    game: str | Game,
    *,
    seats: int | None = None,
    variant: str | None = None,
    encoder: str | None = None,
    chance: str = "auto",
    name: str | None = None,
    kinds: int = KINDS,
) -> str:
    """Register a game with OpenSpiel. Returns its name there, `cardai_` and the name of the game.

    game: a game, its name or its path. seats, variant, encoder: the game's usual ones if they are not given. chance:
    "listed" (every deal and draw is an outcome), "sampled" (one node, the seed), or "auto": listed if there are at most
    1000 deals. name: another name, for a second table of the same game. kinds: see `cardai.playing.agents.choosing`.
    Utilities are scores less `usual_score`. Raises CardaiError for whatever the game does not allow, for chance that
    cannot be listed, and for a name that is taken by another table.
    """
    game = load(game) if isinstance(game, str) else is_game(game)
    if chance not in ("auto", "listed", "sampled"):
        raise CardaiError(f"chance is 'auto', 'listed' or 'sampled', not {chance!r}")
    seats = int(game.options(seats, variant)["seats"][0])
    name = name or f"cardai_{game.name}"
    table = game, seats, variant, encoder, chance, kinds
    if _registered.get(name, table) != table:
        raise CardaiError(f"OpenSpiel knows another table as {name!r}; say name=... for this one")
    if name not in _registered:
        make, kind = _classes(game, seats, variant, encoder, _deals(game, seats, variant, chance), kinds, name)
        pyspiel.register_game(kind, make)
        _registered[name] = table
    return name


def _deals(game: Game, seats: int, variant: str | None, chance: str) -> list[Way] | None:
    """All deals, or None if chance is sampled."""
    if chance == "sampled":
        return None
    try:
        return ListedChance(game, _MOST_WAYS if chance == "listed" else _MOST_DEALS).deals(seats, variant)
    except CardaiError:
        if chance == "listed":
            raise
        return None


class _Past:
    """What has happened in a game: the position, and how it came about. Clones of a state share it.

    `told`: what each seat remembers, by seat, and `announced`: what each seat knows that each seat was told of the
    moves. A past without another one before it has both for all seats, or it has just been dealt.
    """

    def __init__(
        self,
        record: np.ndarray,
        before: "_Past | None" = None,
        move: np.record | None = None,
        told: dict[int, str] | None = None,
        announced: dict[int, tuple[str, ...]] | None = None,
    ) -> None:
        self.record, self.before, self.move = record, before, move
        self._told, self._announced = told or {}, announced or {}

    def __deepcopy__(self, memo: dict) -> "_Past":
        return self

    def told(self, game: Game, seat: int) -> str:
        """What a seat remembers, a line each: its views, and the moves as it was told of them."""
        for past in self._since("_told", seat):
            view = game.text.show(past.record[0], seat)
            if past.before is None or past.move is None:
                past._told[seat] = view
            else:
                line = _line(game, past.before.record[0], past.move, seat)
                past._told[seat] = f"{past.before._told[seat]}\n{line}{view}"
        return self._told[seat]

    def as_world(self, game: Game, seat: int, world: np.ndarray) -> "_Past":
        """What a seat knows of this past, followed by a position, STATE[1], that it thinks possible.

        The seat remembers what it does here. The others remember the moves as the seat was told of them, its own as
        they were told of them, and what they see in that position: what they saw before, the seat cannot know.
        """
        announced = self._announced_to(game, seat)
        told = {other: lines + game.text.show(world[0], other) for other, lines in enumerate(announced)}
        told[seat] = self.told(game, seat)
        return _Past(world, told=told, announced=dict.fromkeys(told, announced) | {seat: announced})

    def _announced_to(self, game: Game, seat: int) -> tuple[str, ...]:
        """What each seat was told of the moves, as far as one seat knows."""
        for past in self._since("_announced", seat):
            everyone = range(int(past.record["seats"][0]))
            if past.before is None or past.move is None:
                past._announced[seat] = ("",) * len(everyone)
                continue
            state, move = past.before.record[0], past.move
            if seat == int(state["turn"]):
                world = game.world(state, seat, 0)
                lines = [_line(game, state if other == seat else world, move, other) for other in everyone]
            else:
                lines = [_line(game, state, move, seat)] * len(everyone)
            past._announced[seat] = tuple(map("".join, zip(past.before._announced[seat], lines, strict=True)))
        return self._announced[seat]

    def _since(self, name: str, seat: int) -> "list[_Past]":
        """The pasts that lack a seat's entry in the attribute with this name, the first first."""
        path: list[_Past] = []
        past: _Past | None = self
        while past is not None and seat not in getattr(past, name):
            path.append(past)
            past = past.before
        return path[::-1]


def _line(game: Game, state: GameState, move: np.record, seat: int) -> str:
    """A move in a state as a seat is told of it."""
    return f"p{int(state['turn'])}: {told_of(game, state, move, seat, state)}\n"


def _classes(
    game: Game,
    seats: int,
    variant: str | None,
    encoder: str | None,
    deals: list[Way] | None,
    kinds: int,
    name: str,
) -> tuple[Any, Any]:
    """The class of a table's games for OpenSpiel, and its description."""
    actions, views = Actions(game, kinds), Views(game, seats, encoder)
    if game.rules.together is not None and actions.by_pieces:
        raise CardaiError(f"{game.name}: choices at the same time need numbers for moves (actions) in OpenSpiel")
    width = views.width
    share, is_fixed = usual_score(game, seats), game.score_sum(seats) is not None
    listed = ListedChance(game, _MOST_WAYS)
    longest = game.max_plies * actions.longest
    kind = pyspiel.GameType(
        short_name=name,
        long_name=f"{game.title} (cardai)",
        dynamics=(
            pyspiel.GameType.Dynamics.SEQUENTIAL
            if game.rules.together is None
            else pyspiel.GameType.Dynamics.SIMULTANEOUS
        ),
        chance_mode=(
            pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
            if deals is None
            else pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
        ),
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM if is_fixed else pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=seats,
        min_num_players=seats,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=actions.count,
        max_chance_outcomes=SEEDS if deals is None else max(len(deals), _MOST_WAYS),
        num_players=seats,
        min_utility=game.payoff.low - share,
        max_utility=game.payoff.high - share,
        utility_sum=0.0 if is_fixed else None,
        max_game_length=longest,
    )

    class CardGame(pyspiel.Game):
        """A game of cardai."""

        def __init__(self, params: Any = None) -> None:
            super().__init__(kind, info, params or {})

        def new_initial_state(self) -> Any:
            return CardState(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            return CardObserver(iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    class CardState(pyspiel.State):
        """A position of a game of cardai, or a decision half made in it."""

        def __init__(self, owner: Any) -> None:
            super().__init__(owner)
            self.past: _Past | None = None
            self.after: _Past | None = None  # where chance has still to decide what follows a move
            self.chosen: tuple[int, ...] = ()
            if deals is not None and len(deals) == 1:
                self.past = _Past(_stored(game, deals[0].state))

        def current_player(self) -> int:
            if self.past is None or self.after is not None:
                return pyspiel.PlayerId.CHANCE
            if self.is_terminal():
                return pyspiel.PlayerId.TERMINAL
            many = len(self._choosing()) > 1
            return pyspiel.PlayerId.SIMULTANEOUS if many else int(self.past.record["turn"][0])

        def is_terminal(self) -> bool:
            return self.past is not None and self.after is None and int(self.past.record["turn"][0]) < 0

        def returns(self) -> list[float]:
            if not self.is_terminal():
                return [0.0] * seats
            assert self.past is not None
            return [float(score) - share for score in game.payoff.of(game.points(self.past.record[0]))]

        def chance_outcomes(self) -> list[tuple[int, float]]:
            if self.past is None and deals is None:
                return [(seed, 1.0 / SEEDS) for seed in range(SEEDS)]
            return [(place, float(way.probability)) for place, way in enumerate(self._ways())]

        def _choosing(self) -> list[int]:
            """The players who may choose now."""
            assert self.past is not None
            state = self.past.record[0]
            return [int(state["turn"])] if game.rules.together is None else game.choosing(state)

        def _legal_actions(self, player: int) -> list[int]:
            return self._choice(player).legal if player in self._choosing() else []

        def _apply_actions(self, joint: list[int]) -> None:
            for player in self._choosing():
                self._choose(joint[player])

        def _apply_action(self, action: int) -> None:
            if self.past is None and deals is None:
                self.past = _Past(_stored(game, game.new(seats, int(action), variant)))
            elif self.past is None or self.after is not None:
                record = _stored(game, self._ways()[action].state)
                self.past = _Past(record, self.after.before, self.after.move) if self.after else _Past(record)
                self.after = None
            else:
                self._choose(action)

        def _choose(self, action: int) -> None:
            assert self.past is not None
            choice = self._choice()
            move = choice.take(action)
            self.chosen = choice.chosen if move is None else ()
            if move is None:
                return
            before = self.past.record[0]
            record = _stored(game, played(game, before, move))
            if deals is not None and record["rng"][0] != self.past.record["rng"][0]:
                self.after = _Past(_stored(game, game.after(before, move)), self.past, move)
            else:
                self.past = _Past(record, self.past, move)

        def _ways(self) -> list[Way]:
            if self.past is None:
                assert deals is not None
                return deals
            assert self.after is not None
            return listed.settled(self.after.record[0])

        def _choice(self, player: int | None = None) -> Choice:
            """The decision of a player who may choose now, of the next to move if it is None."""
            assert self.past is not None
            state = self.past.record[0]
            choice = actions.choice(state if player is None else game.at_turn(state, player))
            for action in self.chosen:
                choice.take(action)
            return choice

        def _action_to_string(self, player: int, action: int) -> str:
            if player == pyspiel.PlayerId.CHANCE:
                return f"chance {action}"
            assert self.past is not None
            state = self.past.record[0]
            return actions.words(game.at_turn(state, player), self._choice(player), action)

        def resample_from_infostate(self, player_id: int, probability_sampler: Any) -> Any:
            """A state that the player thinks possible, in which all that they cannot know is dealt anew.

            It has no history, in which the seed and hidden moves of the others are, and no choice that another player
            is in the middle of. Raises CardaiError where chance decides.
            """
            if self.past is None or self.after is not None:
                raise CardaiError(f"{name}: there are worlds of a player where a player decides, and here chance does")
            world = game.world(self.past.record[0], player_id, int(probability_sampler() * (1 << 53)))
            state = self.get_game().new_initial_state()
            state.past = self.past.as_world(game, player_id, _stored(game, world))
            state.chosen = self.chosen if player_id == self.current_player() else ()
            return state

        def words(self, player: int, remembers: bool) -> str:
            """What a player sees, with all that it saw before if it `remembers`."""
            if self.past is None:
                return ""
            chosen = f"\nchosen: {list(self.chosen)}" if self.chosen and player == self.current_player() else ""
            told = self.past.told(game, player) if remembers else game.text.show(self.past.record[0], player)
            return told + chosen

        def __str__(self) -> str:
            if self.past is None:
                return "before the deal"
            return "\n".join(game.text.show(self.past.record[0], seat) for seat in range(seats)) + f"\n{self.chosen}"

    class CardObserver:
        """A player's view as numbers and in words."""

        def __init__(self, iig_obs_type: Any, params: Any) -> None:
            if params:
                raise CardaiError(f"{name}: an observer takes no parameters, not {params}")
            self.remembers = iig_obs_type.perfect_recall
            self.tensor = np.zeros(width + actions.extra, np.float32)
            self.dict = {"observation": self.tensor}

        def set_from(self, state: Any, player: int) -> None:
            self.tensor.fill(0)
            if state.past is not None:
                self.tensor[:width] = views.row(state.past.record[0], player)
                if state.chosen and player == state.current_player():
                    self.tensor[width:] = actions.values(state.chosen)

        def string_from(self, state: Any, player: int) -> str:
            return state.words(player, self.remembers)

    return CardGame, kind


def _stored(game: Game, state: GameState) -> np.ndarray:
    """STATE[1], a copy."""
    record = np.zeros(1, game.state)
    record[0] = state
    return record
