"""Which licences fail `make lint`, and how they are read."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
from licences import licences, missing, refused
from locked import modules, named, wheels
from write_licences import _library, text_licence

REASON = {"reason": "a reason"}
RULES = {
    "permissive": ["MIT", "BSD-3-Clause"],
    "accepted": [{"licence": "MPL-2.0", "of": ["python:certifi"], **REASON}],
    "libraries": {"libgomp": "MIT"},
}


def entry(licence: str, **more: object) -> dict[str, object]:
    return {"images": ["job"], "licence": licence, **more}


def test_what_is_accepted_for_a_package_fails_in_no_version_of_it() -> None:
    packages = {"python:certifi@1": entry("MPL-2.0"), "go:a@v1": entry("MIT AND BSD-3-Clause", libraries=["libgomp"])}
    assert list(refused(packages, RULES)) == []


@pytest.mark.parametrize(
    "licence", ["unknown", "GPL-3.0-only", "MPL-2.0", "MIT OR GPL-2.0-only", "MIT AND GPL-2.0-only"]
)
def test_an_unknown_licence_and_one_of_another_package_fail(licence: str) -> None:
    found = list(refused({"python:certifi@1": entry("MPL-2.0"), "go:a@v1": entry(licence)}, RULES))
    assert found == [f"go:a@v1: {licences(licence)[-1]} in job is not accepted"]


def test_an_acceptance_without_its_package_fails() -> None:
    assert list(refused({"go:a@v1": entry("MIT")}, RULES)) == [
        "python:certifi: MPL-2.0 is accepted, and it has none: remove it"
    ]


def test_a_library_in_a_wheel_needs_a_licence_that_may_be_there() -> None:
    rules = {**RULES, "accepted": [], "libraries": {"libgomp": "GPL-3.0-only"}}
    assert list(refused({"python:b@1": entry("MIT", libraries=["libgomp", "libx"])}, rules)) == [
        "libgomp: GPL-3.0-only, in python:b@1, is not accepted",
        "python:b@1: the library libx in its wheel has no licence in accepted.toml",
    ]


def test_each_locked_package_has_an_entry_and_each_entry_is_locked() -> None:
    document = {"packages": {"go:a@v1": entry("MIT"), "go:old@v1": entry("MIT"), "java:g:of-a-tree@1": entry("MIT")}}
    assert list(missing(document, {"go:a@v1": {"job"}, "go:new@v1": {"job"}})) == [
        "go:new@v1: locked, and without an entry: make licences",
        "go:old@v1: has an entry, and is not locked: make licences",
    ]
    assert list(missing({"packages": {"go:a@v1": entry("MIT")}}, {"go:a@v1": {"decider", "job"}})) == [
        "go:a@v1: is in decider, job: make licences"
    ]


def test_a_wheel_of_another_system_is_in_no_image() -> None:
    lock = """a-b==1.0 \\
    --hash=sha256:1
colorama==0.4 ; sys_platform == 'win32' \\
lz4==4 ; python_full_version < '3.14' \\
"""
    assert list(wheels(lock)) == ["python:a-b@1.0", "python:lz4@4"]


def test_the_jars_of_a_pom_are_those_of_run_time_and_of_the_profile() -> None:
    def one(name: str, more: str = "") -> str:
        names = f"<groupId>g</groupId><artifactId>{name}</artifactId><version>${{v}}</version>"
        return f"<dependency>{names}{more}</dependency>"

    excluded = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    pom = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><properties><v>2</v></properties><dependencies>'
        f"{one('a')}{one('t', '<scope>test</scope>')}{one('p', '<scope>provided</scope>')}</dependencies><profiles>"
        f"<profile><id>mine</id><dependencies>{one('b', excluded)}</dependencies></profile>"
        f"<profile><id>other</id><dependencies>{one('c')}</dependencies></profile></profiles></project>"
    )
    assert list(named(pom, "mine")) == ["java:g:a@2", "java:g:b@2 without *:*"]


BSD = "Redistribution and use in source and binary forms, with or without\n// modification, are permitted provided that"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (BSD, "BSD-2-Clause"),
        (f"{BSD} its names may not be used to endorse\n or promote products", "BSD-3-Clause"),
        (
            "Mozilla Public License, version 2.0 'Covered Software' the GNU General Public License, Version 2.0",
            "MPL-2.0",
        ),
        ("GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007", "GPL-3.0-only"),
        (f"Apache License\n Version 2.0, January 2004 ... {BSD}", "Apache-2.0 AND BSD-2-Clause"),
        ("All rights reserved.", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_text_has_the_licences_whose_sentences_it_has(text: str, licence: str) -> None:
    assert text_licence(text) == licence


def test_a_library_is_named_without_its_hash_and_version() -> None:
    assert [_library("libgomp-e985bcbb.so.1.0.0"), _library("libscipy_openblas64_-32a4b2a6.so")] == [
        "libgomp",
        "libscipy_openblas64",
    ]


def test_of_a_replaced_module_the_replacement_is_held(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text(
        "module m\nrequire a.b/c v1.0.0\nrequire a.b/d v1.0.0\nrequire a.b/own v0.0.0\n"
        "replace a.b/d => a.b/d v1.2.0\nreplace a.b/own => ../own\n"
    )
    assert list(modules(tmp_path)) == ["go:a.b/c@v1.0.0", "go:a.b/d@v1.2.0"]
