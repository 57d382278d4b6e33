"""The documentation is true: excerpts are in the files they name, examples run, tables agree with the code."""

import ast
import dataclasses
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import cardai
from cardai.cli import main as cli
from cardai.evaluators.training import iterate_folder, run_folder
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.iterate_config import DECIDED, IterateConfig
from cardai.files import settings
from cardai.game import CORE_FIELDS, PARTS, Game
from cardai.game.compiled import native
from cardai.game.declared import Hand, Known, Moves, State
from cardai.laws import LAWS, check
from cardai.playing.agents import spec
from cardai.rules import cards
from cardai.rules.cards import DECK52

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [
    *PAGES,
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *ROOT.glob("*/*/RULES.md"),
]
THIRTYONE = cardai.load(str(ROOT / "examples/thirtyone"))


class Fence(NamedTuple):
    """A fenced block: its line, the language and the file after it, the text between.

    A file that begins with `./` is one that the page asks its reader to write; any other is quoted.
    """

    line: int
    language: str
    file: str
    text: str


def fences(page: Path) -> list[Fence]:
    text = page.read_text("utf-8")
    found = re.finditer(r"^```(\w*) ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Fence(text[: one.start()].count("\n") + 1, *one.groups()) for one in found]


def section(page: str, heading: str, level: str = "##") -> str:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.split(rf"\n#{{2,{len(level)}}} ", text.split(f"\n{level} {heading}\n")[1])[0]


def fields_section(name: str) -> str:
    return section("contract.md", f"Fields of {name}", "###")


def first_cells(text: str) -> list[str]:
    """What stands in backticks in the first column of the tables of a text."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)(?:\([\w, ]*\))?`", row)]


EXCERPTS = [(page, one) for page in PAGES for one in fences(page) if one.file and not one.file.startswith("./")]
RUN = [
    page
    for page in [*PAGES, ROOT / "README.md"]
    if any(one.language in ("console", "python") and not one.file for one in fences(page))
]


def name_of(value: object) -> str:
    return value.name if isinstance(value, Path) else f"line {value.line}" if isinstance(value, Fence) else str(value)


@pytest.mark.parametrize(("page", "fence"), EXCERPTS, ids=name_of)
def test_an_excerpt_stands_word_for_word_in_its_file(page, fence):
    assert fence.text in (ROOT / fence.file).read_text("utf-8"), f"{page.name}:{fence.line}"


def test_there_are_excerpts_and_examples():
    assert len(EXCERPTS) >= 20
    assert {page.stem for page in RUN} >= LONG
    assert {"add-a-game.md", "contract.md", "agents.md", "records.md", "benchmarks.md"} <= {page.name for page in RUN}


LONG = {"dealing", "play", "compare-bodies", "literature", "endings", "training", "policies", "batch"}
"""Pages whose commands take half a minute or more; they run with `pytest -m slow tests/test_docs.py`."""


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page.stem in LONG)) for page in RUN], ids=name_of
)
def test_commands_and_examples_of_a_page_run(page, tmp_path):
    """First the commands in `console` blocks, in order; then the `python` blocks without a file, as one session.

    Files that the page asks its reader to write are written as it comes to them.
    """
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for fence in fences(page):
        if fence.file.startswith("./"):
            (tmp_path / fence.file).write_text(fence.text, "utf-8")
        for command in fence.text.splitlines() if fence.language == "console" else ():
            run(command.removeprefix("$ ").split(), f"{page.name}:{fence.line}", tmp_path)
    session = "".join(fence.text for fence in fences(page) if fence.language == "python" and not fence.file)
    if session:
        run([sys.executable, "-W", "error", "-c", session], page.name, tmp_path)


def run(command: list[str], where: str, folder: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    told = f"{where}: {' '.join(command)} ended with {done.returncode}"
    assert done.returncode == 0, f"{told}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        assert place.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(place), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_contract_lists_every_rule_with_its_parameters_and_what_it_returns():
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \| (.*?) \|", fields_section("Rules"), re.MULTILINE)
    assert len(rows) == len({name for name, *_ in rows})
    told = {name: (given, returned) for name, given, returned in rows}
    assert set(told) == {*native.ROLES}
    for name, role in native.ROLES.items():
        assert told[name][0] == ", ".join(role.parameters)
        assert told[name][1].startswith(role.returns), name


def test_the_contract_lists_every_function_of_text_and_table_with_its_parameters():
    told = {
        name: given
        for part in ("Text", "Table")
        for name, given in re.findall(r"^\| `(\w+)\((.*?)\)` \|", fields_section(part), re.MULTILINE)
    }
    assert told == {
        "spell": "state, move",
        "show": "state, seat",
        "parse": "state, text",
        "tell": "state, move, seat",
        "ending": "state",
        "led_to": "before, after",
        "rounds": "state",
        "series": "state",
        "holdings": "state",
        "chances": "state, seat, shares",
        "zones": "state, seat",
        "picks": "state, move",
    }
    docstrings = str(PARTS["text"].__doc__) + str(PARTS["table"].__doc__)
    assert [name for name, given in told.items() if f"`{name}({given})" not in docstrings] == []


KINDS = [Game, *PARTS.values()]
"""A game and its parts, each with a table of its fields in the contract."""


def given_fields(kind) -> dict[str, bool]:
    """The fields that an author may give, and whether they must."""
    missing = dataclasses.MISSING
    return {
        one.name: one.default is missing and one.default_factory is missing
        for one in dataclasses.fields(kind)
        if one.init
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_contract_lists_every_field_of_a_game_and_of_its_parts_once(kind):
    table = fields_section(kind.__name__).partition("\nRules of other parts:\n")[0]
    assert sorted(first_cells(table)) == sorted(given_fields(kind))


def test_the_contract_lists_every_field_of_a_state():
    assert sorted(first_cells(fields_section("every state"))) == sorted(CORE_FIELDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_contract_says_rightly_what_may_be_left_out(kind):
    rows = [row for row in fields_section(kind.__name__).splitlines() if row.endswith("| required |")]
    assert {name for row in rows for name in first_cells(row)} == {
        name for name, is_required in given_fields(kind).items() if is_required
    }


def test_a_field_that_follows_from_a_declaration_has_its_mark():
    """Those that `State` and `Moves` make for a game that declares both, all slots of a kind of move hidden."""
    listed = [row for kind in KINDS for row in fields_section(kind.__name__).splitlines()]
    marked = {name for row in listed if "**D**" in row.rpartition(" | ")[2] for name in first_cells(row)}
    state = State(DECK52, 2, (1,) * 52, hands=Hand(known="known"), known=Known("hands"))
    made = state.derived(Moves("plays {card}", "waits", hidden=[0]), {"variants": {}})
    assert marked - {*PARTS} == {*made} - {"state", "move"}


def test_the_contract_lists_the_doors_of_a_game_with_their_parameters():
    doors = re.findall(r"^\| `(\w+)\((.*?)\)` \|", section("contract.md", "Using a game"), re.MULTILINE)
    assert len(doors) >= 10
    for name, parameters in doors:
        code = getattr(Game, name).__code__
        assert list(code.co_varnames[1 : code.co_argcount]) == parameters.split(", "), name


def test_the_agents_page_lists_the_kinds_of_agents_that_any_game_has():
    told = re.findall(r"^\| `([a-z]\w*)", (ROOT / "docs/agents.md").read_text("utf-8"), re.MULTILINE)
    assert set(told) >= {*spec.BUILT_IN, "policy"}


def test_the_laws_page_says_of_every_law_what_the_law_says():
    told = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs/conformance.md").read_text("utf-8"), re.MULTILINE)
    assert dict(told) == {law.name: law.about for law in LAWS.values()}


def settings_table(kind) -> str:
    """Rows field, default, line of help; a star for fields that may change when a run goes on."""
    rows = []
    for name in settings.names(kind):
        (one,) = (one for one in dataclasses.fields(kind) if one.name == name)
        known, usual = settings.of(one), one.default
        shown = "" if usual is dataclasses.MISSING or usual in (None, ()) else f"`{settings.literal(usual)}`"
        shown = "required" if usual is dataclasses.MISSING and not settings.is_table(one) else shown
        rows.append(f"| `{name}`{'' if known.is_run else ' *'} | {shown} | {known.line} |")
    return "\n".join(rows)


@pytest.mark.parametrize("kind", [TrainConfig, IterateConfig])
def test_the_training_page_lists_every_field_of_a_run(kind):
    """If this fails, the table to put there is `settings_table(kind)`."""
    assert f"| field | default | what it is |\n|---|---|---|\n{settings_table(kind)}\n\n" in page("training.md")


def test_the_training_page_says_what_generations_decide_of_training():
    told = page("training.md").split("fields of a training run except ")[1].split(", which")[0]
    assert tuple(re.findall(r"`(\w+)`", told)) == DECIDED


@pytest.mark.parametrize("module", [run_folder, iterate_folder], ids=lambda module: module.__name__)
def test_the_training_page_names_what_a_run_leaves(module):
    names = [value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)]
    assert len(names) >= 4
    assert [name for name in names if f"`{name}" not in page("training.md")] == []


def test_the_map_leads_to_every_page_and_names_modules_that_exist():
    linked = set(re.findall(r"\]\((\w[\w.-]*\.md)\)", page("README.md")))
    assert linked == {file.name for file in PAGES if file.name != "README.md"}
    boxes = re.findall(r">([\w*]+(?:/[\w*.]+)*/?)</text>", page("flow.svg"))
    modules = [text for text in boxes if "/" in text]
    assert [name for name in boxes if "/" not in name] == [
        "state", "moves", "worlds", "rows", "scores", "choice", "record", "dataset", "model"
    ]  # fmt: skip
    assert len(modules) == 9
    assert [module for module in modules if not list(ROOT.glob(module))] == []


def test_the_glossary_is_in_alphabetical_order_and_has_each_term_once():
    _, _, listed = page("glossary.md").partition("## A to D")
    terms = [term for term in re.findall(r"^\| ([^|]+?) \|", listed, re.MULTILINE) if term != "term"]
    assert len(terms) > 60
    assert terms == sorted(set(terms), key=str.lower)


def test_the_page_of_cards_lists_what_the_module_offers_with_its_parameters():
    listed = section("cards.md", "Parameters")
    told = dict(re.findall(r"`(\w+)\(([\w, ]*)\)`", listed))
    told |= dict.fromkeys(re.findall(r"`(DECK\d+)`", listed), "")
    assert {*cards.__all__} - {"Deck"} <= set(told)
    for name in {*cards.__all__} - {"Deck", "DECK36", "DECK52", "count", "lowest", "highest"}:
        function = getattr(cards, name)
        code = getattr(function, "py_func", function).__code__
        assert ", ".join(code.co_varnames[: code.co_argcount]) == told[name], name
    assert {name for name in told if hasattr(cards.Deck, name)} == {"name", "names", "listed", "card", "cards"}


def test_the_commands_of_the_readme_are_verbs():
    cli.add_verbs()
    named = set(re.findall(r"`cardai ([a-z][\w-]*)", (ROOT / "README.md").read_text("utf-8")))
    assert {"play", "rules", "bench", "train"} <= named
    assert named - set(cli.app) == set()


NOT_OUR_RESULTS = {
    "reading-a-result.md": {"16.2", "23.2", "14", "14.25"},  # a made-up line, the thesis' figures, an example
    "study.md": {"96.6", "70", "20", "78.5", "80.5", "91.9", "94.1", "86"},  # coverage in simulated studies
    "training.md": {"2.5", "5"},  # error rates of the procedure
}


@pytest.mark.parametrize("file", [*PAGES, *ROOT.glob("*/*/RULES.md")], ids=lambda file: str(file.relative_to(ROOT)))
def test_no_page_copies_a_percentage_from_the_report(file):
    """Figures change when they are measured again, so pages link to the report. 95 % is the level of all intervals."""
    text = re.sub(r"^```.*?^```$", "", file.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = set(re.findall(r"([\d.]+)(?: \([^()]*\))? ?%", text))
    assert found - {"95"} <= NOT_OUR_RESULTS.get(file.name, set())


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def test_the_first_game_is_as_long_as_its_heading_says_and_gives_facts_and_rules_alone(tmp_path):
    (heading,) = re.findall(r"^## 1 A game in (\d+) lines$", page("add-a-game.md"), re.MULTILINE)
    (first,) = [one for one in fences(ROOT / "docs/add-a-game.md") if one.file == "./climb.py"]
    assert len([line for line in first.text.splitlines() if line]) == int(heading)
    (tmp_path / "climb.py").write_text(first.text, "utf-8")
    game = cardai.load(str(tmp_path / "climb.py"))
    calls = [node for node in ast.walk(ast.parse(first.text)) if isinstance(node, ast.Call)]
    (made,) = [call for call in calls if ast.unparse(call.func) == "Game"]
    assert {*PARTS} & {one.arg for one in made.keywords} == {"rules"}
    assert [verdict for verdict in check(game, seed=1, effort="quick") if verdict.verdict == "broken"] == []


def test_every_law_holds_in_the_worked_example():
    assert [verdict for verdict in check(THIRTYONE, seed=1, effort="quick") if verdict.verdict == "broken"] == []


@pytest.mark.slow
def test_every_law_holds_in_the_worked_example_at_normal_effort():
    """Slow: it looks at more of what its sibling looks at."""
    assert [verdict for verdict in check(THIRTYONE, seed=1) if verdict.verdict == "broken"] == []


RESAMPLE = """@rule
def resample(state, seat, stream):
    unseen = state.stock
    for other in range(state.seats):
        if other != seat:
            unseen |= state.hands[other]
    for other in range(state.seats):
        if other != seat:
            kept = KEPT
            hidden = count(state.hands[other] & ~kept)
            state.hands[other] = kept
            for _ in range(hidden):
                card = any_of(unseen, stream)
                unseen &= ~single(card)
                state.hands[other] |= single(card)
    state.stock = unseen


"""
ENCODE = """from cardai.game import Learning, PerspectiveEncoder, Segment


@rule
def encode(state, seat, row):
    for step in range(state.seats):
        row[step] = lowest(state.hands[(seat + step) % state.seats])


def layout(seats):
    return [Segment(f"lowest card: seat +{step}") for step in range(seats)]


"""
LOWEST = 'learning=Learning(encoders={"lowest": PerspectiveEncoder(layout, encode)}),'


def own_resample(kept: str) -> tuple[tuple[str, str], ...]:
    """The example with a rule `resample` of its own, in which these cards of a hand stay."""
    rule = RESAMPLE.replace("KEPT", kept)
    return (
        ("GAME = Game(\n", f"{rule}GAME = Game(\n"),
        ("settle, score),\n", "settle, score, resample),\n"),
    )


MISTAKES = {
    "act_draws_no_chance": (
        ("        state.owed = 1\n", "        draw(state, single(any_of(state.stock, state)), seat)\n"),
    ),
    "cards_that_all_saw_are_known": (
        (
            "        take(state, move.card, seat)\n",
            "        state.hands[seat] |= single(move.card)\n        state.top = NONE\n",
        ),
    ),
    "blank_leaves_what_is_known": (
        (
            "        discard(state, move.card, seat)\n",
            "        state.hands[seat] &= ~single(move.card)\n        state.top = move.card\n",
        ),
    ),
    "seats_may_be_turned": (
        (
            "1.0 if own > value else 0.5 if own == value else 0.0",
            "1.0 if own > value else 1.0 if own == value and seat < other else 0.0",
        ),
    ),
    "unrevealed_moves_look_the_same": (("state.revealed = single(state.turn)", "state.revealed = 0"),),
    "worlds_after_a_move_are_the_outcomes_of_worlds_before": (
        (
            "        draw(state, single(any_of(state.stock, state)), state.turn)\n",
            "        state.taken = any_of(state.stock, state)\n        draw(state, single(state.taken), state.turn)\n",
        ),
    ),
    "nothing_seen_is_forgotten": own_resample("0"),
    "cards_are_conserved": own_resample("state.known[other]"),
    "encodings_are_the_same_in_every_world": (
        ("GAME = Game(\n", ENCODE + "GAME = Game(\n"),
        ("    rules=Rules(", f"    {LOWEST}\n    rules=Rules("),
    ),
}
"""By law: parts of the example, and what an author may write in their place. It breaks the law."""


@pytest.mark.parametrize("law", MISTAKES)
def test_mistakes_that_the_pages_warn_of_break_a_law(tmp_path, law):
    source = (ROOT / "examples/thirtyone/__init__.py").read_text("utf-8")
    for right, wrong in MISTAKES[law]:
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    place = tmp_path / f"mistaken_{law}"
    place.mkdir()
    (place / "__init__.py").write_text(source, "utf-8")
    verdict = check(cardai.load(str(place)), effort="quick", laws=[law], seconds=math.inf)[0]
    assert verdict.verdict == "broken"
    assert "seed" in verdict.why
