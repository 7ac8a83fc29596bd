"""Alembic's entry: this service's own database, as the owner role."""

from payment_service.domain.payments import metadata
from payment_service.settings import PaymentSettings
from service_platform.database.migrations import run_migrations
from service_platform.settings import load

settings = load(PaymentSettings)
run_migrations(settings.owner_address(), app_role=settings.database_user, metadata=metadata)
