"""The server of the page on serving: its code runs, answers and refuses as the page says."""

import json
import re
import sys
import threading

import pyarrow as pa
import pytest
from benchmarks.serve import BATCH, PAGE, body_of, measure, records, serving

import odefs

pytestmark = pytest.mark.slow
TEXT = PAGE.read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder) as running:
        yield running


def test_the_request_of_the_page_is_answered_as_it_shows(server):
    (given,) = re.findall(r"-d '(.*?)'", TEXT, flags=re.DOTALL)
    (shown,) = re.findall(r"```json\n(.*?)```", TEXT, flags=re.DOTALL)
    status, answer = server.request(json.loads(given)["records"])
    assert status == 200
    rounded = json.loads(json.dumps(answer), parse_float=lambda text: round(float(text), 2))
    assert rounded == json.loads(shown)


def test_answers_are_those_of_the_library(server, folder):
    rows = records()
    status, answers = server.request(rows)
    assert status == 200
    pipeline = odefs.load(folder / "model.odefs")
    (scored,) = odefs.score_batches(pipeline, pa.Table.from_pylist(rows))
    assert [answer["score"] for answer in answers] == scored["score"].to_pylist()
    assert [answer["outlier"] for answer in answers] == scored["outlier"].to_pylist()
    for answer in answers:
        assert bool(answer["reasons"]) == answer["outlier"]
        assert sum(reason["share"] for reason in answer["reasons"]) < 1.001
    (found,) = server.request([rows[421]])[1]
    assert found == answers[421]
    assert found["reasons"][0]["column"] == "distance_km"
    assert found["reasons"][0]["value"] == 9500.3


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([{"amont": 3.0}], "amont"),
        ([{"amount": "many"}, {"amount": 3.0}], "several types"),
        ([], "records"),
        ([{"amount": [1, 2]}], "amount"),
        ([{"amount": 2**64 - 1}], ""),
        ([{"country": "\ud800"}], ""),
    ],
    ids=["unknown name", "two types", "no records", "nested", "large integer", "half a character"],
)
def test_records_that_cannot_be_used_are_refused(server, rows, named):
    status, answer = server.request(rows)
    assert status == 422
    assert named in json.dumps(answer["detail"])


def test_requests_at_the_same_time(server):
    rows = records()[:40]
    expected = server.request(rows)[1]
    found = [None] * 8

    def ask(place):
        found[place] = [server.request([row])[1][0] for row in rows[place::8]]

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected[k::8] for k in range(8)]


@pytest.mark.skipif(sys.platform != "linux", reason="the processor time of a process is read there")
def test_throughput_is_measured(server):
    batch = (records() * 2)[:BATCH]
    found = measure(server, [body_of(batch)] * 2)
    assert found.requests_per_second > 0
    assert found.cpu_ms_per_request > 0
