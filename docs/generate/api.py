"""The page of the API: services of recommender/proto, and messages and enums that they use, with their comments."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from docs.generate.markdown import page, table

REPOSITORY = Path(__file__).resolve().parents[2]
_INTRODUCTION = """
The gRPC services of the recommender with the messages and enums that they use, from `recommender/proto`. Records of the
journal that no call uses are not here. `optional`: an absent field differs from 0. A call that fails returns a
`google.rpc.Status`; the comment of the service or of the call gives the meaning of its code.
"""
# The parts of each element with their field numbers in descriptor.proto: the path of a comment has these.
_PARTS = {
    "FileDescriptorProto": (("message_type", 4), ("enum_type", 5), ("service", 6)),
    "DescriptorProto": (("field", 2), ("nested_type", 3), ("enum_type", 4)),
    "EnumDescriptorProto": (("value", 2),),
    "ServiceDescriptorProto": (("method", 2),),
}


def text() -> str:
    built = subprocess.check_output(
        [REPOSITORY / ".cache/buf/bin/buf", "build", "-o", "-"], cwd=REPOSITORY / "recommender/proto"
    )
    return render(FileDescriptorSet.FromString(built))


def render(files: FileDescriptorSet) -> str:
    """The page. files: with their imports, and with source information."""
    pool, comments = DescriptorPool(), {}
    for file in files.file:
        pool.Add(file)
        by_path = {
            tuple(place.path): " ".join(place.leading_comments.split()) for place in file.source_code_info.location
        }
        comments.update({name: by_path.get(path, "") for name, path in _paths(file.package, file, ())})
    names = [f"{file.package}.{service.name}" for file in files.file for service in file.service]
    services = [pool.FindServiceByName(name) for name in sorted(names)]
    used: dict[str, Descriptor | EnumDescriptor] = {}
    for service in services:
        for method in service.methods:
            _collect(method.input_type, used)
            _collect(method.output_type, used)
    elements = [element for _, element in sorted(used.items())]
    return page(
        "gRPC API",
        _INTRODUCTION,
        *(_service(service, comments) for service in services),
        *(_element(element, comments) for element in elements),
    )


def _paths(scope: str, element: Any, path: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for part, number in _PARTS.get(type(element).__name__, ()):
        for index, child in enumerate(getattr(element, part)):
            name, place = f"{scope}.{child.name}", (*path, number, index)
            yield name, place
            yield from _paths(name, child, place)


def _collect(element: Descriptor | EnumDescriptor, used: dict[str, Descriptor | EnumDescriptor]) -> None:
    """Adds a message or enum of Sluice, and those of its fields."""
    if element.full_name in used or not element.full_name.startswith("sluice."):
        return
    used[element.full_name] = element
    for field in getattr(element, "fields", ()):
        if kind := field.message_type or field.enum_type:
            _collect(kind, used)


def _service(service: ServiceDescriptor, comments: dict[str, str]) -> str:
    rows = []
    for method in service.methods:
        streams = "stream of " if method.server_streaming else ""
        answer = f"{streams}{_link(method.output_type)}"
        rows.append((f"`{method.name}`", _link(method.input_type), answer, comments[method.full_name]))
    calls = table(["call", "request", "response", "meaning"], rows)
    return f"## {service.full_name}\n\n{comments[service.full_name]}\n\n{calls}"


def _element(element: Descriptor | EnumDescriptor, comments: dict[str, str]) -> str:
    if isinstance(element, EnumDescriptor):
        values = [(f"`{v.name}`", str(v.number), comments[f"{element.full_name}.{v.name}"]) for v in element.values]
        body = table(["value", "number", "meaning"], values)
    else:
        fields = [(f"`{f.name}`", str(f.number), _type(f), comments[f.full_name]) for f in element.fields]
        body = table(["field", "number", "type", "meaning"], fields) if fields else "No fields.\n"
    comment = comments[element.full_name]
    return f"## {element.full_name}\n\n" + (f"{comment}\n\n" if comment else "") + body


def _type(field: FieldDescriptor) -> str:
    kind = field.message_type or field.enum_type
    name = _link(kind) if kind else _SCALARS[field.type]
    choice = field.containing_oneof
    if choice and not choice.name.startswith("_"):
        return f"{name}, one of `{choice.name}`"
    return f"{'repeated ' if field.is_repeated else 'optional ' if choice else ''}{name}"


_SCALARS = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}


def _link(element: Descriptor | EnumDescriptor) -> str:
    name = element.full_name
    if not name.startswith("sluice."):
        return f"`{name}`"
    return f"[{name.partition('.v1.')[2]}](#{name.lower().replace('.', '')})"
