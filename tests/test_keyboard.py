"""A person at the keyboard plays the same game as any player, sees what a player may see, and is understood."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from judges import Judge, know, some_order
from rich.console import Console
from truths import truth_of

import cardai
from cardai.cli import keyboard
from cardai.cli.keyboard import HUMAN, STUDENT, Inputs, Screen, summary
from cardai.cli.menu import Menu
from cardai.cli.show.seats import Seats, plain, to_you
from cardai.errors import CardaiError, IllegalMove
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OfFunction, one_by_one
from cardai.playing.table.asking import moves_in
from cardai.playing.table.many import play
from cardai.playing.table.one import OneGame
from cardai.records.record import Writer, read, replay

TICTACTOE = cardai.load("tictactoe")
THIRTYONE = cardai.load(str(Path(__file__).parent.parent / "examples/thirtyone"))
MOSKA = cardai.load("moska")
DOUDIZHU = cardai.load(str(Path(__file__).parent / "data/doudizhu"))


DRAWN = ("b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1")


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
    table = OneGame(game, [None if one.spec == "outside" else one for one in agents], seed)
    while not table.is_over:
        if table.is_waiting:
            table.play(moves_in(game, agents[table.turn], np.array([table.world()]))[0])
        else:
            assert table.step()
    assert not table.step()
    return table.moves, table.scores()


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
    outside = Agent("outside", OfFunction(one_by_one(by_world)))
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
    assert "Bruno is peeking:cells (peeks)." in said(console)
    with pytest.raises(CardaiError, match="cards is for 3 seats, not 2"):
        keyboard.play(THIRTYONE, [HUMAN, "greedy:cards"], console=console)
    assert said(console).count("Bruno is ") == 2  # who sits where, and the result; nothing of the second table


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
    table = OneGame(TICTACTOE, [None, None])
    assert not table.step()
    centre = table.parse("b2")
    table.play(centre)
    assert not table.step()
    with pytest.raises(IllegalMove, match="b2"):
        table.play(centre)
    with pytest.raises(IllegalMove, match="'b2' is not a move of tictactoe"):
        table.play("b2")
    with pytest.raises(IllegalMove, match="is not a move of tictactoe"):
        table.play(table.legal_moves()[0])
    assert table.ply == 1
    assert table.turn == 1


def test_a_table_is_played_at_from_outside_without_seeing_the_state():
    table = OneGame(THIRTYONE, [None, cardai.agent(THIRTYONE, "house"), None], seed=5)
    while not table.is_over:
        assert table.is_waiting == (table.turn != 1)
        if not table.is_waiting:
            with pytest.raises(CardaiError, match=r"seat 1 is played by house; step\(\) lets it move"):
                table.play(table.legal_moves()[0][0])
            assert table.run() > 0
            continue
        seat, (moves, more) = table.turn, table.legal_moves()
        assert not more
        assert "Your hand: " in table.view(seat)
        assert table.world().tobytes() == table.world().tobytes()  # asking twice changes nothing
        move = table.parse(table.spell(moves[-1]))
        assert table.is_legal(move)
        table.play(move)
    assert [seat for seat, _ in table.history(0)][:1] == [0]
    assert len(table.history(0)) == table.ply == len(table.moves)
    assert table.history(2, since=table.ply - 1) == table.history(2)[-1:]
    assert table.scores().sum() == 1.5
    assert table.ending().startswith("All hands are turned up: p0 has ")
    for refused in (table.world, table.legal_moves):
        with pytest.raises(CardaiError, match="the game is over"):
            refused()
    with pytest.raises(IllegalMove, match="the game is over"):
        table.play(move)


def test_a_table_refuses_seats_that_do_not_exist_and_results_before_the_end():
    table = OneGame(TICTACTOE, [None, None])
    for seat in (-1, 2):
        with pytest.raises(CardaiError, match=f"there is no seat {seat}; the seats are 0 to 1"):
            table.view(seat)
        with pytest.raises(CardaiError, match="there is no seat"):
            table.history(seat)
    for refused in (table.scores, table.ending):
        with pytest.raises(CardaiError, match="the game is not over"):
            refused()


def test_moves_from_outside_end_within_the_games_plies():
    short = TICTACTOE.changed(max_plies=3)
    table = OneGame(short, [None, None])
    for _ in range(3):
        table.play(table.legal_moves()[0][0])
    with pytest.raises(CardaiError, match="the game did not end within its 3 plies"):
        table.play(table.legal_moves()[0][0])


def test_a_recorded_game_is_played_again_by_typing_its_moves(tmp_path, console):
    agents = [cardai.agent(THIRTYONE, spec) for spec in ("house", "random", "house")]
    lineups, seeds = np.array([[0, 1, 2]]), np.array([77], np.uint64)
    with Writer(tmp_path / "g.jsonl", THIRTYONE, ["house", "random", "house"], None, 3) as writer:
        play(THIRTYONE, agents, lineups, seeds, on_game=writer.in_order(lineups, seeds))
    recorded, typed = next(iter(read(tmp_path / "g.jsonl"))), []

    def note(state, move, ply):
        if state["turn"] == 1 and len(THIRTYONE.moves(state)) > 1:
            typed.append(THIRTYONE.text.spell(state, move))

    replay(THIRTYONE, recorded, note)
    points = keyboard.play(
        THIRTYONE, ["house", HUMAN, "house"], seed=77, script=script(tmp_path, *typed), console=console
    )
    assert points.tolist() == list(recorded.scores)


def test_a_whole_game_from_a_file(tmp_path, console):
    moves = script(tmp_path, "# the middle", "", "b2  # always good", "1", "1", "1", "1")
    points = keyboard.play(TICTACTOE, [HUMAN, "greedy:open_lines"], seed=1, script=moves, console=console)
    text = said(console)
    assert "You> b2\n" in text
    assert re.search("Bruno: [abc][123]\n", text)
    assert "Bruno is greedy:open_lines." in text
    assert "the game is over" in text
    assert re.search("[XO] has three in a row and wins|A draw: nobody has three in a row", text)
    assert f"You; score (0 to 1): {points[0]:g}\n" in text
    assert f"Bruno is greedy:open_lines; score (0 to 1): {points[1]:g}\n" in text


def test_wrong_input_gets_a_sentence_as_it_is_and_another_chance(tmp_path, console):
    moves = script(tmp_path, "b2", "b2", "[bold]x[/nonsense]", "99", "0", "?", "q")
    assert keyboard.play(TICTACTOE, [HUMAN, "greedy:open_lines"], script=moves, console=console) is None
    text = said(console)
    assert "'b2' is no move here; a move is " in text
    assert "'[bold]x[/nonsense]' is no move here" in text
    assert "99 is not the number of a move: they go from 1 to 7" in text
    assert "0 is not the number of a move" in text
    assert "q leaves the game" in text


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


def test_a_single_move_is_made_and_said(tmp_path, console):
    drawn = script(tmp_path, *DRAWN)
    assert keyboard.play(TICTACTOE, [HUMAN, HUMAN], script=drawn, console=console).tolist() == [0.5, 0.5]
    assert "You: c1" in said(console)


def test_what_others_did_is_told_the_same_in_every_world_of_the_person():
    """The screen may not depend on what the person cannot see: not the menu, not the table, not what happened."""
    agents = [cardai.agent(MOSKA, spec) for spec in ("bot3", "bot2", "random", "bot0")]
    for seed in range(3):
        table = OneGame(MOSKA, agents, seed)
        while table.step():
            if table.ply % 3 != seed:  # a third of the plies of each game, other ones in each
                continue
            before, after, move = truth_of(table, table.ply - 1), truth_of(table), table.moves[-1]
            for seat in range(4):
                texts = set()
                for world in (None, 1, 2):
                    names = [HUMAN if other == seat else "bot" for other in range(4)]
                    other = OneGame(MOSKA, agents, seed)
                    other._slots.states[0] = after if world is None else MOSKA.world(after, seat, seed=world)
                    other._history = [(before if world is None else MOSKA.world(before, seat, seed=world), move)]
                    screen = Screen(other, names, Inputs(), Console(file=io.StringIO()))
                    screen.show(seat)
                    texts.add(said(screen.console))
                assert len(texts) == 1


def test_the_person_is_never_given_the_true_state(tmp_path, console, monkeypatch):
    truths, worlds = [], []

    def choose(self):
        truths.append(truth_of(self.table))
        worlds.append(self.table.world())
        return [self.table.legal_moves()[0][0]]

    monkeypatch.setattr(Screen, "choose", choose)
    keyboard.play(THIRTYONE, ["house", HUMAN, "house"], seed=4, console=console)
    assert len(worlds) > 2
    for truth, world in zip(truths, worlds, strict=True):
        assert truth["turn"] == 1
        assert world["hands"][1] == truth["hands"][1]
        assert world["rng"] != truth["rng"]
    assert any((world["hands"] != truth["hands"]).any() for truth, world in zip(truths, worlds, strict=True))


def test_moves_are_numbered_in_groups_of_their_first_word(console):
    spelled = ["ends", "kills 6S with 9S", "kills 6S with TS", "skips"]
    menu = Menu(spelled, more=False)
    menu.show(console)
    assert said(console).split("\n") == ["1 ends", "2 kills 6S with 9S   3 kills 6S with TS", "4 skips", ""]


def test_of_many_moves_each_group_shows_some(console):
    menu = Menu([f"attacks {i}" for i in range(100)] + [f"kills {i}" for i in range(9)] + ["skips"], more=True)
    menu.show(console)
    text = said(console)
    assert re.findall(r"attacks (\d+)", text.partition("and 92")[0]) == ["0", "2", "4", "6", "1", "3", "5", "7"]
    assert "and 92 more: 'attacks' lists them" in text
    assert "kills 8" in text
    assert "110 skips" in text
    assert "There are more legal moves than are listed" in text
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
    assert summary(news) == [
        "p1 and p2 skip",
        "p3 opens 6S 6H; p1 and you skip; p2 ends",
        "p1 and p2 draw a card",
        "p3 draws two cards",
    ]


def test_a_move_that_a_seat_repeats_is_said_as_often():
    news = [("p1", "buries a card"), ("p1", "buries a card"), ("p2", "buries a card"), ("p2", "skips"), ("p2", "skips")]
    assert summary(news) == ["p1 (2 times) and p2 bury a card; p2 skips"]
    assert summary([("p1", "7H"), ("p2", "no claim"), ("p3", "no claim")]) == ["p1: 7H", "p2 and p3: no claim"]


def test_a_group_is_listed_by_its_word(tmp_path, console):
    state = THIRTYONE.new(seats=2)
    drawn = THIRTYONE.play(state, THIRTYONE.moves(state)[0])
    words = [THIRTYONE.text.spell(drawn, move).split()[0].removesuffix("s") for move in THIRTYONE.moves(drawn)]
    assert len(words) == 4
    assert len(set(words)) == 1
    with pytest.raises(CardaiError):
        keyboard.play(THIRTYONE, [HUMAN, "house"], script=script(tmp_path, "1", words[0].upper()), console=console)
    shown, listed = said(console).split(f"You> {words[0].upper()}")
    for text in (shown.split("You> 1")[1], listed):
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
    look_away = "{}, press Enter when nobody else is looking. "
    assert asked == look_away.format("Ada") + "Ada> " * 2 + look_away.format("Bruno") + "Bruno> "


def test_a_game_at_the_keyboard_is_recorded(tmp_path, console):
    file, moves = tmp_path / "mine.jsonl.gz", script(tmp_path, "b2", "1", "1", "1", "1")
    seats = [HUMAN, "greedy:open_lines"]
    points = keyboard.play(TICTACTOE, seats, seed=-1, script=moves, console=console, record=file)
    (recorded,) = read(file)
    assert read(file).header.agents == tuple(seats)
    assert recorded.scores == tuple(points.tolist())
    assert recorded.lineup == (0, 1)
    spelled = []
    replay(TICTACTOE, recorded, lambda state, move, ply: spelled.append(TICTACTOE.text.spell(state, move)))
    assert spelled[0] == "b2"
    assert [f"Bruno: {text}" in said(console) for ply, text in enumerate(spelled)][1::2] == [True] * (len(spelled) // 2)
    before = file.read_bytes()
    with pytest.raises(CardaiError, match=r"mine\.jsonl\.gz exists already"):
        keyboard.play(TICTACTOE, seats, script=moves, console=Console(file=io.StringIO()), record=file)
    assert file.read_bytes() == before
    keyboard.play(TICTACTOE, seats, seed=2, script=moves, console=console, record=file, overwrite=True)
    assert file.read_bytes() != before


ENDINGS = {
    "tictactoe": r"[XO] has three in a row and wins\.|A draw: nobody has three in a row\.",
    "moska": r"p\d is left with cards and loses\.",
    "durak": r"p\d is left with cards and is the durak\.|Nobody has cards left: a draw between p\d and p\d\.",
    "examples/thirtyone": r"All hands are turned up: p0 has \d+, p1 has \d+\.",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_game_says_how_it_ended_and_it_fits_the_scores(name):
    """It depends on what lies open at the end only: it is the same in every seat's world."""
    game = cardai.load(str(Path(__file__).parent.parent / name) if "/" in name else name)
    for seed in range(40):
        table = OneGame(game, [cardai.agent(game, "random")] * 2, seed)
        table.run()
        ending, scores = table.ending(), table.scores()
        assert re.fullmatch(ENDINGS[name], ending)
        assert {game.text.ending(game.world(truth_of(table), seat, seed=9)) for seat in range(2)} == {ending}
        if scores[0] == scores[1]:
            assert "loses" not in ending
            assert "wins" not in ending
        elif name == "tictactoe":
            assert ending[0] == "XO"[int(np.argmax(scores))]
        elif name == "examples/thirtyone":
            values = [int(value) for value in re.findall(r"has (\d+)", ending)]
            assert np.argmax(values) == np.argmax(scores)
        else:
            assert ending[:2] == f"p{int(np.argmin(scores))}"


