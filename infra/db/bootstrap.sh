#!/bin/sh
# Makes the databases and roles, or brings them to what is declared. Compose runs it before every start of the services.
# Passwords come from files: <NAME>_FILE for each variable that bootstrap.sql reads, and PGPASSWORD_FILE.
set -eu
for name in PGPASSWORD ORDER_OWNER_PASSWORD ORDER_APP_PASSWORD PAYMENT_OWNER_PASSWORD PAYMENT_APP_PASSWORD \
    BILLING_OWNER_PASSWORD BILLING_APP_PASSWORD; do
    eval "file=\${${name}_FILE:-}"
    [ -n "$file" ] || { echo "set ${name}_FILE to the path of a file that holds the password" >&2; exit 78; }
    eval "export $name=\$(cat \"\$file\")"
done
if ! psql --no-psqlrc --quiet --command "SELECT 1" >/dev/null 2>/tmp/refused; then
    cat /tmp/refused >&2
    grep -q "password authentication failed" /tmp/refused && echo "The volume was made with another password than" \
        "the one in the secrets. Put the old secrets back, or \`make clean\` to delete the data and start anew." >&2
    exit 1
fi
exec psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --file /opt/fencepost/bootstrap.sql
