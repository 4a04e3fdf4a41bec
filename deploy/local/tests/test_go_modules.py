"""The Go programs of the local stack compile what they share once: a package of another version compiles again."""

import re
from collections import defaultdict

from stack.builds import GO_OPTIONS
from stack.settings import REPOSITORY

PROGRAMS = ("collector/local", "actuators", "recommender/serve")
#: The collector's exporter is released with an older client of Kafka than the server needs.
APART = "github.com/twmb/"
REQUIRED = re.compile(r"^(?:require )?\s*(\S+) (v\S+)", re.MULTILINE)
REPLACED = re.compile(r"^(?:replace )?\s*(\S+) => \S+ (v\S+)$", re.MULTILINE)


def versions(go_mod: str) -> dict[str, str]:
    """The version of each module that a go.mod requires, after its replacements."""
    return dict(REQUIRED.findall(go_mod)) | dict(REPLACED.findall(go_mod))


def test_what_a_go_mod_requires() -> None:
    required = "require golang.org/x/sys v0.1.0 // indirect\nrequire (\n\tk8s.io/api v0.2.0\n)\n"
    assert versions(required + "replace k8s.io/api => k8s.io/api v0.3.0\n") == {
        "golang.org/x/sys": "v0.1.0",
        "k8s.io/api": "v0.3.0",
    }


def test_the_programs_have_one_version_of_each_module() -> None:
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for program in PROGRAMS:
        for module, version in versions((REPOSITORY / program / "go.mod").read_text()).items():
            found[module][program] = version
    apart = {module: of for module, of in found.items() if len(set(of.values())) > 1 and not module.startswith(APART)}
    assert not apart, "set one version in collector/builder.yaml (replaces), or by `go get` in the others"


def test_both_collectors_replace_the_same() -> None:
    """So that an advisory that is mended in one is mended in the other."""
    local, kubernetes = (
        dict(REPLACED.findall((REPOSITORY / "collector" / name / "go.mod").read_text()))
        for name in ("local", "kubernetes")
    )
    assert len(local) > 20
    assert kubernetes == local


def test_tests_and_lint_compile_with_the_options_of_the_build() -> None:
    """With others each dependency is compiled once more: Go's tests took 405 s of a core instead of 190."""
    makefile = (REPOSITORY / "Makefile").read_text()
    assert f'GOFLAGS="{" ".join(GO_OPTIONS)}"' in makefile