def test_without_an_ending_the_scores_are_shown(tmp_path, console):
    silent = TICTACTOE.changed(ending=None)
    keyboard.play(silent, [HUMAN, "random"], script=script(tmp_path, *"11111"), console=console)
    assert re.search(r"the game is over ─+\nYou; score ", said(console))


def test_moves_stand_in_columns_of_one_width(console):
    spelled = [f"plays {'x' * (1 + 5 * (i % 3))} {i}" for i in range(20)] + [
        "kills 6S with 9S",
        "kills 7S with TS",
        "ends",
    ]
    Menu(spelled, more=False).show(console)
    lines = said(console).splitlines()
    starts = {match.start() for line in lines for match in re.finditer(r"\b(?:plays|kills|ends)\b", line)}
    assert len(starts) > 2
    assert len({later - first for first, later in zip(sorted(starts), sorted(starts)[1:], strict=False)}) == 1
    assert all(len(line) <= 100 for line in lines)


def in_colour(monkeypatch, no_colour: str | None) -> str:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_colour is not None:
        monkeypatch.setenv("NO_COLOR", no_colour)
    terminal = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    Menu(["attacks 6S TD", "attacks 7H", "QHX"], more=False, pieces=MOSKA.table.pieces).show(terminal)
    return said(terminal)


