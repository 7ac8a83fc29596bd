"""Every service opens both doors to every operator action: the routes behind the scope `ops`, and the command."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys

import pytest

from contract_writer.openapi import application
from native.topology import SERVICES
from service_platform.operations import operator_actions
from service_platform.ops import ActionRegistry
from service_platform.ops.routes import method_of, path_of


def actions_of(service: str) -> ActionRegistry:
    """The platform's actions, and the service's own where it has some."""
    own = f"{service}_service.operations"
    if importlib.util.find_spec(own) is None:
        return operator_actions(())
    registry: ActionRegistry = importlib.import_module(own).ACTIONS
    return registry


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_a_route_for_every_action_and_none_without_the_scope(service: str) -> None:
    document = application(service).openapi()
    routes = {
        (method.upper(), path): operation["security"]
        for path, item in document["paths"].items()
        if path.startswith("/ops")
        for method, operation in item.items()
    }
    assert routes == {
        (method_of(action), f"/ops{path_of(action)}"): [{"bearer": ["ops"]}] for action in actions_of(service)
    }


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_a_command_that_explains_itself_without_any_settings(service: str) -> None:
    command = [sys.executable, "-m", f"{service}_service.main.ops", "--help"]
    helped = subprocess.run(command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False)
    assert helped.returncode == 0, helped.stderr
    for things in {action.things for action in actions_of(service)}:
        assert things in helped.stdout
