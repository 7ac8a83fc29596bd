"""The relay of most tutorials: a hundred rows FOR UPDATE SKIP LOCKED; each produced, flushed and updated by itself."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime

from confluent_kafka import Producer
from sqlalchemy import BigInteger, DateTime, Text, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_BATCH = 100
_POLL_SECONDS = 1.0


class Base(DeclarativeBase):
    pass


class Outbox(Base):
    __tablename__ = "outbox"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    aggregate_id: Mapped[str] = mapped_column(Text)
    payload: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    published_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


async def main() -> None:
    engine = create_async_engine(os.environ["DSN"].replace("postgresql://", "postgresql+asyncpg://"))
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    producer = Producer({"bootstrap.servers": os.environ["KAFKA"], "acks": "all"})
    while True:
        async with sessions() as session, session.begin():
            sent = await publish_some(session, producer)
        if not sent:
            await asyncio.sleep(_POLL_SECONDS)


async def publish_some(session: AsyncSession, producer: Producer) -> int:
    pending = (
        select(Outbox)
        .where(Outbox.published_at.is_(None))
        .order_by(Outbox.id)
        .limit(_BATCH)
        .with_for_update(skip_locked=True)
    )
    found = (await session.scalars(pending)).all()
    for row in found:
        producer.produce(os.environ["TOPIC"], key=row.aggregate_id, value=row.payload)
        if producer.flush(30):
            raise RuntimeError("not delivered")
        await session.execute(update(Outbox).where(Outbox.id == row.id).values(published_at=datetime.now(UTC)))
    return len(found)


if __name__ == "__main__":
    asyncio.run(main())
