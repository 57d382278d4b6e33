"""Ratings of players who met at tables of two or more: one number for each, on Elo's scale, with an interval.

    ratings = rate(lineups, scores, ["random", "bot3", "greedy:best"], anchor="random")
    ratings.figures[1]  # how far bot3 is above random

The model is Plackett and Luce's. A game is a sequence of choices: who came first among all players, who came first
among the rest, and so on. Player i comes first in a set S with probability w_i / (sum of w_j, j in S), and its rating
is 400 log10 w_i.

- *Which end.* In a game with one loser and equal others, the choices are read from the other end: i comes last with a
  probability proportional to 1 / w_i. The end is chosen once for all games: the one at which fewer players tie, or the
  first places if both ends have the same number of ties.
- *Ties.* Players who tie share a choice evenly. Players who tie at the far end make no choice, unless all players of
  the game tie: a draw.
- *Two players.* The model is then Bradley and Terry's with a draw as half a win for each, and a rating is Elo's: 400
  points are odds of ten to one. At a table with one loser, a player 400 points above another one is a tenth as likely
  to be the loser.

The likelihood has a maximum only if a chain of wins leads from every player to every other one (Ford 1957; Hunter
2004, "MM algorithms for generalized Bradley-Terry models"). So every player also plays `VIRTUAL` games against an
imagined average player, half won and half lost. They keep ratings finite and draw ratings that rest on few games
towards the average. They do not bound intervals: if no chain of wins leads from the anchor to a player, the upper bound
of the player's interval is infinite; if none leads back, the lower bound is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardai.errors import CardaiError
from cardai.playing.stats.interval import RESAMPLES, Estimate, percentiles

ELO = 400 / math.log(10)
"""Points of a rating for each unit of log strength."""
VIRTUAL = 1.0
"""Games of each player against the average player, half won, half lost."""

_EXACT = 1e-12  # a fit ends with a step that gains less log likelihood than this
_MOST_STEPS = 200  # a fit takes a few
_LONGEST_STEP = 2.0  # in log strength, so that a bad start does not overshoot


@dataclass(frozen=True)
class Ratings:
    """Each player's rating above the anchor, in Elo points.

    `picked`: whether the choices are about who comes "first" or "last". A bound is infinite if the games set none. Both
    are NaN if there are too few deals for an interval.
    """

    figures: tuple[Estimate, ...]
    picked: str


@dataclass(frozen=True)
class Choices:
    """The choices that the games of D deals between A players consist of, counted by S different sets of players.

    - `members`: f8[S, A], how often a player is in a set.
    - `chosen`: f8[D, A], how often a player was chosen in a deal.
    - `sets`, `deals`, `counts`: i64[P], i64[P], f8[P]: counts[p] choices out of set sets[p] were made in deal deals[p].
    - `over`: bool[A, A]: whether player i was chosen, alone or with others, from a set that j was in.
    """

    members: np.ndarray
    chosen: np.ndarray
    sets: np.ndarray
    deals: np.ndarray
    counts: np.ndarray
    over: np.ndarray


def rate(
    lineups: np.ndarray,
    scores: np.ndarray,
    names: Sequence[str],
    anchor: str | None = None,
    seed: int = 0,
) -> Ratings:
    """The ratings of `names`, with percentile intervals of a bootstrap over deals.

    - `lineups`: i64[D, R, seats], the player (its index in `names`) in each seat of R games of each of D deals.
    - `scores`: f8 of the same shape, higher is better; NaN for games not played.
    - `anchor`: the name whose rating is 0. Without it, the mean of all ratings is 0.

    Raises CardaiError if the players fall into groups that have not met, not even through other players.
    """
    deals, rounds, seats = lineups.shape
    by_game = scores.reshape(-1, seats)
    played = np.isfinite(by_game).all(axis=1)
    is_last = picks_last(by_game[played])
    dealt = np.unique(np.repeat(np.arange(deals), rounds)[played], return_inverse=True)[1].reshape(-1)
    keys = -by_game[played] if is_last else by_game[played]
    tally = choices(lineups.reshape(-1, seats)[played], keys, dealt, len(names))
    _refuse_strangers(tally, names)

    place = None if anchor is None else list(names).index(anchor)
    sign = -ELO if is_last else ELO
    points = sign * _above(fit(tally), place)
    drawn = sign * _above(_resampled(tally, seed), place)
    unbounded = _unbounded(tally.over.T if is_last else tally.over, place)
    figures = []
    for i, point in enumerate(points):
        low, high = percentiles(drawn[:, i]) if len(drawn) else (math.nan, math.nan)
        own = (lineups == i).any(axis=2).reshape(-1)[played]
        low, high = (-math.inf if unbounded[0][i] else low), (math.inf if unbounded[1][i] else high)
        figures.append(Estimate(float(point), low, high, int(own.sum()), len(np.unique(dealt[own]))))
    return Ratings(tuple(figures), "last" if is_last else "first")


def picks_last(scores: np.ndarray) -> bool:
    """Whether fewer players share the lowest score than the highest, over games f8[G, seats]."""
    lowest = (scores == scores.min(axis=1, keepdims=True)).sum()
    return bool(lowest < (scores == scores.max(axis=1, keepdims=True)).sum())


def choices(lineups: np.ndarray, keys: np.ndarray, deals: np.ndarray, players: int) -> Choices:
    """Returns the choices that G games consist of. The highest key is chosen first.

    `lineups`: i64[G, seats] in 0..players-1; `keys`: f8[G, seats]; `deals`: i64[G], numbered from 0 without gaps.
    """
    left = np.ones(keys.shape, bool)
    sets, shares, dealt, seats = [], [], [], keys.shape[1]
    for step in range(seats):
        best = np.where(left, keys, -np.inf).max(axis=1, keepdims=True)
        taken = left & (keys == best)
        rest = left & ~taken
        is_choice = rest.any(axis=1) | (step == 0)
        sets.append(_by_player(lineups, left, players)[is_choice])
        shares.append((_by_player(lineups, taken, players) / np.maximum(taken.sum(axis=1), 1)[:, None])[is_choice])
        dealt.append(deals[is_choice])
        left = rest
    members, share, deal = np.concatenate(sets), np.concatenate(shares), np.concatenate(dealt)
    different, which = np.unique(members, axis=0, return_inverse=True)
    pairs, counts = np.unique(deal * len(different) + which.reshape(-1), return_counts=True)
    chosen = np.zeros((int(deals.max(initial=-1)) + 1, players))
    np.add.at(chosen, deal, share)
    return Choices(
        different,
        chosen,
        pairs % max(len(different), 1),
        pairs // max(len(different), 1),
        counts.astype(float),
        (share > 0).T.astype(float) @ members > 0,
    )


def fit(tally: Choices, virtual: float = VIRTUAL) -> np.ndarray:
    """The log strengths f8[A] of maximum likelihood, with `virtual` > 0 games of each against an average player."""
    counts = np.bincount(tally.sets, tally.counts, len(tally.members))
    return _fitted(tally.members, counts, tally.chosen.sum(axis=0), virtual, np.zeros(tally.members.shape[1]))


def _fitted(
    members: np.ndarray, counts: np.ndarray, chosen: np.ndarray, virtual: float, start: np.ndarray
) -> np.ndarray:
    """The log strengths f8[A] of maximum likelihood, by Newton's method.

    The log likelihood is strictly concave, so any start leads to its maximum. `members`: f8[S, A]; `counts`: f8[S];
    `chosen`, `start`: f8[A].
    """

    def likelihood(strengths: np.ndarray) -> float:
        games = chosen @ strengths - counts @ np.log(members @ np.exp(strengths))
        return float(games + virtual * np.sum(strengths / 2 - np.logaddexp(0, strengths)))

    strengths, value = start, likelihood(start)
    for _ in range(_MOST_STEPS):
        weights = members * np.exp(strengths)
        shares = weights / weights.sum(axis=1, keepdims=True)
        against = 1 / (1 + np.exp(-strengths))
        expected = counts @ shares
        slope = chosen - expected + virtual * (0.5 - against)
        curve = np.diag(expected + virtual * against * (1 - against)) - (shares * counts[:, None]).T @ shares
        step = np.linalg.solve(curve, slope)
        gain = slope @ step
        step *= _LONGEST_STEP / max(np.abs(step).max(), _LONGEST_STEP)
        while (new := likelihood(strengths + step)) < value - 1e-12 * abs(value):
            step /= 2
        strengths, value = strengths + step, new
        if gain < _EXACT:
            return strengths
    raise AssertionError("the fit of ratings has not converged")


def _resampled(tally: Choices, seed: int) -> np.ndarray:
    """Returns log strengths of resamples of the deals, f8[RESAMPLES, A], or f8[0, A] with fewer than two deals."""
    rng, (deals, players) = np.random.default_rng(seed), tally.chosen.shape
    if deals < 2:
        return np.zeros((0, players))
    start, fits = fit(tally), np.zeros((RESAMPLES, players))
    for i in range(RESAMPLES):
        times = np.bincount(rng.integers(deals, size=deals), minlength=deals)
        counts = np.bincount(tally.sets, tally.counts * times[tally.deals], len(tally.members))
        there = counts > 0
        fits[i] = _fitted(tally.members[there], counts[there], times @ tally.chosen, VIRTUAL, start)
    return fits


def _above(strengths: np.ndarray, anchor: int | None) -> np.ndarray:
    """Returns log strengths f8[..., A] less the anchor's, or less their mean without an anchor."""
    base = strengths.mean(axis=-1, keepdims=True) if anchor is None else strengths[..., anchor, None]
    return strengths - base


