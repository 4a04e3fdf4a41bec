"""Merges ClickHouse's XML configuration as the server does: elements of a later file join those of the same name.

`replace` (or `@replace`) takes the place of the earlier element, `remove` removes it. The engine does not merge: the
user `default` of a stand-in must stay (`users`).
"""

import os
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

REPEATED = ("ip", "query", "listen_host", "host", "host_regexp")  # elements of one name that make a list
ENGINE = """
<clickhouse>
    <profiles><engine>
        <additional_result_filter>throwIf(materialize(1), 'default may do nothing here')</additional_result_filter>
        <constraints><additional_result_filter><const/></additional_result_filter></constraints>
    </engine></profiles>
    <quotas><engine><interval><duration>2000000000</duration><queries>2</queries></interval></engine></quotas>
    <users><default replace="1">
        <password/>
        <networks><ip>127.0.0.1</ip></networks>
        <profile>engine</profile>
        <quota>engine</quota>
        <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants>
    </default></users>
</clickhouse>
"""


def merged(file: Path, folder: Path) -> Element:
    """`file` and the XML files of `folder`, in the order of their names."""
    root = ElementTree.parse(file).getroot()
    for path in sorted(folder.glob("*.xml")):
        merge(root, ElementTree.parse(path).getroot())
    fill(root)
    return root


def fill(root: Element) -> None:
    """Gives elements with `from_env` the variable's value: the engine runs without variables.

    Raises:
        LookupError: a variable is missing. The engine would take it as empty.
    """
    for element in root.iter():
        if (name := element.attrib.pop("from_env", None)) is None:
            continue
        if name not in os.environ:
            raise LookupError(f"{element.tag}: the variable {name} of from_env is missing")
        element.text = os.environ[name]


def merge(into: Element, other: Element) -> None:
    """Adds the elements of `other` to `into`, in place."""
    for element in other:
        replaces, removes = (flag(element, name) for name in ("replace", "remove"))
        earlier = into.find(element.tag)
        if earlier is not None and (replaces or removes):
            into.remove(earlier)
        if removes:
            continue
        if earlier is None or replaces or element.tag in REPEATED:
            into.append(element)
        elif len(element):
            merge(earlier, element)
        else:
            earlier.text = element.text


def flag(element: Element, name: str) -> bool:
    return any(element.attrib.pop(key, "0") not in ("0", "false") for key in (name, f"@{name}"))


def users(file: Path, folder: Path) -> Element:
    """Users that others log in as, and `default`: the engine logs in to itself as that one, for two statements."""
    root = merged(file, folder)
    merge(root, ElementTree.fromstring(ENGINE))
    return root
