"""What the billing service is configured by."""

from __future__ import annotations

from email.errors import MessageError
from email.headerregistry import Address
from email.utils import parseaddr
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from billing_service.domain.invoices import LETTERS
from service_platform.settings import ServiceSettings


class BillingSettings(ServiceSettings):
    """The shared settings, who sells, and where the mail goes.

    `mail_from` is an address with or without a name: `Fencepost <billing@fencepost.example>`. `mailbox_api_url` is the
    address of the mail server's own Mailpit-like API; without one a mail whose fate is unknown is sent again.
    """

    seller_name: Annotated[str, Field(min_length=1, max_length=60)] = "Fencepost"
    smtp_host: str
    smtp_port: Annotated[int, Field(ge=1, le=65535)] = 25
    mail_from: str
    mailbox_api_url: str | None = None

    @field_validator("seller_name")
    @classmethod
    def _in_the_invoices_font(cls, name: str) -> str:
        if strange := set(name) - LETTERS:
            raise ValueError(f"invoices are set in Latin and Vietnamese letters, without {''.join(sorted(strange))}")
        return name

    @field_validator("mail_from")
    @classmethod
    def _one_address(cls, text: str) -> str:
        try:
            address = _address(text)
        except (MessageError, ValueError, IndexError) as error:
            raise ValueError("give an address like Fencepost <billing@fencepost.example>") from error
        if not address.username or not address.domain:
            raise ValueError("give an address like Fencepost <billing@fencepost.example>")
        return text

    @field_validator("mailbox_api_url")
    @classmethod
    def _web_address(cls, address: str | None) -> str | None:
        if address is not None and urlsplit(address).scheme not in {"https", "http"}:
            raise ValueError("give an https:// or http:// address")
        return address

    @property
    def mail_sender(self) -> Address:
        """Whom the mails are from; its domain also stands in their Message-IDs."""
        return _address(self.mail_from)


def _address(text: str) -> Address:
    name, address = parseaddr(text)
    return Address(display_name=name, addr_spec=address)
