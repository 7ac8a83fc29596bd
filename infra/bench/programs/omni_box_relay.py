"""omni-box's publishing loop as its documentation shows it; the converter leaves the payload as it is."""

from __future__ import annotations

import asyncio
import logging
import os

import structlog
from aiokafka import AIOKafkaProducer
from omni_box import OutboxPublisher
from omni_box.core.converters.event import RawEventConverter
from omni_box.infra.brokers.kafka import KafkaEventPublisher
from omni_box.infra.storage.postgres import OutboxEventDBBase, PostgresOutboxRepository
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase

_BATCH = 1_000
_POLL_SECONDS = 1.0


class Base(DeclarativeBase):
    pass


class OutboxEvent(OutboxEventDBBase, Base):
    __tablename__ = "outbox_events"


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    engine = create_async_engine(os.environ["DSN"].replace("postgresql://", "postgresql+asyncpg://"))
    if "MAKE_TABLES" in os.environ:
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        await engine.dispose()
        return
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    producer = AIOKafkaProducer(bootstrap_servers=os.environ["KAFKA"], acks="all", enable_idempotence=True)
    await producer.start()
    broker = KafkaEventPublisher(producer=producer, converter=RawEventConverter())
    while True:
        async with sessions() as session, session.begin():
            repository = PostgresOutboxRepository(session, model_class=OutboxEvent)
            published = await OutboxPublisher(repository, broker).publish_batch(
                worker_id=f"relay-{os.getpid()}", batch_size=_BATCH
            )
        if not published.processed_event_ids:
            await asyncio.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    asyncio.run(main())
