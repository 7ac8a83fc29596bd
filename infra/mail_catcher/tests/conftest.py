from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from mail_catcher.testing import MailProcess


@pytest.fixture(scope="session")
def mail_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailProcess]:
    process = MailProcess(tmp_path_factory.mktemp("mail"))
    process.start()
    yield process
    process.stop()


@pytest.fixture
def own_catcher(tmp_path: Path) -> Iterator[MailProcess]:
    """A process that the test may kill and start again."""
    process = MailProcess(tmp_path)
    process.start()
    yield process
    process.kill()


@pytest.fixture
async def mailbox(mail_process: MailProcess) -> AsyncIterator[httpx.AsyncClient]:
    """The HTTP side of a catcher without mails and faults."""
    async with httpx.AsyncClient(verify=False, base_url=mail_process.url) as client:
        (await client.delete("/api/v1/messages")).raise_for_status()
        (await client.delete("/_double/faults")).raise_for_status()
        yield client
