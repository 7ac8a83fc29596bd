"""What the operators' command takes, and what it says of a command line that it cannot use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from uuid import UUID

import pytest
from ops_things import THINGS

from service_platform.ops.command import run_command
from service_platform.settings import ServiceSettings

Main = Callable[..., tuple[int, str, str]]


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Main:
    """The command in this process: what it exits with and says, before it would need its settings."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LANG", "C")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ops", *words])
        with pytest.raises(SystemExit) as exited:
            run_command("ops", ServiceSettings, THINGS)
        said = capsys.readouterr()
        return int(exited.value.code or 0), said.out, said.err

    return run


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["close", "no-uuid", "--reason", "x"], ["ID: ", "--reason: ", "at least 3 characters"]),
        (["close", str(UUID(int=1))], ["--reason"]),
        (["close", "--reason", "broken"], ["ID"]),
        (["close", str(UUID(int=1)), "--reason", "broken", "--again"], ["a reason for closing again says 'again'"]),
        (["list", "--limit", "0"], ["--limit: ", "greater than or equal to 1"]),
        (["list", "--limit", "many"], ["--limit: ", "integer"]),
        (["list", "--colour", "red"], ["--colour"]),
        (["list", "--actor", ""], ["--actor: ", "printable"]),
        (["mend"], ["mend"]),
    ],
)
def test_an_unusable_command_line_exits_2_and_says_what_is_wrong_and_where_help_is(
    main: Main, words: list[str], told: list[str]
) -> None:
    code, out, err = main("things", *words)
    assert (code, out) == (2, "")
    for text in [*told, "--help"]:
        assert text in err


def test_help_names_every_option_and_what_it_takes(main: Main) -> None:
    code, out, _ = main("things", "close", "--help")
    assert code == 0
    for text in ("close things.detail", "Which one, such as 6f1d2e5a", "Why, such as broken", "Even if it is closed"):
        assert text in out
    for option in ("ID", "--reason", "--again", "--actor", "--json"):
        assert option in out
    _, out, _ = main("things", "close-all", "--help")
    assert "(default: 100)" in out


def test_help_lists_groups_and_their_actions_in_the_language_of_the_terminal(
    main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "vi_VN.UTF-8")
    _, groups, _ = main("--help")
    assert "Things (vi)" in groups
    _, actions, _ = main("things", "--help")
    for action in ("list", "show", "close", "close-all", "spoil"):
        assert f"{action} things (vi)" in actions


def test_a_user_without_a_name_is_asked_for_one(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise OSError("no name for this user id")

    monkeypatch.setattr("getpass.getuser", nobody)
    code, _, err = main("things", "list")
    assert code == 2
    assert "say who you are with --actor" in err
