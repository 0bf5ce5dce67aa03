"""The registry, conversions of small files in the sources' formats, and downloads from a local
server.
"""

import io
import subprocess
import tarfile
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy.io import savemat

from odefs.datasets import convert, registry, store
from odefs.datasets.synthetic import make_shifted

ARFF = b"""% a comment
@relation 'small'
@attribute colour {red, green, blue}
@attribute 'odd name' {'a,b', "c"}
@attribute class {no, yes}
@data
red, 'a,b', no
blue, ?, yes

red, c, no
"""


def test_one_hot_over_occurring_values_missing_last():
    arrays = convert.arff_one_hot(ARFF)
    assert arrays.feature_names.tolist() == [
        "colour=red",
        "colour=blue",
        "odd name=a,b",
        "odd name=c",
        "odd name=?",
    ]
    assert arrays.X.tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [1, 0, 0, 1, 0]]
    assert arrays.y.tolist() == [0, 1, 0]
    assert arrays.X.dtype == arrays.y.dtype == np.uint8


def test_arff_inside_tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as archive:
        member = tarfile.TarInfo("folder/data.arff")
        member.size = len(ARFF)
        archive.addfile(member, io.BytesIO(ARFF))
    assert np.array_equal(convert.tar_arff_one_hot(out.getvalue()).X, convert.arff_one_hot(ARFF).X)


def test_numbers_stay_numbers():
    arrays = convert.arff_numbers(
        b"@attribute a numeric\n@attribute b {0,3}\n@attribute c {0,1}\n@data\n0,3,0\n1,0,1\n"
    )
    assert arrays.X.tolist() == [[0, 3], [1, 0]]
    assert arrays.y.tolist() == [0, 1]


def test_advertisements_zip():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("ad.data", " 125, 125, 1.0,1,0,?,ad.\n   ?,  ?,  ?,0,1,1,nonad.\n")
    arrays = convert.advertisements(out.getvalue())
    assert arrays.X.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert arrays.y.tolist() == [1, 0]
    assert arrays.feature_names.tolist() == ["x3", "x4", "x5"], "no names in the zip"


NAMES = b"""| "w:\\ad" names file: made by a program
ad, nonad | classes.

height: continuous. | possibly missing: yes
width: continuous.
aratio: continuous.
local: 0,1.
| 2 features from url terms
url*images+buttons: 0,1.
url*target+\xe6ion: 0,1.
"""


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"folder/{name.replace('_', '.')}", content)
    return out.getvalue()


def test_advertisements_names_come_from_the_zip():
    data = b"125,125,1.0,1,0,?,ad.\n?,?,?,0,1,1,nonad.\n"
    names = convert.advertisements(zipped(ad_names=NAMES, ad_data=data)).feature_names.tolist()
    assert names == ["local", "url*images+buttons", "url*target+æion"]
    other = convert.advertisements(zipped(ad_names=NAMES + b"one more: 0,1.\n", ad_data=data))
    assert other.feature_names.tolist() == ["x3", "x4", "x5"], (
        "names of other columns are not taken"
    )


def mat_bytes(X, y):
    out = io.BytesIO()
    savemat(out, {"X": X, "y": y.reshape(-1, 1)})
    return out.getvalue()


def test_mat_files_and_columns_of_zeros():
    X, y = np.array([[0.5, 0, 2], [1.5, 0, 3]]), np.array([0, 1])
    assert convert.mat(mat_bytes(X, y)).X.dtype == np.float32
    assert convert.mat_without_zeros(mat_bytes(X, y)).X.tolist() == [[0.5, 2], [1.5, 3]]


def test_the_digest_sees_name_type_shape_and_bytes():
    a = np.arange(6, dtype=np.uint8)
    digests = {
        store.digest(arrays)
        for arrays in (
            {"X": a},
            {"Y": a},
            {"X": a.astype(np.int8)},
            {"X": a.reshape(2, 3)},
            {"X": a[::-1]},
        )
    }
    assert len(digests) == 5
    assert store.digest({"X": a}) == store.digest({"X": a[::-1][::-1]})


