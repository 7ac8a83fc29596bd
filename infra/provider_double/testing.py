"""The double as a process of its own, for tests that talk to it over the network."""

from pathlib import Path

from native.standalone import StandaloneProcess, free_port

API_KEY = "sk_test_double"
WEBHOOK_SECRET = "whsec_double"


class ProviderProcess(StandaloneProcess):
    """A provider double on a port of its own, with its ledger in `state_dir`."""

    def __init__(self, state_dir: Path, *, webhook_url: str = "") -> None:
        port = free_port()
        super().__init__(
            "provider_double",
            url=f"http://127.0.0.1:{port}",
            ready_path="/health/ready",
            settings={
                "PROVIDER_PORT": str(port),
                "PROVIDER_STATE_DIR": str(state_dir),
                "PROVIDER_API_KEY": API_KEY,
                "PROVIDER_WEBHOOK_URL": webhook_url,
                "PROVIDER_WEBHOOK_SECRET": WEBHOOK_SECRET,
            },
        )
