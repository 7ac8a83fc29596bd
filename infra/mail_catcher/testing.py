"""The catcher as a process of its own, for tests that talk to it over the network."""

from pathlib import Path

from native.standalone import StandaloneProcess, free_port


class MailProcess(StandaloneProcess):
    """A mail catcher on ports of its own, with its mails in `state_dir`."""

    def __init__(self, state_dir: Path) -> None:
        self.smtp_port = free_port()
        http_port = free_port()
        super().__init__(
            "mail_catcher",
            url=f"http://127.0.0.1:{http_port}",
            ready_path="/readyz",
            settings={
                "MAIL_STATE_DIR": str(state_dir),
                "MAIL_SMTP_PORT": str(self.smtp_port),
                "MAIL_HTTP_PORT": str(http_port),
            },
        )
