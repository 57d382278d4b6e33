"""A person at the keyboard plays the same game as any player, sees what a player may see, and is understood."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from judges import Judge, know, some_order
from rich.console import Console

import cardai
from cardai.agents.spec import Agent, one_by_one
from cardai.app import keyboard
from cardai.app.keyboard import HUMAN, Inputs, Menu, Screen, default_seats, told
from cardai.data.record import Writer, read, replay
from cardai.errors import CardaiError, IllegalMove
from cardai.kernel import driver
from cardai.table.many import play
from cardai.table.one import OneGame

TICTACTOE = cardai.load("tictactoe")
THIRTYONE = cardai.load(str(Path(__file__).parent.parent / "examples/thirtyone"))
MOSKA = cardai.load("moska")


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=100)


@pytest.fixture(autouse=True)
def no_keyboard(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())


class Keyboard(io.StringIO):
    def isatty(self):
        return True


def said(console) -> str:
    return console.file.getvalue()


def script(tmp_path, *lines) -> Path:
    (tmp_path / "moves.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "moves.txt"


def by_world(game, world):
    """A player whose choice depends on all of the world it is given, the invented cards and the stream too."""
    moves = game.moves(world)
    return moves[sum(world.tobytes()) % len(moves)]


def step_by_step(game, agents, seed):
    """All moves, the result, and whether it came to an end, of a game played one move at a time."""
    table, moves = OneGame(game, agents, seed), []
    while table.state["turn"] >= 0:
        seat = int(table.state["turn"])
        if not table.step():
            table.commit(agents[seat].choose(game, np.array([table.world()]))[0])
        moves.append(table.move)
    return np.array(moves, game.move), game.points(table.state)


@pytest.mark.parametrize(
    ("game", "specs"),
    [
        (TICTACTOE, ["random", "greedy:open_lines"]),
        (TICTACTOE, ["outside", "rollout:5"]),
        (THIRTYONE, ["house", "outside", "random"]),
        (THIRTYONE, ["sampled:prospects?worlds=7", "greedy:prospects", "peeking:prospects", "outside"]),
        (MOSKA, ["outside", "bot3", "bot2?randomised", "random"]),
        (MOSKA, ["outside", "outside"]),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "-".join(value),
)
def test_a_game_move_by_move_is_the_game_the_table_plays(game, specs):
    outside = Agent("outside", driver.OUTSIDE, choose=one_by_one(by_world))
    agents = [outside if spec == "outside" else cardai.agent(game, spec) for spec in specs]
    seeds = np.arange(8, dtype=np.uint64)
    results = play(game, agents, np.tile(np.arange(len(specs)), (8, 1)), seeds, record=True)
    for seed in seeds:
        moves, points = step_by_step(game, agents, int(seed))
        assert moves.tobytes() == results.moves[seed].tobytes()
        assert points.tolist() == results.scores[seed].tolist()


@pytest.fixture
def judges(monkeypatch):
    know(
        monkeypatch,
        Judge("cells", "planes", 2, some_order),
        Judge("cards", "planes", 3, some_order),
        Judge("bits", "bitmap", 4, some_order),
    )


@pytest.mark.parametrize(
    ("game", "specs"),
    [
        (TICTACTOE, ["greedy:cells?epsilon=0.3", "outside"]),
        (THIRTYONE, ["sampled:cards?worlds=5", "outside", "peeking:cards?temperature=0.1"]),
        (MOSKA, ["outside", "sampled:bits?worlds=3", "bot3", "greedy:bits"]),
    ],
    ids=["tictactoe", "thirtyone", "moska"],
)
def test_a_game_with_evaluators_move_by_move_is_the_game_the_table_plays(judges, game, specs):
    test_a_game_move_by_move_is_the_game_the_table_plays(game, specs)


def test_a_person_plays_against_evaluators_that_are_marked_if_they_peek(judges, tmp_path, console):
    seats = [HUMAN, "peeking:cells"]
    points = keyboard.play(TICTACTOE, seats, seed=3, script=script(tmp_path, *"11111"), console=console)
    assert sum(points) == 1
    assert "p1 is peeking:cells (peeks)." in said(console)
    with pytest.raises(CardaiError, match="cards is for 3 seats, not 2"):
        keyboard.play(THIRTYONE, [HUMAN, "greedy:cards"], console=console)
    assert said(console).count("p0 is you") == 2  # who sits where, and the result; nothing of the second table


def test_an_evaluator_that_fails_at_the_table_is_named(judges, tmp_path, console):
    def fail(rows):
        raise RuntimeError("no paper")

    know_one = cardai.agent(TICTACTOE, "greedy:cells")
    know_one.evaluator.function = fail
    with pytest.raises(
        CardaiError, match=r"agent 'greedy:cells', evaluator cells: it raised RuntimeError\('no paper'\)"
    ):
        keyboard.play(TICTACTOE, [HUMAN, "greedy:cells"], script=script(tmp_path, "b2"), console=console)


def test_an_illegal_move_is_refused():
    table = OneGame(TICTACTOE, [Agent(HUMAN, driver.OUTSIDE)] * 2, 0)
    assert not table.step()
    table.commit(TICTACTOE.parse(table.state, "b2"))
    assert not table.step()
    with pytest.raises(IllegalMove, match="b2"):
        table.commit(TICTACTOE.parse(table.state, "b2"))


def test_a_recorded_game_is_played_again_by_typing_its_moves(tmp_path, console):
    agents = [cardai.agent(THIRTYONE, spec) for spec in ("house", "random", "house")]
    lineups, seeds = np.array([[0, 1, 2]]), np.array([77], np.uint64)
    with Writer(tmp_path / "g.jsonl", THIRTYONE, ["house", "random", "house"], None, 3) as writer:
        play(THIRTYONE, agents, lineups, seeds, on_game=writer.in_order(lineups, seeds))
    recorded, typed = next(iter(read(tmp_path / "g.jsonl"))), []

    def note(state, move, ply):
        if state["turn"] == 1 and len(THIRTYONE.moves(state)) > 1:
            typed.append(THIRTYONE.spell(state, move))

    replay(THIRTYONE, recorded, note)
    points = keyboard.play(
        THIRTYONE, ["house", HUMAN, "house"], seed=77, script=script(tmp_path, *typed), console=console
    )
    assert points.tolist() == list(recorded.scores)


def test_a_whole_game_from_a_file(tmp_path, console):
    moves = script(tmp_path, "# the middle", "", "b2  # always good", "1", "1", "1", "1")
    points = keyboard.play(TICTACTOE, [HUMAN, "greedy:open_lines"], seed=1, script=moves, console=console)
    text = said(console)
    assert "p0> b2\n" in text
    assert re.search("p1: [abc][123]\n", text)
    assert "p0 is you, p1 is greedy:open_lines." in text
    assert "the game is over" in text
    assert f"p0 is you: score {points[0]:g}\n" in text
    assert f"p1 is greedy:open_lines: score {points[1]:g}\n" in text


def test_wrong_input_gets_a_sentence_and_another_chance(tmp_path, console):
    moves = script(tmp_path, "b2", "b2", "nonsense", "99", "0", "?", "q")
    assert keyboard.play(TICTACTOE, [HUMAN, "greedy:open_lines"], script=moves, console=console) is None
    text = said(console)
    assert "'b2' is not among your legal moves now" in text
    assert "'nonsense' is not a cell; a cell is a column a-c and a row 1-3, like b2; ? helps" in text
    assert "99 is not the number of a move: they go from 1 to 7" in text
    assert "0 is not the number of a move" in text
    assert "q leaves the game" in text


def test_brackets_are_shown_as_they_are(tmp_path, console):
    with pytest.raises(CardaiError):
        keyboard.play(TICTACTOE, [HUMAN, "random"], script=script(tmp_path, "[bold]x[/nonsense]"), console=console)
    assert "'[bold]x[/nonsense]' is not a cell" in said(console)


def test_a_file_that_runs_dry_ends_the_game_with_a_sentence(tmp_path, console):
    moves = script(tmp_path, "1", "1")
    with pytest.raises(CardaiError, match=r"moves\.txt ends after 2 inputs, and the game is not over"):
        keyboard.play(TICTACTOE, [HUMAN, HUMAN], script=moves, console=console)


def test_after_the_file_the_keyboard_is_asked(tmp_path, console, monkeypatch):
    monkeypatch.setattr("sys.stdin", Keyboard("q\n"))
    moves = script(tmp_path, "b2")
    assert keyboard.play(TICTACTOE, [HUMAN, "random"], script=moves, console=console) is None
    assert said(console).count("You are X.") == 2


@pytest.mark.parametrize("inputs", [Keyboard("q\n"), Keyboard("Q\n"), Keyboard("")])
def test_q_and_the_end_of_input_leave_the_game(console, monkeypatch, inputs):
    monkeypatch.setattr("sys.stdin", inputs)
    assert keyboard.play(TICTACTOE, [HUMAN, "random"], console=console) is None


def test_input_from_a_pipe_that_ends_is_refused(console):
    with pytest.raises(CardaiError, match="the input ended, and the game is not over"):
        keyboard.play(TICTACTOE, [HUMAN, "random"], console=console)


def test_a_single_move_is_made_and_said(tmp_path, console):
    drawn = script(tmp_path, "b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1")
    assert keyboard.play(TICTACTOE, [HUMAN, HUMAN], script=drawn, console=console).tolist() == [0.5, 0.5]
    assert "you: c1" in said(console)


def test_what_others_did_is_told_the_same_in_every_world_of_the_person():
    """The screen may not depend on what the person cannot see: not the menu, not the table, not what happened."""
    agents = [cardai.agent(MOSKA, spec) for spec in ("bot3", "bot2", "random", "bot0")]
    for seed in range(3):
        state, table = None, OneGame(MOSKA, agents, seed)
        while table.state["turn"] >= 0:
            state = table.state
            table.step()
            for seat in range(4):
                texts = set()
                for seen in (state, MOSKA.world(state, seat, seed=1), MOSKA.world(state, seat, seed=2)):
                    names = [HUMAN if other == seat else "bot" for other in range(4)]
                    screen = Screen(MOSKA, names, Inputs(), Console(file=io.StringIO()))
                    screen.tell(seen, table.move)
                    screen.show(MOSKA.world(seen, seat, seed=3), seat)
                    texts.add(said(screen.console))
                assert len(texts) == 1


def test_the_person_is_never_given_the_true_state(tmp_path, console, monkeypatch):
    truths, table = [], OneGame.step

    def step(self):
        truths.append(self.state)
        return table(self)

    asked = []
    monkeypatch.setattr(OneGame, "step", step)
    monkeypatch.setattr(Screen, "choose", lambda self, world: (asked.append(world), THIRTYONE.moves(world)[0])[1])
    keyboard.play(THIRTYONE, ["house", HUMAN, "house"], seed=4, console=console)
    assert len(asked) > 2
    own = [truth for truth in truths if truth["turn"] == 1]
    assert len(own) == len(asked)
    for truth, world in zip(own, asked, strict=True):
        assert world["hands"][1] == truth["hands"][1]
        assert world["rng"] != truth["rng"]
    assert any((world["hands"] != truth["hands"]).any() for truth, world in zip(own, asked, strict=True))


def test_moves_are_numbered_in_groups_of_their_first_word(console):
    spelled = ["ends", "kills 6S with 9S", "kills 6S with TS", "skips"]
    menu = Menu(spelled, more=False)
    menu.show(console)
    assert said(console).split("\n") == ["1 ends", "2 kills 6S with 9S   3 kills 6S with TS", "4 skips", ""]


def test_of_many_moves_each_group_shows_some(console):
    menu = Menu([f"attacks {i}" for i in range(100)] + [f"kills {i}" for i in range(9)] + ["skips"], more=True)
    menu.show(console)
    text = said(console)
    assert re.findall(r"attacks (\d+)", text.partition("and 92")[0]) == ["0", "2", "3", "4", "5", "6", "7", "1"]
    assert "and 92 more: 'attacks' lists them" in text
    assert "kills 8" in text
    assert "110 skips" in text
    assert "There are more than are listed" in text
    assert len(text.splitlines()) < 12


def test_moves_like_the_words_typed_are_listed(console):
    menu = Menu(["kills 6S with 9S", "kills 6S 7S with 9S TS", "kills 7S with TS", "skips"], more=False)
    assert menu.alike("kill") == menu.alike("KILLS") == [0, 1, 2]
    assert menu.alike("kill 6s") == [0, 1]
    assert menu.alike("kill 7s ts") == [1, 2]
    assert menu.alike("kill 6s 7s ts 9h") == menu.alike("ends") == menu.alike("6S") == menu.alike("") == []
    menu.list(console, [1])
    assert said(console) == "2 kills 6S 7S with 9S TS\n"


def test_what_several_did_is_said_once():
    news = [
        ("p1", "skips"), ("p2", "skips"), ("p3", "opens 6S 6H"), ("p1", "skips"), ("you", "skips"), ("p1", "skips"),
        ("p2", "ends"), ("p1", "draws a card"), ("p2", "draws a card"), ("p3", "draws two cards"),
    ]  # fmt: skip
    assert told(news) == [
        "p1, p2: skips",
        "p3 opens 6S 6H; p1, you: skips; p2: ends",
        "p1, p2 draws a card",
        "p3 draws two cards",
    ]


def test_a_group_is_listed_by_its_word(tmp_path, console):
    state = THIRTYONE.new(seats=2)
    drawn = THIRTYONE.play(state, THIRTYONE.moves(state)[0])
    words = [THIRTYONE.spell(drawn, move).split()[0] for move in THIRTYONE.moves(drawn)]
    assert len(words) == 4
    assert len(set(words)) == 1
    with pytest.raises(CardaiError):
        keyboard.play(THIRTYONE, [HUMAN, "house"], script=script(tmp_path, "1", words[0].upper()), console=console)
    shown, listed = said(console).split(f"p0> {words[0].upper()}")
    for text in (shown.split("p0> 1")[1], listed):
        assert re.findall(rf"(\d) {words[0]} ", text) == ["1", "2", "3", "4"]


def test_moves_that_are_numbers_are_not_numbered(console):
    menu = Menu(["3", "7", "pass"], more=False)
    menu.show(console)
    assert not menu.numbered
    assert said(console).split() == ["3", "7", "pass"]


def test_two_people_do_not_see_each_others_cards(console, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Keyboard("\n1\n1\n\nq\n"))
    assert keyboard.play(THIRTYONE, [HUMAN, HUMAN, "house"], console=console) is None
    asked = capsys.readouterr().out
    look_away = "Seat {}, press Enter when nobody else is looking. "
    assert asked == look_away.format(0) + "p0> " * 2 + look_away.format(1) + "p1> "


def test_wrong_seats_are_refused_before_anything_is_shown(tmp_path, console):
    for seats, why in [
        (["random", "random"], "nobody is at the keyboard"),
        ([HUMAN], "seats, not 1"),
        ([HUMAN, "rndom"], "did you mean random"),
    ]:
        with pytest.raises(CardaiError, match=why):
            keyboard.play(TICTACTOE, seats, console=console)
    with pytest.raises(CardaiError, match="cannot read moves from"):
        keyboard.play(TICTACTOE, [HUMAN, "random"], script=tmp_path / "missing.txt", console=console)
    assert said(console) == ""


def test_a_function_of_somebodys_sits_with_a_person(tmp_path, console, monkeypatch):
    (tmp_path / "last_move.py").write_text("def last(game, world):\n    return game.moves(world)[-1]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    moves = script(tmp_path, "a3", "b3", "c3")
    points = keyboard.play(TICTACTOE, [HUMAN, "python:last_move:last"], script=moves, console=console)
    assert "p1: c1" in said(console)
    assert points.tolist() == [1.0, 0.0]


def test_everybody_has_a_usual_table():
    for game in (TICTACTOE, THIRTYONE, MOSKA):
        seats = default_seats(game)
        assert seats[0] == HUMAN
        assert len(seats) == game.default_seats
        assert [cardai.agent(game, spec).spec for spec in seats[1:]] == seats[1:]
    assert default_seats(MOSKA) == [HUMAN, "bot3", "bot3", "bot3"]
