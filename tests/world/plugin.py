"""The pytest plugin of the suite: scenario marks are checked and summed up, tests on real servers are marked.

Loaded for every run (`-p world.plugin` in pyproject.toml), since a service's own tests may prove a scenario too.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from world.catalogue import CATALOGUE
from world.logs import log_plainly
from world.patterns import declared_by

OUTCOMES = ("passed", "skipped", "failed", "error")
STACK_FIXTURES = {"stack", "service_databases"}
SCENARIOS = "tests/scenarios/"
EVENT_BUS_SCENARIOS = "tests/scenarios/test_event_bus"
OWN_SERVERS = ("platform/", "services/", "tests/http/")  # each worker has its own servers for these (`native.testing`)
LONG = (SCENARIOS, "tests/chaos/")
LAST_OUTCOMES = "fencepost/scenarios"
Outcome = tuple[str, float]


def scenario_of(item: pytest.Item) -> str | None:
    """The scenario that a test claims, if any."""
    mark = item.get_closest_marker("scenario")
    return str(mark.args[0]) if mark else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scenario", metavar="NAME", help="run the tests of this scenario only (`make scenarios` lists)")


def pytest_configure() -> None:
    log_plainly()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `service` runs once for every service that declares its scenario's pattern."""
    mark = metafunc.definition.get_closest_marker("scenario")
    if "service" in metafunc.fixturenames and mark is not None:
        metafunc.parametrize("service", declared_by(mark.args[0].split("/")[0]))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what starts real servers, so that `make unit` can leave it out."""
    if not STACK_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
        item.add_marker("needs_stack")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    wanted = config.getoption("--scenario")
    if wanted is not None and wanted not in CATALOGUE:
        raise pytest.UsageError(f"there is no scenario {wanted!r}: `make scenarios` lists them")
    claimed: dict[str, str] = {}
    for item in items:
        name = scenario_of(item)
        if name is None:
            continue
        test = item.nodeid.split("[")[0]
        if name not in CATALOGUE:
            raise pytest.UsageError(f"{test}: scenario {name!r} does not stand in tests/world/catalogue.py")
        if claimed.setdefault(name, test) != test:
            raise pytest.UsageError(f"scenario {name!r} is claimed twice: by {claimed[name]} and by {test}")
        item.user_properties.append(("scenario", name))
    if wanted is not None:
        left_out = [item for item in items if scenario_of(item) != wanted]
        items[:] = [item for item in items if scenario_of(item) == wanted]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the title of a scenario's report begin with its name."""
    report = yield
    name = scenario_of(item)
    if name is not None:
        path, line, title = report.location
        report.location = (path, line, f"{name}: {title}")
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    outcomes = _outcomes(terminalreporter)
    if not outcomes:
        return
    terminalreporter.section("scenarios")
    for name in sorted(outcomes, key=list(CATALOGUE).index):
        outcome, seconds = outcomes[name]
        terminalreporter.write_line(f"{outcome:8} {seconds:7.1f} s  {name}: {CATALOGUE[name]}")
    if config.pluginmanager.hasplugin("cacheprovider") and config.cache is not None:
        config.cache.set(LAST_OUTCOMES, {**config.cache.get(LAST_OUTCOMES, {}), **outcomes})


def group_of(nodeid: str) -> str:
    """The tests that one worker runs after each other.

    The scenarios need a stack of the whole suite: two halves, on a stack each. Elsewhere the files of a folder share
    ports. Where each worker has servers of its own, files are given out one by one, so that no worker is idle at the
    end.
    """
    if nodeid.startswith(SCENARIOS):
        return EVENT_BUS_SCENARIOS if nodeid.startswith(EVENT_BUS_SCENARIOS) else SCENARIOS
    if nodeid.startswith(OWN_SERVERS):
        return nodeid.partition("::")[0]
    return "/".join(nodeid.split("/")[:2])


def _turn(item: pytest.Item) -> int:
    """What takes longest begins first, so that it is not what the other workers wait for at the end."""
    return 0 if item.nodeid.startswith(LONG) else 1 if item.nodeid.startswith(OWN_SERVERS) else 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """`make test` runs groups side by side (pytest-xdist), since each stack of servers is for one worker only."""
    from xdist.scheduler import LoadScopeScheduling

    class ByStack(LoadScopeScheduling):  # type: ignore[misc] # xdist is not typed
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByStack(config, log)


def _outcomes(terminalreporter: pytest.TerminalReporter) -> dict[str, Outcome]:
    """The worst outcome of each scenario's tests, and the seconds that they took together."""
    outcomes: dict[str, Outcome] = {}
    for outcome in OUTCOMES:
        for report in terminalreporter.stats.get(outcome, []):
            for key, name in getattr(report, "user_properties", []):
                if key == "scenario":
                    before, seconds = outcomes.get(name, (outcome, 0.0))
                    outcomes[name] = (max(before, outcome, key=OUTCOMES.index), seconds + report.duration)
    return outcomes
