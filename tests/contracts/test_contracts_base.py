"""What a change of the contracts is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract_lab import order_placed
from git_lab import Repository

from service_platform.contracts import Base, NoSuchBase, contract_of, find_base

FIRST = contract_of(order_placed())
SECOND = contract_of(order_placed(version=2, currency=str)).after(FIRST)
THIRD = contract_of(order_placed(version=3, currency=str, reason=str)).after(SECOND)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Its first commit has no contracts, its second has version 1 of one event."""
    repository = Repository.started_in(tmp_path)
    repository.write([FIRST])
    repository.commit()
    return repository


def versions(base: Base) -> list[int]:
    return [contract.version for contracts in base.contracts.values() for contract in contracts]


def test_on_the_main_line_a_change_is_compared_with_the_last_commit(repository: Repository) -> None:
    base = find_base(repository.contracts, {"order": [SECOND]})
    assert (versions(base), base.origin[:15]) == ([1], "the last commit")


def test_without_a_change_the_last_change_is_looked_at_once_more(repository: Repository) -> None:
    """So that a check of the main line itself, after a merge, still compares something."""
    repository.write([SECOND])
    repository.commit()
    (repository.root / "README.md").write_text("unrelated", encoding="utf-8")
    repository.commit()
    assert versions(find_base(repository.contracts, {"order": [SECOND]})) == [1]


TYPO = contract_of(order_placed(version=2, curency=str)).after(FIRST)


def test_the_commits_of_one_merge_are_one_change(repository: Repository) -> None:
    """What the first of them added may have got another name in the second, before anybody had it."""
    repository.git("switch", "--quiet", "--create", "feature")
    for contract in (TYPO, SECOND):
        repository.write([contract])
        repository.commit()
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "--ff-only", "feature")
    base = find_base(repository.contracts, {"order": [SECOND]})
    assert base.contracts == {"order": [FIRST]}


def test_the_commits_of_one_push_are_one_change(repository: Repository, tmp_path: Path) -> None:
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(tmp_path / "shared"))
    repository.git("clone", "--quiet", str(tmp_path / "shared"), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    for contract in (TYPO, SECOND):
        clone.write([contract])
        clone.commit()
    clone.git("push", "--quiet")
    assert find_base(clone.contracts, {"order": [SECOND]}).contracts == {"order": [FIRST]}


def test_a_commit_that_was_amended_was_never_there(repository: Repository) -> None:
    repository.write([TYPO])
    repository.commit()
    repository.write([SECOND])
    repository.git("commit", "--quiet", "--all", "--amend", "--message", "without the typo")
    assert find_base(repository.contracts, {"order": [SECOND]}).contracts == {"order": [FIRST]}


def test_the_first_contracts_have_nothing_to_be_compared_with(repository: Repository) -> None:
    assert find_base(repository.contracts, {"order": [FIRST]}).contracts == {}


def test_a_branch_is_compared_with_where_it_left_the_main_line(repository: Repository) -> None:
    repository.git("switch", "--quiet", "--create", "feature")
    repository.write([SECOND])
    repository.commit()
    assert versions(find_base(repository.contracts, {"order": [THIRD]})) == [1]


def test_the_upstream_of_the_main_line_counts_before_the_main_line(repository: Repository, tmp_path: Path) -> None:
    """Commits that are not pushed yet are compared with what everybody else has."""
    repository.git("clone", "--quiet", str(repository.root), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    clone.write([SECOND])
    clone.commit()
    base = find_base(clone.contracts, {"order": [SECOND]})
    assert versions(base) == [1]
    assert "main@{upstream}" in base.origin


def test_a_revision_can_be_asked_for(repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.write([SECOND])
    repository.commit()
    repository.write([THIRD])
    repository.commit()
    assert versions(find_base(repository.contracts, {"order": [THIRD]}, first)) == [1]
    with pytest.raises(NoSuchBase, match="no-such-branch"):
        find_base(repository.contracts, {"order": [THIRD]}, "no-such-branch")


def test_a_revision_with_another_history_is_refused(repository: Repository) -> None:
    repository.git("switch", "--quiet", "--orphan", "other")
    repository.write([FIRST])
    repository.commit()
    with pytest.raises(NoSuchBase, match="no commit in common"):
        find_base(repository.contracts, {"order": [FIRST]}, "main")


def test_a_folder_can_be_asked_for(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "copy" / "order").mkdir(parents=True)
    (tmp_path / "copy" / "order" / "events.json").write_bytes(
        (repository.contracts / "order" / "events.json").read_bytes()
    )
    assert versions(find_base(repository.contracts, {"order": [THIRD]}, str(tmp_path / "copy"))) == [1]


def test_a_fresh_clone_of_the_main_line_says_that_it_cannot_know(repository: Repository, tmp_path: Path) -> None:
    repository.write([SECOND])
    repository.commit()
    repository.git("clone", "--quiet", str(repository.root), str(tmp_path / "fresh"))
    base = find_base(tmp_path / "fresh" / "contracts", {"order": [SECOND]})
    assert base.contracts == {}
    assert "CONTRACTS_BASE=<revision>" in base.origin


def test_a_repository_that_git_does_not_open_is_an_error(repository: Repository) -> None:
    """A check that compares nothing must not look like one that found nothing."""
    (repository.root / ".git" / "HEAD").unlink()
    with pytest.raises(NoSuchBase, match="git status"):
        find_base(repository.contracts, {"order": [FIRST]})


def test_a_git_hook_does_not_lead_astray(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    assert versions(find_base(repository.contracts, {"order": [SECOND]})) == [1]


def test_without_git_there_is_nothing_to_compare_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "contracts").mkdir()
    assert "no git repository" in find_base(tmp_path / "contracts", {}).origin
    monkeypatch.setenv("PATH", "")
    assert find_base(tmp_path / "contracts", {}).contracts == {}
