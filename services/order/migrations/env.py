"""Alembic's entry: this service's own database, as the owner role."""

from order_service.domain.orders import metadata
from order_service.settings import OrderSettings
from service_platform.database.migrations import run_migrations
from service_platform.settings import load

settings = load(OrderSettings)
run_migrations(settings.owner_address(), app_role=settings.database_user, metadata=metadata)
