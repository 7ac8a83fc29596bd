"""Delivering an issued document: its PDF, then its mail. No transaction is open while either is made or sent."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Claim, Database
from service_platform.messages import Language

from .delivery_table import DeliveryTable
from .errors import DocumentNotReady
from .mailer import Mail, Mailer


class Document(Protocol):
    """What every kind of document has."""

    @property
    def id(self) -> UUID: ...
    @property
    def number(self) -> str: ...
    @property
    def customer_email(self) -> str: ...
    @property
    def language(self) -> Language: ...


DocumentT = TypeVar("DocumentT", bound=Document)


class DocumentDelivery(ABC, Generic[DocumentT]):
    """Renders and mails one kind of document. A subclass says how one is found, drawn, and written about.

    `seller` is the name that signs them. `mail_domain` is the right side of their Message-IDs.
    """

    kind: ClassVar[str]
    """The left side of their Message-IDs begins with it."""

    def __init__(
        self, database: Database, deliveries: DeliveryTable, mailer: Mailer, *, seller: str, mail_domain: str
    ) -> None:
        self._database = database
        self._deliveries = deliveries
        self._mailer = mailer
        self._seller = seller
        self._mail_domain = mail_domain

    def prepare(self) -> None:
        """Load what rendering needs, which takes a second once a process. What it forks afterwards has it too."""
        from .drawing import prepare_rendering  # noqa: PLC0415 - see `_draw`

        prepare_rendering()

    @abstractmethod
    async def _find(self, document_id: UUID, session: AsyncSession) -> DocumentT:
        """The document. Raises when there is none."""

    @abstractmethod
    def _draw(self, document: DocumentT) -> bytes:
        """Its PDF; called in a thread. Imports what it needs itself: the libraries behind it would make a quarter of
        the start of each process that never renders."""

    @abstractmethod
    def _write(self, document: DocumentT) -> tuple[str, str]:
        """The subject and the text of its mail."""

    async def _render(self, document_id: UUID, fence: Claim) -> None:
        """Make the PDF, unless it is made already."""
        document, pdf = await self._load(document_id)
        if pdf is None:
            # In a thread, so that a long one does not hold up the loop.
            pdf = await asyncio.to_thread(self._draw, document)
        async with self._database.transaction(claim=fence) as tx:
            await self._deliveries.keep_document(document.id, pdf, tx)

    async def _mail(self, document_id: UUID, fence: Claim) -> None:
        """Send the document to its customer.

        The intent is recorded first. Where an earlier run recorded one, that run may have sent the mail and died, so
        the mailbox is looked into before anything is sent again. What the mailbox cannot show (a mail still on its
        way, a mail server without such an API) is sent again, under the same Message-ID: mail is at least once.

        Raises `DocumentNotReady`, `MailNotSent`, `MailboxUnavailable`.
        """
        document, pdf = await self._load(document_id)
        if pdf is None:
            raise DocumentNotReady(number=document.number)
        message_id = f"<{self.kind}.{document.id}@{self._mail_domain}>"
        async with self._database.transaction(claim=fence) as tx:
            intent = await self._deliveries.intend_mail(document.id, message_id, tx)
        if intent.mailed:
            return
        taken = intent.times > 1 and await self._mailer.took(intent.message_id)
        if not taken:
            await self._mailer.send(self._letter(document, pdf, intent.message_id))
        async with self._database.transaction(claim=fence) as tx:
            await self._deliveries.mark_mailed(document.id, tx)

    async def _load(self, document_id: UUID) -> tuple[DocumentT, bytes | None]:
        async with self._database.read() as session:
            document = await self._find(document_id, session)
            return document, await self._deliveries.find_document(document_id, session)

    def _letter(self, document: DocumentT, pdf: bytes, message_id: str) -> Mail:
        subject, text = self._write(document)
        return Mail(
            message_id=message_id,
            to=document.customer_email,
            subject=subject,
            text=text,
            file_name=f"{document.number}.pdf",
            pdf=pdf,
        )
