"""The table of the library against the SystemVerilog that it describes."""

from __future__ import annotations

import re

import pytest

from allo.backend.rtl.library import MODULES, grid_files, library_directory, library_files, library_module
from allo.backend.rtl.library.catalogue import PARTS
from allo.errors import InternalError


def text_of(name: str, folder: str = "") -> str:
    return (library_directory() / folder / f"{name}.sv").read_text()


def test_every_file_is_in_the_table() -> None:
    assert {path.stem for path in library_directory().glob("*.sv")} == {*MODULES, *PARTS}
    grids = {path.stem for path in (library_directory() / "simulation" / "grids").glob("*.sv")}
    assert grids == {name for name, module in MODULES.items() if module.has_grid}
    models = {path.stem for path in (library_directory() / "simulation").glob("*.sv")}
    assert models == {name for name, module in MODULES.items() if module.has_fast_model}


@pytest.mark.parametrize("name", MODULES)
def test_parameters_ports_and_instances(name: str) -> None:
    module = library_module(name)
    for folder in ["", *(["simulation"] if module.has_fast_model else [])]:
        text = text_of(name, folder)
        header = text[text.index("\nmodule ") : text.index(";\n", text.index("\nmodule "))]
        declared = re.findall(r"(?<!local)parameter (?:int |bit |logic \[.*?\] )?(\w+) = ([^,)\s]+)", header)
        assert {parameter for parameter, _ in declared} == set(module.defaults)
        for parameter, value in declared:
            if value in module.defaults:  # a latency that is a width
                assert module.defaults[parameter] == module.defaults[value]
            else:
                assert str(module.defaults[parameter]) == value.strip('"')
        ports = re.findall(r"(input|output) logic (?:signed )?(?:\[[^\]]*\] )?(\w+)", header)
        assert {(port.name, port.is_input) for port in module.ports({})} == {
            (port, direction == "input") for direction, port in ports
        }
    instances = set(re.findall(r"^\s+(allo_\w+) #", text_of(name), re.MULTILINE))
    reached = {file.removesuffix(".sv") for file in library_files([name])}
    assert instances | {"allo_" + name.removeprefix("allo_")} <= reached
    assert module.memory is None or re.search(rf"\b{module.memory} \[0:DEPTH-1\]", text_of(name))


@pytest.mark.parametrize("name", [name for name, module in MODULES.items() if module.has_grid])
def test_grids_have_the_parameters_and_ports_of_one(name: str) -> None:
    module, text = library_module(name), grid_files([name])[f"{name}_grid.sv"]
    header = text[text.index("\nmodule ") : text.index(";\n", text.index("\nmodule "))]
    declared = re.findall(r"(?<!local)parameter (?:int |bit |logic \[.*?\] )?(\w+) = ([^,)\s]+)", header)
    assert {parameter: value.strip('"') for parameter, value in declared} == {
        "GRID": "8", **{parameter: str(value) for parameter, value in module.defaults.items()}
    }  # fmt: skip
    ports = re.findall(r"(input|output) logic (?:\[[^\]]*\] )?(\w+)( \[0:SIZE-1\])?", header)
    assert {(port.name, port.is_input, port.name not in ("clk", "rst")) for port in module.ports({})} == {
        (port, direction == "input", bool(array)) for direction, port, array in ports
    }
    assert module.memory is None or re.search(rf"\b{module.memory} \[0:SIZE-1\]\[0:DEPTH-1\]", text)


def test_what_is_not_there() -> None:
    with pytest.raises(InternalError, match="has no module 'allo_exp'"):
        library_module("allo_exp")
    with pytest.raises(InternalError, match=r"allo_fifo has no parameter 'LAT', only W, DEPTH"):
        library_module("allo_fifo").ports({"LAT": 1})
    with pytest.raises(InternalError, match="the parameter W of allo_fifo cannot be '8'"):
        library_module("allo_fifo").ports({"W": "8"})