def test_red_suits_are_red_where_there_is_colour_and_nowhere_else(monkeypatch, console):
    text = in_colour(monkeypatch, None)
    assert re.findall("\x1b\\[31m(.+?)\x1b", text) == ["TD", "7H"]
    assert "\x1b" not in in_colour(monkeypatch, "1")
    Menu(["attacks 7H"], more=False, pieces=MOSKA.table.pieces).show(console)
    assert said(console) == "1 attacks 7H\n"
    plain = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    Menu(["d1", "h2"], more=False, pieces=TICTACTOE.table.pieces).show(plain)
    assert "\x1b[31m" not in said(plain)


# Study games.


def studied(tmp_path, console, game, seats, *lines, **options):
    return keyboard.play(game, seats, script=script(tmp_path, *lines), console=console, study=True, **options)


def test_a_hint_comes_in_three_steps_at_the_same_decision(tmp_path, console):
    hints = ("hint", "hint", "hint", "q")
    assert studied(tmp_path, console, TICTACTOE, [HUMAN, "random"], *hints, judge="rollout:5", seed=2) is None
    first, second, third = said(console).split("You> hint")[1:]
    assert re.search(r"rollout:5 would take [abc][123]\.", first)
    cell = re.search(r"Best by rollout:5: ([abc][123])\n", second)[1]
    assert re.search(rf"^ *{cell} .* best", third, re.MULTILINE)
    assert "rollouts: random plays on to the end in 100 worlds" in third
    assert third.count("not told apart") + third.count("worse") + third.count("better") >= 8


