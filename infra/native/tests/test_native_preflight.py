"""What stands in the way of a start is named before anything is started, with its mend."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from native import preflight
from native.credentials import make_secrets
from native.errors import StackError
from native.layout import Layout
from native.postgres import Postgres
from native.stack import Stack
from native.topology import SERVICES


def test_a_taken_port_is_named_with_its_holder_and_the_setting_that_moves_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 27632)), pytest.raises(StackError) as refused:
        Stack(tmp_path / "state", 27600).up()

    assert "port 27632 (postgres)" in str(refused.value)
    assert f"pid {os.getpid()}" in str(refused.value)
    assert "FENCEPOST_PORT_BASE=" in refused.value.mend


def test_the_mend_offers_a_base_whose_ports_are_free() -> None:
    with (
        socket.create_server(("127.0.0.1", 25101)),
        socket.create_server(("127.0.0.1", 26101)),
        pytest.raises(StackError) as refused,
    ):
        preflight.check_ports({25101: "order-api"}, "FENCEPOST_PORT_BASE", 25100)

    assert "FENCEPOST_PORT_BASE=27100" in refused.value.mend


def test_too_little_disk_is_said_in_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1024**3)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

    with pytest.raises(StackError, match=r"has 1\.0 GiB left, the stack needs 2"):
        preflight.check_disk([tmp_path])


def test_data_of_another_major_version_is_left_alone_and_named(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "state")
    layout.make()
    make_secrets(layout.secrets, SERVICES)
    data = layout.postgres / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")

    with pytest.raises(StackError, match="was made by PostgreSQL 16") as refused:
        Postgres(layout, 27432).prepare()

    shutil.rmtree(layout.outside, ignore_errors=True)
    assert "make clean" in refused.value.mend


def test_a_folder_with_other_things_in_it_is_neither_used_nor_deleted(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    stack = Stack(tmp_path, 27600)

    for attempt in (stack.up, stack.clean):
        with pytest.raises(StackError, match="is not a stack's folder"):
            attempt()

    assert (tmp_path / "thesis.tex").exists()