def test_the_registry_describes_the_papers_twelve(dataset):
    assert len(registry.ENTRIES) == 12
    for entry in registry.ENTRIES:
        assert entry.licence
        assert entry.citation
        assert entry.converter in convert.CONVERTERS
        assert " " not in entry.url
        if entry.name != "speech":
            X, y = dataset(entry.name)
            assert X.shape == entry.shape
            assert y.sum() == entry.outliers
            assert store.digest({"X": X, "y": y.astype(np.uint8)}) == entry.digest


@pytest.fixture
def server():
    """A local server whose answers are set by the test: path -> (bytes, promised length)."""
    answers = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path not in answers:
                self.send_error(404)
                return
            content, length = answers[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield answers, f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def small_entry(monkeypatch, tmp_path):
    """'musk' with the shape and digest of a small file; an empty cache and no data folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ODEFS_DATA", raising=False)
    X, y = np.arange(12.0).reshape(4, 3) / 2, np.array([0, 0, 1, 0])
    converted = convert.mat(mat_bytes(X, y))
    digest = store.digest({"X": converted.X, "y": converted.y})
    entry = replace(registry.BY_NAME["musk"], shape=(4, 3), outliers=1, digest=digest)
    monkeypatch.setitem(registry.BY_NAME, "musk", entry)
    return X, y


def test_download_convert_check_and_load(server, small_entry):
    answers, address = server
    X, y = small_entry
    content = mat_bytes(X, y)
    answers["/musk.mat"] = content, len(content)
    with pytest.raises(store.DatasetError, match="odefs datasets get musk"):
        store.load("musk")
    path = store.download("musk", f"{address}/musk.mat")
    assert path.is_relative_to(store.cache_folder())
    loaded = store.load("musk")
    assert np.array_equal(loaded.X, X.astype(np.float32))
    assert loaded.y.tolist() == y.tolist()
    assert [found.name for found in path.parent.iterdir()] == ["musk.npz"]


def test_bad_downloads_are_named_and_leave_nothing(server, small_entry):
    answers, address = server
    X, y = small_entry
    good, other, wide = mat_bytes(X, y), mat_bytes(X + 1, y), mat_bytes(np.c_[X, X], y)
    answers["/short"] = good[:100], len(good)
    answers["/other"] = other, len(other)
    answers["/wide"] = wide, len(wide)
    answers["/text"] = b"hello", 5
    for path, sentence in [
        ("/short", "cannot be downloaded"),
        ("/other", "values differ"),
        ("/wide", "4 x 6 with 1 outliers, but 4 x 3"),
        ("/text", "cannot be converted"),
        ("/nowhere", "404"),
    ]:
        with pytest.raises(store.DatasetError, match=sentence):
            store.download("musk", address + path)
    assert store.find("musk") is None
    with pytest.raises(store.DatasetError, match="cannot be downloaded"):
        store.download("musk", "http://127.0.0.1:1/")


def test_blob_ids_are_those_of_git(tmp_path):
    (tmp_path / "file").write_bytes(b"what is up, doc?")
    said = subprocess.run(
        ["git", "hash-object", "file"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert store.blob_id(b"what is up, doc?") == said
    assert {entry.name for entry in registry.ENTRIES if entry.blob} == {"advertisements", "speech"}


def test_another_source_file_is_refused_even_if_its_values_are_the_same(
    server, small_entry, monkeypatch
):
    answers, address = server
    X, y = small_entry
    good = mat_bytes(X, y)
    other = b"m" + good[1:]  # a word of the header's free text
    monkeypatch.setitem(
        registry.BY_NAME, "musk", replace(registry.BY_NAME["musk"], blob=store.blob_id(good))
    )
    answers["/good"], answers["/other"] = (good, len(good)), (other, len(other))
    with pytest.raises(store.DatasetError, match=f"{store.blob_id(other)}.*{store.blob_id(good)}"):
        store.download("musk", f"{address}/other")
    assert store.find("musk") is None
    assert store.download("musk", f"{address}/good").exists()


def test_an_archive_is_known_by_the_file_in_it(server, small_entry, monkeypatch):
    """Two zips differ in their bytes; the data file in them is the same."""
    answers, address = server
    data = b"125,125,1.0,1,0,?,ad.\n?,?,?,0,1,1,nonad.\n"
    entry = registry.BY_NAME["advertisements"]
    small = replace(entry, shape=(2, 3), outliers=1, digest=None, blob=store.blob_id(data))
    monkeypatch.setitem(registry.BY_NAME, "advertisements", small)
    for name, content in [
        ("/one", zipped(ad_data=data)),
        ("/two", zipped(ad_names=NAMES, ad_data=data)),
        ("/other", zipped(ad_data=data.replace(b"125", b"126"))),
        ("/empty", zipped(ad_names=NAMES)),
    ]:
        answers[name] = content, len(content)
    assert answers["/one"] != answers["/two"]
    for name in ("/one", "/two"):
        store.download("advertisements", address + name)
        assert store.load("advertisements").X.shape == (2, 3)
    with pytest.raises(store.DatasetError, match="blob id"):
        store.download("advertisements", f"{address}/other")
    with pytest.raises(store.DatasetError, match="cannot be converted"):
        store.download("advertisements", f"{address}/empty")


def test_the_data_folder_comes_before_the_cache(monkeypatch, tmp_path):
    for name in ("data", "cache/odefs"):
        (tmp_path / name).mkdir(parents=True)
        np.savez(tmp_path / name / "musk.npz", X=np.ones((2, 2)), y=np.array([0, 1]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ODEFS_DATA", str(tmp_path / "data"))
    assert store.find("musk") == tmp_path / "data" / "musk.npz"
    monkeypatch.delenv("ODEFS_DATA")
    assert store.find("musk") == tmp_path / "cache" / "odefs" / "musk.npz"


def test_a_file_with_the_right_name_and_other_rows_is_refused(monkeypatch, tmp_path):
    np.savez(tmp_path / "musk.npz", X=np.ones((50, 3)), y=np.arange(50) == 0)
    monkeypatch.setenv("ODEFS_DATA", str(tmp_path))
    with pytest.raises(store.DatasetError, match="50 x 3 with 1 outliers, but 3062 x 166"):
        store.load("musk")


@pytest.mark.parametrize("labels", [[-1, 1, 1], ["yes", "no", "no"], [0, 1, 2]])
def test_labels_other_than_0_and_1_are_refused(labels, tmp_path):
    np.savez(tmp_path / "x.npz", X=np.ones((3, 2)), y=np.array(labels))
    with pytest.raises(store.DatasetError, match="labels must be 0"):
        store.read(tmp_path / "x.npz")


def test_unknown_names_and_broken_files(tmp_path):
    with pytest.raises(store.DatasetError, match="not one of advertisements"):
        store.load("iris")
    (tmp_path / "x.npz").write_text("no")
    with pytest.raises(store.DatasetError, match=r"x\.npz"):
        store.read(tmp_path / "x.npz")


def test_synthetic_outliers_are_shifted_in_the_relevant_columns_only():
    made = make_shifted(4000, 30, 6, outlier_share=0.1, seed=1)
    shift = made.X[made.y == 1].mean(axis=0) - made.X[made.y == 0].mean(axis=0)
    assert set(np.flatnonzero(shift > 0.1)) == set(made.relevant)
    assert np.abs(np.delete(shift, made.relevant)).max() < 0.1
    assert made.y.sum() == 400
    assert np.array_equal(make_shifted(50, 5, 2, seed=3).X, make_shifted(50, 5, 2, seed=3).X)
