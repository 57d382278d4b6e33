"""Who can be played against: the strongest that answers at once unless others are named, game by game."""

import json

import pytest
from web_people import browser_at, open_at, post, sit

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.guests.web import server
from cardai.guests.web.guards import Hosts
from cardai.guests.web.offers import offer_of
from cardai.playing.agents.by_game import named_by_game
from cardai.playing.agents.strongest import strongest

MOSKA, DURAK, HEARTS = (cardai.load(name) for name in ("moska", "durak", "hearts"))


def test_opponents_are_named_for_all_games_or_for_one():
    games = [MOSKA, DURAK, HEARTS]
    assert named_by_game([], games) == {"moska": [], "durak": [], "hearts": []}
    assert named_by_game(["random"], games) == {name: ["random"] for name in ("moska", "durak", "hearts")}
    named = named_by_game(["moska=greedy:best", "bot3?lead=1", "hearts=pimc?worlds=9"], games)
    assert named == {"moska": ["greedy:best", "bot3?lead=1"], "durak": [], "hearts": ["pimc?worlds=9"]}
    assert named_by_game(["random", "durak=thrifty"], games)["durak"] == ["random", "thrifty"]
    with pytest.raises(CardaiError, match=r"'mosca'.*moska"):
        named_by_game(["mosca=greedy:best"], games)
    with pytest.raises(CardaiError, match="names no agent"):
        named_by_game(["moska="], games)


@pytest.mark.parametrize(
    ("opponents", "words"),
    [("moska=greedy:best,durak=bot3", ["durak", "bot3", "thrifty"]), ("mosca=bot3", ["mosca", "moska"])],
)
def test_an_opponent_that_a_game_does_not_have_is_a_sentence_with_those_it_has(tmp_path, capsys, opponents, words):
    data = tmp_path / "tables.sqlite"
    assert run(["serve", "moska", "durak", "--opponents", opponents, "--data", str(data)]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in words), said
    assert "Traceback" not in said
    assert not data.exists()


def test_the_page_offers_an_agent_only_where_it_fits_and_the_server_refuses_it_elsewhere(store):
    offer = offer_of(MOSKA, ["greedy:best", "bot3"])
    shown = json.loads(json.dumps(offer.as_json()))
    assert shown["fits"]["thesis"] == {str(seats): [0, 1] if seats == 4 else [1] for seats in MOSKA.seats}
    with browser_at(server.Server({"moska": offer}, store, Hosts("127.0.0.1"))) as browser:
        wrong = {"game": "moska", "variant": "thesis", "name": "Ann", "seats": ["me", "friend", "greedy:best"]}
        assert "greedy:best" in post(browser, "/tables", wrong, 400)["error"]
        table = sit(browser, "moska", ("me", "friend", "bot3"), variant="thesis")
        with open_at(browser, table) as socket:
            assert [key for key, _ in socket.receive_json()["agents"]] == ["bot3"]
        refused = post(browser, f"/t/{table}/fill", {"seat": 1, "agent": "greedy:best"}, 400)
        assert "greedy:best" in refused["error"]


def test_named_opponents_must_fit_a_table_and_one_of_them_the_first_one_that_is_shown():
    with pytest.raises(CardaiError, match="podkidnoy2"):
        offer_of(DURAK, ["greedy:podkidnoy2"])
    assert [*offer_of(DURAK, ["greedy:podkidnoy2"], seats=2).agents] == ["greedy:podkidnoy2"]
    assert [*offer_of(DURAK, ["thrifty", "greedy:podkidnoy2"]).agents] == ["thrifty", "greedy:podkidnoy2"]
    with pytest.raises(CardaiError, match="report2"):
        offer_of(DURAK, ["thrifty", "greedy:report2"], variant="podkidnoy")
    assert "ahead:best?worlds=16&halving" not in offer_of(HEARTS, variant="match").agents


def test_an_opponent_that_was_measured_says_how_strong_it_is():
    offer = offer_of(HEARTS)
    best = strongest(HEARTS, *next(iter(offer.strongest)), 1.0)
    sent = {key: elo for key, _, _, elo in offer.as_json()["agents"]}
    assert sent[best] == offer.elo(best) > 100
    assert sent["random"] == 0
