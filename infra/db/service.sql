-- One service's database and its two roles. Included by bootstrap.sql, which sets
--   service, owner_password, app_password
-- and stays in the database it was started in.
\set database :service _db
\set owner :service _owner
\set app :service _app
SELECT current_database() AS home \gset

SELECT format('CREATE ROLE %I', role)
FROM unnest(ARRAY[:'owner', :'app']) AS role
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role)
\gexec

-- The owner migrates; the app runs. Neither can do anything outside its own database.
ALTER ROLE :"owner" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT
    PASSWORD :'owner_password';
ALTER ROLE :"app" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT
    PASSWORD :'app_password';

-- A stalled process must lose its locks in seconds: what it held is then free for the next one.
ALTER ROLE :"app" SET statement_timeout = '10s';
ALTER ROLE :"app" SET lock_timeout = '5s';
ALTER ROLE :"app" SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE :"app" SET transaction_timeout = '15s';

SELECT format(
    'CREATE DATABASE %I OWNER %I TEMPLATE template0 ENCODING ''UTF8'' LOCALE ''C'''
    ' LOCALE_PROVIDER builtin BUILTIN_LOCALE ''C.UTF-8''',
    :'database', :'owner'
)
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database')
\gexec

REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"app";

\connect -reuse-previous=on :database
SET client_min_messages = warning;
SET log_statement = 'none';
SET log_min_error_statement = 'panic';

-- The extensions that every service's database has, this list being the only one. None is needed yet; one a line:
--   CREATE EXTENSION IF NOT EXISTS vector;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO :"app";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

\connect -reuse-previous=on :home
SET client_min_messages = warning;
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
