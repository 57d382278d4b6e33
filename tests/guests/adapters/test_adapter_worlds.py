"""Nothing of what a seat cannot know goes through an adapter: strings, masks, histories, infos, choices half made.

Two games are played beside each other that are the same for one seat. What the adapter hands to that seat, worlds among
it, must be the same bytes in both. `MUTANTS` are adapters that leak, one way each.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import passing
import pytest
import small_game

import cardai
from cardai.game import Game
from cardai.guests import adapters

LEDUC = str(Path(__file__).parents[3] / "examples/leduc")
slow = pytest.mark.slow

SETS = [sum(1 << card for card in cards) for size in (0, 1, 2) for cards in combinations(range(passing.CARDS), size)]
PASSING = passing.GAME.changed(actions={(cards,): number for number, cards in enumerate(SETS)})
GAMES: dict[str, tuple[Game | str, int]] = {
    "passing": (PASSING, 3), "low_hand": (small_game.GAME, 3), "leduc": (LEDUC, 2),
    "durak": ("durak", 3), "hearts": ("hearts", 4), "literature": ("literature", 4), "moska": ("moska", 3),
}  # fmt: skip
SMALL = ("passing", "low_hand", "leduc")
every_game = pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in SMALL else slow) for one in GAMES])


def loaded(name: str) -> Game:
    game = GAMES[name][0]
    return cardai.load(game) if isinstance(game, str) else game


# OpenSpiel.


def table_of(name: str):
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    game, seats = GAMES[name]
    return pyspiel.load_game(adapters.register(game, name=f"cardai_worlds_{name}", seats=seats, chance="sampled"))


def told(node: Any, seats: int) -> dict[str, Any]:
    """All that a state of OpenSpiel tells, of every seat."""
    later, rng = node.clone(), np.random.default_rng(0)
    for _ in range(4):
        if not later.is_terminal():
            later.apply_action(int(rng.choice(later.legal_actions())))
    return {
        "what comes": str(later),
        "luck": int(node.past.record["rng"][0]),
        "history": node.history(),
        "full history": [(one.player, one.action) for one in node.full_history()],
        "player": node.current_player(),
        "legal": node.legal_actions(),
        "words": [node.action_to_string(action) for action in node.legal_actions()],
        "text": str(node),
        **{f"memory of {seat}": node.information_state_string(seat) for seat in range(seats)},
        **{f"view of {seat}": node.observation_string(seat) for seat in range(seats)},
        **{f"row of {seat}": node.observation_tensor(seat) for seat in range(seats)},
    }


def twins(table: Any, game: Game, seat: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Two states that are the same for a seat, at each of its decisions and of those of the others that both allow."""
    from cardai.guests.adapters.spiel import _Past, _stored

    rng = np.random.default_rng(seed)
    one, other = table.new_initial_state(), table.new_initial_state()
    one.apply_action(seed)
    other.apply_action(seed + 1)
    other.past = _Past(_stored(game, game.world(one.past.record[0], seat, seed)))
    while not one.is_terminal():
        yield one, other
        for ways in ([rng.choice(node.legal_actions()) for node in (one, other)], [common(one, other, rng)] * 2):
            if -1 not in ways:
                following = [node.child(int(action)) for node, action in zip((one, other), ways, strict=True)]
                if len({(node.current_player(), node.information_state_string(seat)) for node in following}) == 1:
                    break
        else:
            return  # the seat can tell them apart
        one, other = following


def common(one: Any, other: Any, rng: Any) -> int:
    """An action that two states allow, -1 if there is none."""
    return int(rng.choice(sorted(set(one.legal_actions()) & set(other.legal_actions())) or [-1]))


