"""The experiment on learners of Durak, small enough for a test: every stage runs, is kept, and is taken up again."""

import io
import json
from types import SimpleNamespace

import pytest

from experiments import durak_learners, workshop
from experiments.durak_learners import LEARNERS, reproduce

pytestmark = pytest.mark.slow  # minutes of compiling for seconds of work


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    return folder, reproduce(folder, "smoke")


def test_every_learner_is_measured_at_its_tables(made):
    _, result = made
    found = {(row["learner"], row["row"]) for row in result.rows}
    assert found == {(name, row) for name in LEARNERS for row in ("D1", "D2", "D3", "D4")}
    assert {row["row"] for row in result.throw_in} == {"P3", "P4"}
    assert all(0 <= row["low"] <= row["point"] <= row["high"] <= 100 for row in (*result.rows, *result.throw_in))
    assert json.loads(json.dumps(result.as_json()))["scale"] == "smoke"


def test_what_is_finished_is_not_done_again(made, monkeypatch):
    folder, result = made
    for name in ("train", "run_suite"):
        monkeypatch.setattr(workshop, name, lambda *a, **k: pytest.fail("done again"))
    for module in (durak_learners.ppo, durak_learners.nfsp):
        monkeypatch.setattr(module, "train", lambda *a, **k: pytest.fail("learned again"))
    assert reproduce(folder, "smoke").as_json() == result.as_json()


def test_a_policy_that_was_stopped_is_not_taken_for_finished(tmp_path, monkeypatch):
    stopped = SimpleNamespace(facts=SimpleNamespace(metrics={"games": 25}))
    monkeypatch.setattr(durak_learners.ppo, "train", lambda *a, **k: stopped)
    with pytest.raises(KeyboardInterrupt):
        durak_learners.policies(tmp_path / "ppo", "ppo", 2, durak_learners.SCALES["smoke"], None)
    assert not list((tmp_path / "ppo").iterdir())


def test_the_table_has_the_claims_and_the_figure_is_drawn(made):
    from rich.console import Console

    folder, result = made
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(result.table())
    text = console.export_text()
    assert "[83-92]" in text
    assert "1 thrifty" in text
    assert "games learned from" in durak_learners.draw(folder, result).read_text("utf-8")


def test_its_networks_can_be_shipped(made, tmp_path, monkeypatch):
    monkeypatch.setattr(durak_learners, "SHIPPED", tmp_path)
    (tmp_path / "durak").mkdir()
    shipped = durak_learners.ship(made[0])
    assert sorted(place.stem for place in shipped) == ["podkidnoy2", "report2", "report4"]
    assert str(made[0]).encode() not in b"".join(place.read_bytes() for place in shipped)
    assert workshop.load_model(shipped[0]).facts.command == durak_learners.COMMAND
