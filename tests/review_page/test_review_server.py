"""The server of the review: who may ask, and what happens to answers that come twice or late."""

import json
import signal
import sys

import pytest

from command import read
from review_server import review


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with review(tmp_path_factory.mktemp("review")) as running:
        yield running


@pytest.mark.parametrize("name", ["", "state", "answer", "favicon.ico"])
@pytest.mark.parametrize("secret", ["", "wrong", "%00"])
def test_a_wrong_secret_is_refused(server, name, secret):
    status, headers, content = server.request(name, secret=secret)
    assert (status, content) == (403, "403 Forbidden\n")
    assert headers["Cache-Control"] == "no-store"
    assert server.request(name, {}, secret=secret)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Host": "evil.example"},
        {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_origins_and_hosts_are_refused(server, headers):
    state = server.state()
    body = {"sequence": state["sequence"], "row": state["row"]["row"], "answer": "yes"}
    assert server.request("answer", body, **headers)[0] == 403
    if headers.get("Origin", ""):
        assert server.request("state", **headers)[0] == 403
    assert server.state() == state


def test_a_window_may_come_from_a_file_but_only_to_the_page(server):
    window = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert server.request("", **window, Sec_Fetch_Dest="document")[0] == 200
    assert server.request("", **window, Sec_Fetch_Dest="document", secret="wrong")[0] == 403
    assert server.request("", **window, Sec_Fetch_Dest="iframe")[0] == 403
    assert server.request("state", **window, Sec_Fetch_Dest="document")[0] == 403
    assert server.request("undo", {"sequence": 0}, **window, Sec_Fetch_Dest="document")[0] == 403
    assert server.request("", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0] == 403


def test_another_port_of_this_machine_is_another_origin(server):
    assert server.request("undo", {"sequence": 0}, Origin="http://127.0.0.1:1")[0] == 403


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("answer", {"sequence": 0, "row": True, "answer": "yes"}, 400),
        ("answer", {"sequence": 0, "row": 1, "answer": "perhaps"}, 400),
        ("answer", {"sequence": 0, "row": 1, "answer": []}, 400),
        ("answer", [], 400),
        ("undo", {}, 400),
        ("nothing", {}, 404),
        ("answer", {"sequence": 0, "row": 1, "answer": "x" * 10_000}, 400),
    ],
)
def test_malformed_requests_change_nothing(server, name, body, status):
    before = server.state()
    assert server.request(name, body)[0] == status
    assert server.request("undo", {"sequence": 0}, Content_Type="text/plain")[0] == 415
    assert server.state() == before


def test_the_page_fetches_nothing_from_outside_and_is_not_kept(server):
    status, headers, page = server.request("")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert server.request("state")[1]["Cache-Control"] == "no-store"


def test_answers_that_come_twice_or_late_count_once(tmp_path):
    file = tmp_path / "transactions.answers.csv"
    with review(tmp_path) as server:
        first = server.state()
        second = server.answer(first, "yes")
        assert server.answer(first, "yes")["notice"].endswith("already has the answer yes.")
        assert server.answer(first, "no")["notice"].endswith(
            "yes in another window; that answer stays."
        )
        again = server.answer(first, "no", row=second["row"]["row"])
        assert again["notice"].startswith("The review has gone on in another window.")
        other = server.answer(second, "no", row=799)
        assert (other["sequence"], other["row"]) == (second["sequence"], second["row"])
        assert [line["answer"] for line in read(file)] == ["yes"]
        third = server.answer(second, "no")
        late = json.loads(server.request("undo", {"sequence": second["sequence"]})[2])
        assert late["found"] == third["found"] == [1, 1]
        back = json.loads(server.request("undo", {"sequence": third["sequence"]})[2])
        assert back["found"] == [1]
        assert back["row"]["row"] == second["row"]["row"]
        assert [line["answer"] for line in read(file)] == ["yes"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_review_goes_on_where_it_stopped(tmp_path):
    file = tmp_path / "transactions.answers.csv"
    with review(tmp_path) as server:
        state = server.state()
        for word in ("yes", "no", "unsure", "no"):
            state = server.answer(state, word)
        server.end(signal.SIGKILL)
    kept = read(file)
    assert [line["answer"] for line in kept] == ["yes", "no", "unsure", "no"]
    with review(tmp_path) as server:
        after = server.state()
        assert after["found"] == state["found"] == [1, 1, 1, 1]
        assert after["row"] == state["row"], "the same row, with the same score"
        server.answer(after, "yes")
    assert read(file)[:4] == kept
    assert len({line["transaction"] for line in read(file)}) == 5


def test_an_answer_that_cannot_be_saved_is_not_taken_up(tmp_path):
    file = tmp_path / "transactions.answers.csv"
    with review(tmp_path) as server:
        state = server.answer(server.state(), "yes")
        edited = file.read_text() + "T0001,no,,,,\n"
        file.write_text(edited)
        body = {"sequence": state["sequence"], "row": state["row"]["row"], "answer": "no"}
        status, _, content = server.request("answer", body)
        assert status == 507
        assert "was changed by another program" in json.loads(content)["error"]
        assert server.state() == state | {"notice": ""}
    assert file.read_text() == edited
    with review(tmp_path) as server:
        assert server.state()["found"] == [1, 1]


def test_columns_of_the_person_are_kept(tmp_path):
    file = tmp_path / "transactions.answers.csv"
    file.write_text("transaction;comment;answer\nT0001;=look again;no\nT0422;ask Anna;\n")
    with review(tmp_path) as server:
        state = server.state()
        assert state["row"]["title"] == "transaction T0422", "a line without an answer is open"
        server.answer(state, "yes")
    assert [(line["transaction"], line["answer"], line["comment"]) for line in read(file)] == [
        ("T0001", "no", "'=look again"),
        ("T0422", "yes", "ask Anna"),
    ]