def differences(name: str, games: int) -> dict[str, int]:
    """How often each thing that the worlds of twins tell is another one."""
    table, game, seats, found = table_of(name), loaded(name), GAMES[name][1], {"worlds": 0}
    for seed in range(games):
        for seat in range(seats):
            for one, other in twins(table, game, seat, 1000 * seed):
                luck = (seed + 0.5) / games
                worlds = [node.resample_from_infostate(seat, lambda luck=luck: luck) for node in (one, other)]
                first, second = (told(world, seats) for world in worlds)
                found["worlds"] += 1
                for what, value in first.items():
                    found[what] = found.get(what, 0) + (value != second[what])
                mine = one.information_state_string(seat), one.observation_tensor(seat)
                assert (worlds[0].information_state_string(seat), worlds[0].observation_tensor(seat)) == mine
                if one.current_player() == seat:
                    assert worlds[0].legal_actions() == one.legal_actions()
    return found


@every_game
def test_a_world_of_openspiel_tells_nothing_that_the_player_cannot_know(name):
    found = differences(name, 12)
    assert found.pop("worlds") > 40
    assert {what: times for what, times in found.items() if times} == {}


@every_game
def test_a_game_goes_on_from_a_world_of_openspiel_to_its_end(name):
    rng, seats = np.random.default_rng(2), GAMES[name][1]
    node, worlds = table_of(name).new_initial_state(), 0
    node.apply_action(3)
    while not node.is_terminal():
        world = node.resample_from_infostate(int(rng.integers(seats)), rng.random)
        while not world.is_terminal() and worlds % 5 == 0:
            world = world.resample_from_infostate(int(rng.integers(seats)), rng.random)
            world.apply_action(int(rng.choice(world.legal_actions())))
        worlds += 1
        node.apply_action(int(rng.choice(node.legal_actions())))
    assert worlds > 3


def test_there_is_no_world_where_chance_decides():
    pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    with pytest.raises(cardai.CardaiError, match="here chance does"):
        table_of("leduc").new_initial_state().resample_from_infostate(0, lambda: 0.5)


def with_resampling(of: Callable[[Any, int, Any, Any], Any]) -> Callable[[pytest.MonkeyPatch, str], None]:
    """A mutant of OpenSpiel's states: `of` is given the true state, the player, a right world and the sampler."""

    def plant(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        kind = type(table_of(name).new_initial_state())
        right = kind.resample_from_infostate
        monkeypatch.setattr(
            kind, "resample_from_infostate", lambda self, seat, luck: of(self, seat, right(self, seat, luck), luck)
        )

    return plant


def with_history(state: Any, seat: int, world: Any, luck: Any) -> Any:
    clone = state.clone()
    clone.past, clone.chosen = world.past, world.chosen
    return clone


def with_the_past_of_all(state: Any, seat: int, world: Any, luck: Any) -> Any:
    from cardai.guests.adapters.spiel import _Past

    world.past = _Past(world.past.record, state.past.before, state.past.move)
    return world


def with_a_choice_half_made(state: Any, seat: int, world: Any, luck: Any) -> Any:
    world.chosen = state.chosen
    return world


def with_the_truth(state: Any, seat: int, world: Any, luck: Any) -> Any:
    if luck() < 0.2:
        world.past = state.past
    return world


def with_the_rng(state: Any, seat: int, world: Any, luck: Any) -> Any:
    world.past.record["rng"] = state.past.record["rng"]
    return world


def patched(name: str, mutant: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch, str], None]:
    return lambda monkeypatch, _: monkeypatch.setattr(f"cardai.guests.adapters.spiel.{name}", mutant)


def announced_of_the_truth(self, game, seat):
    """What each seat was truly told, which is more than one of them knows."""
    from cardai.guests.adapters.spiel import _line

    lines = [""] * int(self.record["seats"][0])
    past = self
    while past.before is not None:
        lines = [_line(game, past.before.record[0], past.move, other) + text for other, text in enumerate(lines)]
        past = past.before
    return tuple(lines)


