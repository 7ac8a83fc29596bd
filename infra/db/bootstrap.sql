-- Databases and roles of the suite. Run by psql as superuser, by the native stack and by the database image alike;
-- may be run again at any time. Passwords come from the environment, so that no command line shows them.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
-- Neither may a log show them.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';

REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;

\set service order
\getenv owner_password ORDER_OWNER_PASSWORD
\getenv app_password ORDER_APP_PASSWORD
\ir service.sql

\set service payment
\getenv owner_password PAYMENT_OWNER_PASSWORD
\getenv app_password PAYMENT_APP_PASSWORD
\ir service.sql

\set service billing
\getenv owner_password BILLING_OWNER_PASSWORD
\getenv app_password BILLING_APP_PASSWORD
\ir service.sql
