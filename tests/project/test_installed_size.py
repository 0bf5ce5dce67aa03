"""Sizes of installed packages, on an environment made of files of known size."""

from benchmarks.installed_size import package_sizes


def install(folder, name, sizes):
    described = folder / f"{name}-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    for file, size in sizes.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    listed = [f"{name}/{file},," for file in sizes]
    (described / "RECORD").write_text("\n".join([*listed, f"{name}/absent.py,,", ""]))


def test_sizes_are_those_of_the_files_on_disk_without_installers(tmp_path):
    install(tmp_path, "large", {"a.so": 3 * 2**20, "b/c.py": 100_000})
    install(tmp_path, "small", {"a.py": 10})
    install(tmp_path, "pip", {"a.py": 2**20})
    sizes = package_sizes(tmp_path)
    assert sizes.keys() == {"large", "small"}
    assert 3 * 2**20 + 100_000 <= sizes["large"] < 3 * 2**20 + 200_000
    assert sizes["small"] < 2**16