def _unbounded(over: np.ndarray, anchor: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Which players have no lower bound, and which have no upper one: bool[A] each.

    `over[i, j]`: whether i has won against j, or tied.
    """
    chains = _closure(over)
    if anchor is None:
        return np.logical_not(chains.all(axis=1)), np.logical_not(chains.all(axis=0))
    return ~chains[:, anchor], ~chains[anchor]


def _closure(links: np.ndarray) -> np.ndarray:
    """Whether a chain of links leads from i to j, bool[A, A]. A player leads to itself."""
    chains = links | np.eye(len(links), dtype=bool)
    for i in range(len(chains)):
        chains |= chains[:, [i]] & chains[[i]]
    return chains


def _refuse_strangers(tally: Choices, names: Sequence[str]) -> None:
    """Raise CardaiError unless all players have met, directly or through other players."""
    met = _closure(tally.members.T @ tally.members > 0)
    if not met.all():
        here, there = met[0], ~met[0]
        sides = (", ".join(name for name, one in zip(names, side, strict=True) if one) for side in (here, there))
        raise CardaiError("ratings need players who have met, if by way of others: {} never met {}".format(*sides))


def _by_player(lineups: np.ndarray, seated: np.ndarray, players: int) -> np.ndarray:
    """How many of the seats in `seated`, bool[G, seats], each player has in each game: f8[G, A]."""
    seats = np.zeros((len(lineups), players))
    game, seat = np.nonzero(seated)
    np.add.at(seats, (game, lineups[game, seat]), 1.0)
    return seats
