"""Alembic's entry: this service's own database, as the owner role."""

from billing_service.domain.invoices import metadata
from billing_service.settings import BillingSettings
from service_platform.database.migrations import run_migrations
from service_platform.settings import load

settings = load(BillingSettings)
run_migrations(settings.owner_address(), app_role=settings.database_user, metadata=metadata)