def test_undo_goes_back_to_ones_last_decision_and_agents_answer_as_before(tmp_path, console):
    moves = ("b2", "undo", "undo", "a1", "undo", "b2", "1", "1", "1", "1")
    again = keyboard.play(TICTACTOE, [HUMAN, "random"], script=script(tmp_path, "b2", "1", "1", "1", "1"), seed=5,
                          console=Console(file=io.StringIO()))  # fmt: skip
    points = studied(tmp_path, console, TICTACTOE, [HUMAN, "random"], *moves, seed=5)
    assert points.tolist() == again.tolist()
    text = said(console)
    assert text.count("Back before your move at ply 0.") == 2
    assert "There is no move of yours to take back." in text


def test_with_two_people_undo_goes_back_to_a_decision_of_whoever_asks(tmp_path, console):
    lines = [*DRAWN[:-1], "undo", *DRAWN[5:]]
    assert studied(tmp_path, console, TICTACTOE, [HUMAN, HUMAN], *lines).tolist() == [0.5, 0.5]
    assert "Back before your move at ply 5." in said(console)


def test_rewinding_a_table_restores_its_bytes_and_its_luck():
    agents = [None, cardai.agent(MOSKA, "bot3"), cardai.agent(MOSKA, "sampled:hand_value?worlds=2")]
    table, seen = OneGame(MOSKA, agents, seed=3), []

    def go_on():
        if table.is_waiting:
            table.play(table.legal_moves()[0][0])
        else:
            table.step()

    while not table.is_over:
        seen.append((table._state.tobytes(), table._slots.streams.tobytes()))
        go_on()
    end, moves, movers = table._state.tobytes(), table.moves.tobytes(), table.movers
    for ply in (len(seen) - 1, len(seen) // 2, 5, 0):
        table.rewind(ply)
        assert (table._state.tobytes(), table._slots.streams.tobytes(), table.ply) == (*seen[ply], ply)
        assert table.movers == movers[:ply]
    with pytest.raises(CardaiError, match="ply must be at most 0"):
        table.rewind(1)
    while not table.is_over:
        go_on()
    assert (table._state.tobytes(), table.moves.tobytes()) == (end, moves)


def test_hints_and_undo_need_a_study_game(tmp_path, console):
    moves = script(tmp_path, "hint", "why", "chances", "undo", "b2", "q")
    assert keyboard.play(TICTACTOE, [HUMAN, "random"], script=moves, console=console) is None
    assert said(console).count("is for study games") == 4
    with pytest.raises(CardaiError, match="need a study game"):
        keyboard.play(TICTACTOE, [HUMAN, "random"], script=moves, console=console, judge="random")
    with pytest.raises(CardaiError, match="no agent"):
        studied(tmp_path, console, TICTACTOE, [HUMAN, "random"], "q", judge="nobody")


def test_a_record_says_that_a_game_was_a_study_game(tmp_path, console):
    file, moves = tmp_path / "study.jsonl", ("b2", "undo", "b2", "1", "1", "1", "1")
    studied(tmp_path, console, TICTACTOE, [HUMAN, "random"], *moves, record=file, seed=1)
    (recorded,) = read(file)
    assert read(file).header.agents == (STUDENT, "random")
    assert TICTACTOE.text.spell(TICTACTOE.new(), recorded.moves[0]) == "b2"
    replay(TICTACTOE, recorded)


def test_chances_and_rules_are_shown_on_request(tmp_path, console):
    assert studied(tmp_path, console, MOSKA, [HUMAN, "bot3"], "chances", "rules", "q", seed=3) is None
    text = said(console)
    assert "percent of 400 worlds of your seat" in text
    assert "# Moska" in text
    assert studied(tmp_path, console, TICTACTOE, [HUMAN, "random"], "chances", "q") is None
    assert "there are no chances" in said(console)


def test_a_move_that_is_named_like_a_command_is_listed(console, monkeypatch):
    """A game's own words come first."""
    table = OneGame(TICTACTOE, [None, None])
    monkeypatch.setattr(OneGame, "spell", lambda self, move: f"hint {int(move['cell'])}")
    monkeypatch.setattr("sys.stdin", Keyboard("hint\nq\n"))
    assert Screen(table, [HUMAN, "other"], Inputs(), console, studies=True).choose() is None
    assert said(console).count("hint 8") == 2


def test_advice_does_not_change_the_game(tmp_path):
    def points(*asked):
        lines = [line for move in ("1", "2", "1", "1", "3", "1", "1", "1", "1", "1") * 20 for line in (*asked, move)]
        file = tmp_path / f"{len(asked)}.jsonl"
        seats = [HUMAN, "sampled:prospects?worlds=3", "random"]
        keyboard.play(THIRTYONE, seats, script=script(tmp_path, *lines), study=True, record=file, seed=9, judge="house",
                      console=Console(file=io.StringIO()))  # fmt: skip
        return next(iter(read(file))).moves.tobytes()

    assert points() == points("hint", "why", "chances")


HEARTS = cardai.load("hearts")


def test_three_cards_are_passed_in_one_line_and_seats_have_names(tmp_path, console):
    moves = script(tmp_path, "pass 2C 3C 4C 5C", "1 3 5", "scores", "words", "q")
    keyboard.play(HEARTS, [HUMAN, "duck", "duck", "duck"], seed=5, variant="match", script=moves, console=console)
    text = said(console)
    assert "'pass 2C 3C 4C 5C' is no move here" in text
    assert "and David (3 times) pass a card" in text
    assert re.search(r"^You +13 cards", text, re.M)
    assert re.search(r"^Bruno +13 cards, .*", text, re.M)
    assert not re.search(r"\bp[0-3]\b", text)
    assert "in all" in text
    assert "the queen of spades thirteen" in " ".join(text.split())


def test_what_a_question_came_to_is_said(tmp_path, console):
    game = cardai.load("literature")
    keyboard.play(
        game,
        [HUMAN, "keeper", "keeper", "keeper"],
        seed=3,
        script=script(tmp_path, "1", "1", "1", "q"),
        console=console,
    )
    text = said(console)
    assert re.search(r"asks (you|Ada|Bruno|Clara|David) for \w+: (no|you give it|\w+ gives it)", text)
    assert "Your team has" in text
    assert "Clara is keeper, your partner" in text
    assert "the other team has" in text


def test_the_page_and_the_terminal_say_the_same():
    """The page's part of this test is in test_web_table_browser.py."""
    examples = json.loads((Path(__file__).parent / "data/words.json").read_text("utf-8"))
    for count, own, teams, seat, words, led_to, line in examples["lines"]:
        assert Seats(count, own, teams).line(seat, words, led_to) == line
    for verb, said_to_you in examples["verbs"]:
        assert plain(verb) == said_to_you


def lead_of_threes():
    """A seed of Dou Dizhu in which seat 0 may lead "plays 33", and how its moves are spelled: it has more than 33."""
    for seed in range(100):
        state = DOUDIZHU.new(3, seed, "fixed")
        spelled = [DOUDIZHU.text.spell(state, move) for move in DOUDIZHU.moves(state)]
        if "plays 33" in spelled and spelled.index("plays 33") != 32:
            return seed, spelled
    raise AssertionError("no such seed")


@pytest.mark.parametrize(("again", "is_numbered"), [("play 33", False), (None, True)])
def test_a_number_that_also_names_a_move_is_asked_back(tmp_path, console, again, is_numbered):
    seed, spelled = lead_of_threes()
    wanted = spelled[32] if is_numbered else "plays 33"
    typed = script(tmp_path, "33", again or wanted, "q")
    seats = [HUMAN, HUMAN, "random"]
    assert keyboard.play(DOUDIZHU, seats, seed=seed, variant="fixed", script=typed, console=console) is None
    text = " ".join(said(console).split())
    asked = re.search(r"33 may be (.*); type one of them in words", text)[1].split(" or ")
    assert {f"{to_you(spelled[32])!r} (number 33)", "'play 33'"} <= {*asked}
    assert f"{wanted}" in text.partition("type one of them in words")[2]


def test_a_number_beyond_the_list_that_names_a_move_is_that_move(tmp_path, console):
    seed, spelled = lead_of_threes()
    state = DOUDIZHU.new(3, seed, "fixed")
    name = next(
        words[6:]
        for words in spelled
        if words[6:].isdecimal()
        and int(words[6:]) > len(spelled)
        and sum(other.endswith(f" {words[6:]}") for other in spelled) == 1
    )
    assert keyboard.play(DOUDIZHU, [HUMAN, HUMAN, "random"], seed=seed, variant="fixed",
                         script=script(tmp_path, name, "q"), console=console) is None  # fmt: skip
    assert f"plays {name}" in said(console)
    assert "is not the number of a move" not in said(console)
    assert state["turn"] == 0