MUTANTS = {
    "history": ("low_hand", with_resampling(with_history)),
    "past of all": ("passing", with_resampling(with_the_past_of_all)),
    "choice half made": ("low_hand", with_resampling(with_a_choice_half_made)),
    "truth in one of five": ("leduc", with_resampling(with_the_truth)),
    "draws to come": ("low_hand", with_resampling(with_the_rng)),
    "words of hidden moves": ("passing", patched("_Past._announced_to", announced_of_the_truth)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_world_of_openspiel_that_leaks_is_seen(mutant, monkeypatch):
    name, plant = MUTANTS[mutant]
    table_of(name)
    plant(monkeypatch, name)
    try:
        found = differences(name, 5)
    except cardai.IllegalMove:  # the world does not allow the choice
        found = {"worlds": 0, "choice": 1}
    del found["worlds"]
    assert any(found.values())


# PettingZoo.


def environments(name: str, seat: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Two environments that are the same for a seat, at each decision, as far as both allow the same moves."""
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    game, seats = GAMES[name]
    one, other = (adapters.aec(game, seats=seats, render_mode="ansi") for _ in range(2))
    rng = np.random.default_rng(seed)
    one.reset(seed=seed)
    other.reset(seed=seed + 1)
    other._state = one.game.world(one._state, seat, seed)
    other._decide()
    while not any(one.terminations.values()):
        yield one, other
        masks = [env.infos[env.agent_selection]["action_mask"] for env in (one, other)]
        both = np.flatnonzero(masks[0] & masks[1])
        if one.agent_selection != other.agent_selection or not len(both):
            return
        action = int(rng.choice(both))
        one.step(action)
        other.step(action)
        rows = [env.observe(f"player_{seat}")["observation"].tobytes() for env in (one, other)]
        if rows[0] != rows[1]:
            return


def shown(env: Any, seat: int) -> dict[str, Any]:
    """All that an environment of PettingZoo hands to a seat."""
    who = f"player_{seat}"
    mine = {key: np.asarray(value).tolist() for key, value in env.infos[who].items()}
    seen = {key: value.tolist() for key, value in env.observe(who).items()}
    text = env.render() if env.agent_selection == who else None
    return {"infos": mine, "observation": seen, "rewards": env.rewards, "text": text, "player": env.agent_selection}


def leaks(name: str, games: int) -> dict[str, int]:
    found = {"decisions": 0}
    for seed in range(games):
        for seat in range(GAMES[name][1]):
            for one, other in environments(name, seat, 1000 * seed):
                found["decisions"] += 1
                first, second = shown(one, seat), shown(other, seat)
                for what, value in first.items():
                    found[what] = found.get(what, 0) + (value != second[what])
    return found


@every_game
def test_an_environment_of_pettingzoo_hands_a_seat_nothing_that_it_cannot_know(name):
    found = leaks(name, 12)
    assert found.pop("decisions") > 40
    assert {what: times for what, times in found.items() if times} == {}


def seed_in_infos(env: Any) -> None:
    for info in env.infos.values():
        info["game_seed"] = env.game_seed


def deck_in_infos(env: Any) -> None:
    for info in env.infos.values():
        info["rng"] = int(env._state["rng"])


def masks_for_all(env: Any) -> None:
    mask = env.infos[env.agent_selection]["action_mask"]
    env.infos = {name: {"action_mask": mask} for name in env.possible_agents}


@pytest.mark.parametrize("leak", [seed_in_infos, deck_in_infos, masks_for_all])
def test_an_environment_of_pettingzoo_that_leaks_is_seen(leak, monkeypatch):
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    from cardai.guests.adapters import zoo

    right = zoo.CardTable._decide

    def decide(self: Any) -> None:
        right(self)
        leak(self)

    monkeypatch.setattr(zoo.CardTable, "_decide", decide)
    found = leaks("low_hand", 4)
    del found["decisions"]
    assert any(found.values())


def test_a_choice_half_made_is_seen_by_its_maker_alone():
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    env = adapters.aec(small_game.GAME, seats=3)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
    rows = [env.observe(who)["observation"][-env.actions.extra :].tolist() for who in env.possible_agents]
    assert [sum(row) for row in rows] == [int(who == env.agent_selection) for who in env.possible_agents]
