"""The experiment on Moska's networks, small enough for a test: every stage runs, is kept, and is taken up again."""

import io
import json

import pytest

from cardai.game import CardaiError
from experiments import moska_networks, workshop
from experiments.moska_networks import Reproduction, reproduce

pytestmark = pytest.mark.slow  # two minutes of compiling for seconds of work


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    return folder, reproduce(folder, "smoke")


def test_every_network_is_measured_in_every_row(made):
    _, result = made
    asked = [f"{name} {kind}" for name in ("nn1", "nn2") for kind in ("HIF", "MIF", "before draw")]
    later = ["after0", "after1", "best"]
    assert list(result.rows) == [*asked, *(f"{name} before draw" for name in later)]
    for report in result.rows.values():
        assert [row["row"] for row in report["rows"]] == ["B1", "B2", "B3", "B4"]
    assert {name: report["split_by"] for name, report in result.training.items()} == {
        "nn1": "game", "nn2": "game", "after0": "game", "after1": "game", "best": "game", "by-game": "game",
        "by-state": "state",
    }  # fmt: skip
    assert json.loads(json.dumps(result.as_json()))["scale"] == "smoke"


def test_what_is_finished_is_not_done_again(made, monkeypatch):
    folder, result = made
    monkeypatch.setattr(workshop, "train", lambda *a, **k: pytest.fail("trained again"))
    monkeypatch.setattr(workshop, "run_suite", lambda *a, **k: pytest.fail("played again"))
    assert reproduce(folder, "smoke").as_json() == result.as_json()


def test_another_scale_in_the_same_folder_is_refused(made):
    with pytest.raises(CardaiError, match=r"no part of a simulation|holds another"):
        reproduce(made[0], "small")


def test_the_table_says_who_peeks_and_the_figure_is_drawn(made):
    from rich.console import Console

    folder, result = made
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(result.table())
    text = console.export_text()
    assert text.count("(peeks)") == 2
    assert "[13.65]" in text
    assert moska_networks.draw(folder, result).read_bytes().startswith(b"\x89PNG")


def test_its_networks_can_be_shipped(made, tmp_path, monkeypatch):
    monkeypatch.setattr(moska_networks, "SHIPPED", tmp_path)
    (tmp_path / "moska").mkdir()
    shipped = moska_networks.ship(made[0])
    assert sorted(place.stem for place in shipped) == ["best", "nn1", "nn2"]
    assert str(made[0]).encode() not in b"".join(place.read_bytes() for place in shipped)
    assert workshop.load_model(shipped[0]).facts.command == "cardai reproduce moska-networks"
    assert isinstance(made[1], Reproduction)
